//! Times snapshots of a table on the local disk: `cargo run --release --example time_read FOLDER [COLUMN…]`.

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    use std::sync::Arc;

    use futures::StreamExt;
    use hudi_wasm::config::ReadOptions;
    use hudi_wasm::storage::{Storage, StorageOptions};
    use hudi_wasm::table::{OpenOptions, Table};
    use object_store::local::LocalFileSystem;

    let mut words = std::env::args().skip(1);
    let Some(folder) = words.next() else {
        println!("usage: time_read FOLDER [COLUMN…]");
        return;
    };
    let columns: Vec<String> = words.map(|name| format!("{name:?}")).collect();
    let options = match columns.is_empty() {
        true => "{}".to_owned(),
        false => format!("{{\"projection\": [{}]}}", columns.join(",")),
    };
    let options = ReadOptions::from_json(&options).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    for _ in 0..5 {
        let began = hudi_wasm::host::now_millis();
        let (rows, bytes) = runtime.block_on(async {
            let store = LocalFileSystem::new_with_prefix(&folder).unwrap();
            let storage = Storage::new(Arc::new(store), StorageOptions::default());
            let table = Table::open(storage, OpenOptions::default()).await.unwrap();
            let mut stream = table.read(&options).await.unwrap();
            let (mut rows, mut bytes) = (0, 0);
            while let Some(batch) = stream.next().await {
                let batch = batch.unwrap();
                rows += batch.num_rows();
                bytes += batch.get_array_memory_size();
            }
            (rows, bytes)
        });
        let millis = hudi_wasm::host::now_millis() - began;
        println!("{rows} rows, {} MiB, {millis} ms", bytes >> 20);
    }
}

#[cfg(target_arch = "wasm32")]
fn main() {}
