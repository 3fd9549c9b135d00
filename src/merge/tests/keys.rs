//! What rows are matched by.

use super::super::keys::Keys;
use super::*;
use crate::error::ErrorKind;
use arrow::array::BooleanArray;

#[test]
fn keys_keep_their_numbers_however_many_come() {
    let mut keys = Keys::new();
    let key = |n: u32| format!("key-{:07}", n * 7919);
    for n in 0..20_000 {
        assert_eq!(keys.add(key(n).as_bytes()).unwrap(), (n, true));
    }
    for n in 0..20_000 {
        assert_eq!(keys.add(key(n).as_bytes()).unwrap(), (n, false));
        assert_eq!(keys.find(key(n).as_bytes()), Some(n));
    }
    for absent in ["", "key-", "key-0000001", "key-00000000"] {
        assert_eq!(keys.find(absent.as_bytes()), None, "{absent}");
    }
    assert_eq!(keys.add(b"").unwrap(), (20_000, true));
    assert_eq!(keys.find(b""), Some(20_000));
}

fn by_position(base: &[Vec<Row>], blocks: &[(Block, Vec<u64>)]) -> Result<Vec<Shown>> {
    let rules = Arc::new(by_event_time());
    let columns = MergeColumns::new(&rules, &schema(), &schema(), true)?;
    let mut changes = Changes::new(&rules, columns);
    for (block, positions) in blocks {
        match block {
            Block::Deletes(deletes) => changes.push_deletes(deletes, Some(positions))?,
            Block::Rows(batch) | Block::Partial(batch) => {
                changes.push(batch, false, Some(positions))?
            }
        }
    }
    let mut merger = changes.finish()?;
    let schema = Arc::new(schema());
    let mut out = Vec::new();
    for rows in base {
        out.extend(show(
            &merger.merge(&batch(rows))?.batch(&[0, 1, 2], &schema)?,
        ));
    }
    assert!(merger.rest(9).is_none());
    Ok(out)
}

#[test]
fn positions_count_through_all_batches() {
    let base = [
        vec![row("a", 1, "a"), row("b", 1, "b")],
        vec![row("c", 1, "c"), row("d", 1, "d")],
    ];
    let logs = [
        (rows(&[row("b", 2, "b2"), row("d", 2, "d2")]), vec![1, 3]),
        (deletes(&[("c", None), ("d", Some(1))]), vec![2, 3]),
    ];
    let expected = [row("a", 1, "a"), row("b", 2, "b2"), row("d", 2, "d2")];
    assert_eq!(by_position(&base, &logs).unwrap(), shown(&expected));
}

#[test]
fn another_number_of_positions_than_rows_is_corrupt() {
    let logs = [(rows(&[row("b", 2, "b2")]), vec![1, 3])];
    assert_eq!(
        by_position(&[], &logs).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}

/// Without meta fields the key is made of the key fields, as writers put it into delete blocks.
#[test]
fn keys_of_fields_are_written_as_hudi_writes_them() {
    let table = Schema::new(vec![
        Field::new("text", DataType::Utf8, true),
        Field::new("n", DataType::Int64, true),
        Field::new("flag", DataType::Boolean, true),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(vec![Some("a"), Some(""), None])),
        Arc::new(Int64Array::from(vec![-1, 2, 3])),
        Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
    ];
    let base = RecordBatch::try_new(Arc::new(table.clone()), columns).unwrap();
    let left = |fields: &[&str], key: &str| {
        let rules = MergeRules {
            key_fields: Some(fields.iter().map(|name| (*name).to_owned()).collect()),
            ..by_commit_time()
        };
        let delete = Block::Deletes(vec![delete(key, None)]);
        merged(rules, &table, std::slice::from_ref(&base), &[delete])
            .unwrap()
            .num_rows()
    };
    let all = ["text", "n", "flag"];
    assert_eq!(left(&all, "text:a,n:-1,flag:true"), 2);
    assert_eq!(left(&all, "text:__empty__,n:2,flag:__null__"), 2);
    assert_eq!(left(&all, "text:__null__,n:3,flag:false"), 2);
    assert_eq!(left(&["n"], "3"), 2);
    assert_eq!(left(&["n"], "4"), 3);
}
