use super::datum::MAX_DEPTH;
use super::encode::put_long;
use super::wire::{Type, WireSchema};
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// A record of one schema in the bytes of another: fields and branches are found by name, and what only the other one has is null.
///
/// Errors: `Corrupt` with the `offset` for bytes that are no record; `Unsupported` with the `field` for what the other schema
/// cannot hold.
pub fn resolve_datum(from: &WireSchema, to: &WireSchema, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut cursor = Cursor::new(bytes);
    let mut out = Vec::with_capacity(bytes.len() + 8);
    let resolver = Resolver { from, to };
    resolver.value(&from.root, &to.root, &mut cursor, &mut out, 0)?;
    match cursor.is_empty() {
        true => Ok(out),
        false => Err(cursor.fault("an Avro record ends before its bytes do")),
    }
}

struct Resolver<'a> {
    from: &'a WireSchema,
    to: &'a WireSchema,
}

impl Resolver<'_> {
    fn value(
        &self,
        from: &Type,
        to: &Type,
        cursor: &mut Cursor<'_>,
        out: &mut Vec<u8>,
        depth: usize,
    ) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(cursor.fault("a record nests too deep"));
        }
        match (from, to) {
            (Type::Union(branches), _) => {
                let branch = usize::try_from(cursor.zigzag()?).ok();
                let branch = branch.and_then(|at| branches.get(at));
                let branch = branch.ok_or_else(|| cursor.fault("a union has no such branch"))?;
                self.value(branch, to, cursor, out, depth + 1)
            }
            (_, Type::Union(branches)) => {
                let same = |to: &&Type| self.is_same(from, to);
                let at = branches.iter().position(|to| same(&to)).ok_or_else(other)?;
                let to = branches.get(at).ok_or_else(other)?;
                put_long(at as i64, out);
                self.value(from, to, cursor, out, depth + 1)
            }
            (Type::Record(from), Type::Record(to)) => self.record(*from, *to, cursor, out, depth),
            (Type::Array(from), Type::Array(to)) => self.blocks(cursor, out, |cursor, out| {
                self.value(from, to, cursor, out, depth + 1)
            }),
            (Type::Map(from), Type::Map(to)) => self.blocks(cursor, out, |cursor, out| {
                put_prefixed(cursor, out)?;
                self.value(from, to, cursor, out, depth + 1)
            }),
            _ if !self.is_same(from, to) => Err(other()),
            (Type::Null, _) => Ok(()),
            (Type::Boolean, _) => put_plain(cursor, 1, out),
            (Type::Float, _) => put_plain(cursor, 4, out),
            (Type::Double, _) => put_plain(cursor, 8, out),
            (Type::Fixed(size), _) => put_plain(cursor, *size, out),
            (Type::Bytes | Type::String, _) => put_prefixed(cursor, out),
            _ => {
                put_long(cursor.zigzag()?, out);
                Ok(())
            }
        }
    }

    fn record(
        &self,
        from: usize,
        to: usize,
        cursor: &mut Cursor<'_>,
        out: &mut Vec<u8>,
        depth: usize,
    ) -> Result<()> {
        let none = || Error::internal("an Avro record has no fields");
        let fields = self.from.records.get(from).ok_or_else(none)?;
        let wanted = self.to.records.get(to).ok_or_else(none)?;
        let mut wanted = wanted.iter();
        for field in fields {
            // Fields keep their order from one schema of Hudi to the next, and new ones come in between or last.
            loop {
                let to = wanted.next();
                let to = to.ok_or_else(|| other().context("field", &field.name))?;
                if to.name == field.name {
                    let value = self.value(&field.kind, &to.kind, cursor, out, depth + 1);
                    value.map_err(|e| e.context("field", &field.name))?;
                    break;
                }
                put_absent(&to.kind, out).map_err(|e| e.context("field", &to.name))?;
            }
        }
        wanted.try_for_each(|to| put_absent(&to.kind, out))
    }

    /// Items of an array or a map, whatever their blocks were, as blocks without their sizes.
    fn blocks(
        &self,
        cursor: &mut Cursor<'_>,
        out: &mut Vec<u8>,
        mut item: impl FnMut(&mut Cursor<'_>, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        loop {
            let count = cursor.zigzag()?;
            if count < 0 {
                cursor.zigzag()?;
            }
            let count = count.unsigned_abs();
            put_long(count.cast_signed(), out);
            if count == 0 {
                return Ok(());
            }
            for _ in 0..count {
                if cursor.is_empty() {
                    return Err(cursor.fault("an Avro record ends within a block"));
                }
                item(cursor, out)?;
            }
        }
    }

    fn is_same(&self, from: &Type, to: &Type) -> bool {
        match (from, to) {
            (Type::Record(from), Type::Record(to)) => {
                self.from.names.get(*from) == self.to.names.get(*to)
            }
            (Type::Fixed(from), Type::Fixed(to)) => from == to,
            (Type::Enum(from), Type::Enum(to)) => from == to,
            _ => std::mem::discriminant(from) == std::mem::discriminant(to),
        }
    }
}

fn other() -> Error {
    Error::unsupported("a record of the metadata table has what this release does not know")
}

fn put_absent(kind: &Type, out: &mut Vec<u8>) -> Result<()> {
    match kind {
        Type::Union(branches) if matches!(branches.first(), Some(Type::Null)) => {
            out.push(0);
            Ok(())
        }
        _ => Err(other()),
    }
}

fn put_plain(cursor: &mut Cursor<'_>, count: usize, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(cursor.take(count)?);
    Ok(())
}

fn put_prefixed(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<()> {
    let length = cursor.length()?;
    put_long(i64::try_from(length).unwrap_or(i64::MAX), out);
    put_plain(cursor, length, out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::codec::avro::{read_datum, write_datum};

    fn schema(fields: &str) -> WireSchema {
        let text = format!(r#"{{"type":"record","name":"r","fields":[{fields}]}}"#);
        WireSchema::parse(text.as_bytes()).unwrap()
    }

    const WRAPPED: &str = r#"{"type":"record","name":"W","fields":[{"name":"v","type":"long"}]}"#;
    const OLD: &str = r#"{"name":"a","type":["null","string"]},{"name":"m","type":{"type":"map","values":"double"}}"#;

    #[test]
    fn a_record_of_an_older_schema_gets_nulls_and_the_branches_of_the_newer() {
        let old = schema(&format!(
            r#"{OLD},{{"name":"w","type":["null",{WRAPPED}]}}"#
        ));
        let new = schema(&format!(
            r#"{OLD},{{"name":"new","type":["null","int"]}},{{"name":"w","type":["null","int",{WRAPPED}]}},{{"name":"z","type":["null","int"]}}"#
        ));
        let mut bytes = Vec::new();
        write_datum(
            &old,
            &json!({"a": "x", "m": {"k": 1.5}, "w": {"v": -300}}),
            &mut bytes,
        )
        .unwrap();
        let found = resolve_datum(&old, &new, &bytes).unwrap();
        let expected = json!({"a": "x", "m": {"k": 1.5}, "new": null, "w": {"v": -300}, "z": null});
        assert_eq!(read_datum(&new, &found).unwrap(), expected);
        // The third branch, zigzag.
        assert_eq!(found[found.len() - 4], 4);
        for cut in 0..bytes.len() {
            resolve_datum(&old, &new, &bytes[..cut]).unwrap_err();
        }
    }

    #[test]
    fn what_the_other_schema_cannot_hold_is_refused_and_one_schema_changes_nothing() {
        let more = schema(&format!(r#"{OLD},{{"name":"b","type":"int"}}"#));
        let mut bytes = Vec::new();
        write_datum(&more, &json!({"a": null, "m": {}, "b": 1}), &mut bytes).unwrap();
        assert_eq!(resolve_datum(&more, &more, &bytes).unwrap(), bytes);
        let error = resolve_datum(&more, &schema(OLD), &bytes).unwrap_err();
        assert_eq!(
            (error.kind().code(), error.get("field")),
            ("UNSUPPORTED", Some("b"))
        );
        let error = resolve_datum(&schema(OLD), &more, &bytes[..2]).unwrap_err();
        assert_eq!(error.kind().code(), "UNSUPPORTED");
    }
}
