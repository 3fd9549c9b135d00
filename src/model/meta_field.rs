//! The `_hoodie_*` columns that writers put before a table's own.

/// The instant that last changed the row.
pub const COMMIT_TIME: &str = "_hoodie_commit_time";
/// `<instant>_<task>_<row>`.
pub const COMMIT_SEQNO: &str = "_hoodie_commit_seqno";
/// The record key.
pub const RECORD_KEY: &str = "_hoodie_record_key";
/// The partition's path as stored, encoded when the table encodes.
pub const PARTITION_PATH: &str = "_hoodie_partition_path";
/// The name of the base file; in log records, the file id.
pub const FILE_NAME: &str = "_hoodie_file_name";
/// `I`, `-U`, `U` or `D`; only in tables with change-log mode.
pub const OPERATION: &str = "_hoodie_operation";

/// The five columns of a table with meta fields, in their order.
pub const META_FIELDS: [&str; 5] = [
    COMMIT_TIME,
    COMMIT_SEQNO,
    RECORD_KEY,
    PARTITION_PATH,
    FILE_NAME,
];

/// Whether a root column is one that Hudi adds, the optional sixth included.
pub fn is_meta_field(name: &str) -> bool {
    META_FIELDS.contains(&name) || name == OPERATION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_the_user_is_no_meta_field() {
        assert!(is_meta_field("_hoodie_commit_seqno"));
        assert!(is_meta_field("_hoodie_operation"));
        assert!(!is_meta_field("_hoodie_is_deleted"));
        assert!(!is_meta_field("id"));
    }
}
