//! The schema in a footer is a flat list that says how many children each group has. The `parquet` crate builds the
//! tree by recursion and reserves what is declared, so depth and counts are checked on the bytes first.

use super::thrift::{Compact, Field, STRUCT};
use crate::error::Result;

/// Groups nest this deep at most. Hudi's own limit is Avro's, which real schemas never reach.
const MAX_DEPTH: usize = 64;

/// The field of `FileMetaData` that lists the schema's elements.
const SCHEMA: i16 = 2;

/// The field of `SchemaElement` that counts its children.
const NUM_CHILDREN: i16 = 5;

/// Checks the schema within the metadata of a footer.
pub(super) fn check_schema(metadata: &[u8]) -> Result<()> {
    let mut compact = Compact::new(metadata);
    let mut last = 0;
    while let Some(field) = compact.field(&mut last)? {
        if field.id == SCHEMA {
            return check_elements(&mut compact, field);
        }
        compact.skip(field)?;
    }
    Err(compact.broken("the footer has no schema"))
}

fn check_elements(compact: &mut Compact<'_>, list: Field) -> Result<()> {
    let (kind, count) = compact.list(list)?;
    if kind != STRUCT {
        return Err(compact.broken("the footer's schema is no list of elements"));
    }
    // How many elements each open group still waits for.
    let mut open: Vec<usize> = Vec::new();
    for at in 0..count {
        if let Some(waiting) = open.last_mut() {
            *waiting -= 1;
        } else if at > 0 {
            return Err(compact.broken("the footer's schema has more than one root"));
        }
        let children = children(compact)?;
        if children > count - at - 1 {
            return Err(compact.broken("a group of the schema declares too many children"));
        }
        if children > 0 {
            open.push(children);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > MAX_DEPTH {
            return Err(compact.broken("the schema nests too deep"));
        }
    }
    if count == 0 || !open.is_empty() {
        return Err(compact.broken("the footer's schema is not complete"));
    }
    Ok(())
}

fn children(compact: &mut Compact<'_>) -> Result<usize> {
    let mut children = 0;
    let mut last = 0;
    while let Some(field) = compact.field(&mut last)? {
        if field.id == NUM_CHILDREN {
            let declared = compact.i32(field)?;
            let declared = usize::try_from(declared);
            children =
                declared.map_err(|_| compact.broken("a group has fewer than no children"))?;
        } else {
            compact.skip(field)?;
        }
    }
    Ok(children)
}
