//! The schema in a footer is a flat list that says how many children each group has. The `parquet` crate builds the
//! tree by recursion, reserves what is declared and takes a map's child for a group, so these are checked on the bytes first.

use super::thrift::{Compact, Field, STRUCT};
use crate::error::Result;

/// Groups nest this deep at most. Hudi's own limit is Avro's, which real schemas never reach.
const MAX_DEPTH: usize = 64;

/// The field of `FileMetaData` that lists the schema's elements.
const SCHEMA: i16 = 2;

/// Fields of `SchemaElement`, and values of them.
const NUM_CHILDREN: i16 = 5;
const CONVERTED_TYPE: i16 = 6;
const CONVERTED_MAP: i32 = 1;
const CONVERTED_MAP_KEY_VALUE: i32 = 2;
const LOGICAL_TYPE: i16 = 10;
const LOGICAL_MAP: i16 = 2;

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
    // Whether the element before is a map, whose child comes next.
    let mut in_map = false;
    for at in 0..count {
        if let Some(waiting) = open.last_mut() {
            *waiting -= 1;
        } else if at > 0 {
            return Err(compact.broken("the footer's schema has more than one root"));
        }
        let Element { children, is_map } = element(compact)?;
        if in_map && children == 0 {
            return Err(compact.broken("a map of the schema has no keys and values"));
        }
        // The child is often marked as a map too, and is none: keys and values stand in it.
        in_map = is_map && children > 0 && !in_map;
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

/// What is checked of an element.
struct Element {
    children: usize,
    is_map: bool,
}

fn element(compact: &mut Compact<'_>) -> Result<Element> {
    let mut element = Element {
        children: 0,
        is_map: false,
    };
    let mut last = 0;
    while let Some(field) = compact.field(&mut last)? {
        match field.id {
            NUM_CHILDREN => {
                let declared = usize::try_from(compact.i32(field)?);
                element.children =
                    declared.map_err(|_| compact.broken("a group has fewer than no children"))?;
            }
            CONVERTED_TYPE => {
                let converted = compact.i32(field)?;
                element.is_map |=
                    converted == CONVERTED_MAP || converted == CONVERTED_MAP_KEY_VALUE;
            }
            LOGICAL_TYPE => element.is_map |= is_logical_map(compact, field)?,
            _ => compact.skip(field)?,
        }
    }
    Ok(element)
}

/// A logical type is a union: a struct of one field, whose id says which.
fn is_logical_map(compact: &mut Compact<'_>, outer: Field) -> Result<bool> {
    compact.expect_struct(outer)?;
    let mut is_map = false;
    let mut last = 0;
    while let Some(field) = compact.field(&mut last)? {
        is_map |= field.id == LOGICAL_MAP;
        compact.skip(field)?;
    }
    Ok(is_map)
}
