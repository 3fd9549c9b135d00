#![cfg(not(target_arch = "wasm32"))]

use std::sync::Arc;

use super::*;
use crate::storage::StorageOptions;
use crate::support::{block_on, get, store_of};

// The layout is the one that Spark 1.1.1 leaves behind when it is stopped while it writes.
#[test]
fn a_marker_is_a_line_with_the_partition_and_the_file() {
    block_on(async {
        let store = store_of([]);
        let storage = Storage::new(Arc::clone(&store) as _, StorageOptions::default());
        let markers = Markers::open(&storage, &InstantTime::parse("20261129202005678").unwrap());
        let (x, root) = (PartitionPath::new("x"), PartitionPath::default());
        markers
            .create(&x, "a.parquet", MarkerKind::Create)
            .await
            .unwrap();
        markers
            .create(&root, "b.parquet", MarkerKind::Merge)
            .await
            .unwrap();
        let read = |name: &str| {
            String::from_utf8(get(
                &store,
                &format!(".hoodie/.temp/20261129202005678/{name}"),
            ))
            .unwrap()
        };
        assert_eq!(read("MARKERS.type"), "TIMELINE_SERVER_BASED");
        assert_eq!(
            read("MARKERS0"),
            "x/a.parquet.marker.CREATE\nb.parquet.marker.MERGE\n"
        );
        for at in 0..300 {
            let name = format!("{at}.parquet");
            markers.create(&x, &name, MarkerKind::Create).await.unwrap();
        }
        assert_eq!(read("MARKERS0").lines().count(), 256);
        assert_eq!(read("MARKERS1").lines().count(), 46);
        markers.remove().await;
        let left = storage.list_all(".hoodie/.temp", None, Cause::Write).await;
        assert!(left.unwrap().is_empty());
    });
}
