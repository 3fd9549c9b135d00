//! Columns to partition paths, and partition paths back to values.
//!
//! It knows the key generators' ways of writing a path and what a path tells of its rows. It must not know files or
//! the timeline.
//!
//! | file | holds |
//! |---|---|
//! | `partition_columns.rs` | [`PartitionColumns`]: each partition field's type and where its values come from |
//! | `partition_path.rs` | a path split into one text per field |
//! | `path_value.rs` | a field's text as a value of the column's type |
//! | `path_bounds.rs` | [`PathBounds`]: what a path says of its rows, asked by a predicate |
//! | `timestamp.rs` | [`TimestampFormat`]: the moments that a timestamp generator writes as one path, and the path of a moment |
//! | `timestamp_text.rs` | [`TimestampText`]: the path of a date written as text |
//!
//! # Where a partition column's value comes from
//!
//! | field | value | as Spark 3.5 with Hudi 1.1.1 shows on |
//! |---|---|---|
//! | dropped from the files | the path's text in the table's type; string when no schema knows the column | `v9_cow_drop_partition_cols` |
//! | plain, the path says `__HIVE_DEFAULT_PARTITION__` | null, though the file may hold an empty string | `v9_cow_partition_types`, row 8 |
//! | plain, else | the file's | `v9_cow_partition_types`, `_partition_plain`, `_nonhive_multi`, `_date_partition` |
//! | of a `TIMESTAMP` generator, integers | the file's number, shown as text: the column is declared a string | `v9_cow_timestamp_keygen`, `v9_cow_local_zone_partitions` |
//! | of a `TIMESTAMP` generator, else, or a timestamp field of a `CUSTOM` one | the file's | `v9_cow_timestamp_keygen_string`, `v9_cow_custom_keygen` |
//!
//! Spark fills plain fields from the path and the others from the file. The two differ for plain fields only where a
//! path holds less than the value: the null name above, and the slashed dates of Hudi 1.2's
//! `slash.separated.date.partitioning`, of which Spark shows the path's `2024/01/03` and this engine the file's
//! `2024-01-03`. Filters on an integer column that is shown as text compare its numbers.
//!
//! Old releases wrote nulls to a folder `default`. A column that holds no text reads it as null; a text column has
//! the file's value, or `default` when it is dropped, as in Spark.

mod bucket;
mod partition_columns;
mod partition_path;
mod path_bounds;
mod path_value;
mod timestamp;
mod timestamp_text;

pub use bucket::{bucket_of, bucket_of_file};
pub use partition_columns::{PartitionColumn, PartitionColumns, PartitionValue, ValueSource};
pub use path_bounds::PathBounds;
pub use timestamp::TimestampFormat;
pub use timestamp_text::TimestampText;
