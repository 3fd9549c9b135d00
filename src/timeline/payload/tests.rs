use super::*;
use crate::codec::bytes::Cursor;

/// Reads every instant file of the fixtures whose name ends so after its times, writes it again by `write`, and holds
/// the two against each other: the same text of the schema and the same record, hence the same bytes but for the sync
/// marker and the order of map entries. A file of a release whose schema has fewer fields is held by the fields it has.
///
/// Returns how many files there were of the same schema.
pub(super) fn rewritten<T: DeserializeOwned>(
    end: &str,
    write: impl Fn(T) -> Result<::bytes::Bytes>,
) -> usize {
    let mut count = 0;
    for table in crate::support::tables() {
        for (path, file) in crate::support::files(&table) {
            if !is_instant(&path, end) || !is_container(&file) {
                continue;
            }
            let name = format!("{table} {path}");
            let record = Container::read_one(&file).unwrap();
            let written = write(typed(record.clone()).unwrap()).unwrap();
            let again = Container::read_one(&written).unwrap();
            if schema_text(&written) == schema_text(&file) {
                same(&again, &record, &name);
                same(&record, &again, &name);
                assert_eq!(written.len(), file.len(), "{name}");
                count += 1;
            } else {
                same(&again, &record, &name);
            }
        }
    }
    count
}

/// `T.end` or `T_C.end` with nothing but digits before.
pub(super) fn is_instant(path: &str, end: &str) -> bool {
    let name = path.rsplit('/').next().unwrap();
    let times = name.strip_suffix(end).unwrap_or("x");
    !times.is_empty() && times.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// The text of the schema in a container's header, which holds nothing else.
fn schema_text(file: &[u8]) -> String {
    let mut cursor = Cursor::new(&file[5..]);
    let length = cursor.length().unwrap();
    cursor.take(length).unwrap();
    let length = cursor.length().unwrap();
    String::from_utf8(cursor.take(length).unwrap().to_vec()).unwrap()
}

/// Every value of `read` stands in `written`.
fn same(written: &Value, read: &Value, at: &str) {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => {
            for (key, value) in read {
                same(&written[key], value, &format!("{at}.{key}"));
            }
        }
        (Value::Array(written), Value::Array(read)) => {
            assert_eq!(written.len(), read.len(), "{at}");
            for (written, read) in written.iter().zip(read) {
                same(written, read, at);
            }
        }
        _ => assert_eq!(written, read, "{at}"),
    }
}
