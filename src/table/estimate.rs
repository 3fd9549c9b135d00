//! How large a table is, from sizes and one footer.

use serde::Serialize;

use super::open::Table;
use super::read::Purpose;
use crate::config::{QueryType, ReadOptions};
use crate::error::{ErrorKind, Result};
use crate::model::BaseFormat;
use crate::slice::open_footer;

/// What a snapshot has, as an estimate for planning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TableStats {
    /// Rows of the base files.
    pub num_rows: u64,
    /// Bytes of their values, decompressed.
    pub total_byte_size: u64,
}

impl Table {
    /// Rows and bytes of a snapshot, from the sizes of its base files, as if all were filled as the largest of them is, whose
    /// footer is read.
    ///
    /// `None` without a metadata table, for other base files than Parquet, a footer that cannot be read, and other queries than
    /// snapshots. Rows of logs do not count: most of them replace rows of base files.
    pub async fn compute_table_stats(&self, options: &ReadOptions) -> Result<Option<TableStats>> {
        let parquet = self.meta.config.base_format() == BaseFormat::Parquet;
        if options.query_type()? != QueryType::Snapshot || !parquet {
            return Ok(None);
        }
        if self.metadata(options).await?.is_none() {
            return Ok(None);
        }
        let snapshot = self.prepare(options, None, Purpose::Slices).await?;
        let bases = snapshot
            .slices
            .kept
            .iter()
            .filter_map(|slice| slice.base.as_ref());
        let Some(largest) = bases.clone().max_by_key(|base| base.size) else {
            return Ok(Some(TableStats {
                num_rows: 0,
                total_byte_size: 0,
            }));
        };
        let footer = match open_footer(&self.meta.storage, &largest.path, largest.size).await {
            Ok(footer) => footer,
            Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let groups = footer.metadata().row_groups().iter();
        let bytes: i64 = groups.map(|group| group.total_byte_size().max(0)).sum();
        let size: u64 = bases.map(|base| base.size).sum();
        let scaled = |of_largest: u64| {
            let whole = u128::from(of_largest) * u128::from(size) / u128::from(largest.size.max(1));
            u64::try_from(whole).unwrap_or(u64::MAX)
        };
        Ok(Some(TableStats {
            num_rows: scaled(footer.rows()),
            total_byte_size: scaled(bytes.unsigned_abs()),
        }))
    }
}
