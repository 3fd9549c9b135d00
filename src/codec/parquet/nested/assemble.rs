use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanBufferBuilder, ListArray, MapArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Fields};
use arrow::error::ArrowError;

use super::leaf::{Leaf, Levels};
use super::node::Node;
use crate::error::{Error, Result};

/// The array of a field from the arrays of the leaves.
pub(super) fn array(node: &Node, leaves: &[Leaf], arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let leaf = arrays.get(node.leaves.start);
    let leaf = leaf.ok_or_else(|| Error::internal("a leaf was lost"))?;
    let children = node.children.iter();
    let children = children.map(|child| array(child, leaves, arrays));
    let mut children = children.collect::<Result<Vec<ArrayRef>>>()?;
    let places = |levels: &Levels| Places::of(node, levels);
    match &node.data_type {
        DataType::Struct(fields) => {
            // One that is required is missing where a struct around it is, and hides what is required in it then.
            let nulls = match node.there > node.place.from {
                true => alike(node, leaves, |levels| Ok(nulls(node, levels)))?,
                false => None,
            };
            whole(structs(fields, children, nulls))
        }
        DataType::List(field) => {
            let Places { offsets, nulls } = alike(node, leaves, places)?;
            let values = children.pop().ok_or_else(disagree)?;
            let field = Arc::clone(field);
            whole(ListArray::try_new(
                field,
                offset_buffer(offsets),
                values,
                nulls,
            ))
        }
        DataType::Map(field, sorted) => {
            let Places { offsets, nulls } = alike(node, leaves, places)?;
            let DataType::Struct(fields) = field.data_type() else {
                return Err(disagree());
            };
            let entries = structs(fields, children, None).map_err(damaged)?;
            let field = Arc::clone(field);
            let offsets = offset_buffer(offsets);
            whole(MapArray::try_new(field, offsets, entries, nulls, *sorted))
        }
        _ => Ok(Arc::clone(leaf)),
    }
}

fn structs(
    fields: &Fields,
    children: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
) -> Result<StructArray, ArrowError> {
    StructArray::try_new(fields.clone(), children, nulls)
}

fn whole<T: arrow::array::Array + 'static>(array: Result<T, ArrowError>) -> Result<ArrayRef> {
    array.map(|array| Arc::new(array) as _).map_err(damaged)
}

/// The lists of a field.
#[derive(PartialEq)]
struct Places {
    /// Where the elements of each begin, and the end of the last.
    offsets: Vec<i32>,
    nulls: Option<NullBuffer>,
}

impl Places {
    /// Errors: `Corrupt` for a list that goes on and is empty, or null.
    fn of(node: &Node, levels: &Levels) -> Result<Self> {
        let mut offsets = Vec::new();
        let mut valid = BooleanBufferBuilder::new(0);
        let mut elements = 0_i32;
        let inner = node.place.up_to + 1;
        let mut before = 0;
        let pairs = levels.repetition.iter().zip(&levels.definition);
        for (repetition, definition) in pairs {
            if *repetition == inner && before.min(*definition) <= node.there {
                return Err(disagree());
            }
            before = *definition;
            if *repetition <= node.place.up_to && *definition >= node.place.from {
                offsets.push(elements);
                valid.append(*definition >= node.there);
            }
            if *definition > node.there && *repetition <= inner {
                // There are no more levels than a batch may have.
                elements = elements.saturating_add(1);
            }
        }
        offsets.push(elements);
        let nulls = NullBuffer::new(valid.finish());
        Ok(Self {
            offsets,
            nulls: Some(nulls).filter(|nulls| nulls.null_count() > 0),
        })
    }
}

/// Which of the places of a struct are there.
fn nulls(node: &Node, levels: &Levels) -> Option<NullBuffer> {
    let mut valid = BooleanBufferBuilder::new(0);
    let mut repetition = levels.repetition.iter();
    for definition in &levels.definition {
        let again = repetition.next().copied().unwrap_or(0);
        if again <= node.place.up_to && *definition >= node.place.from {
            valid.append(*definition >= node.there);
        }
    }
    Some(NullBuffer::new(valid.finish())).filter(|nulls| nulls.null_count() > 0)
}

/// What the levels of every leaf below a field say of it.
fn alike<T: PartialEq>(
    node: &Node,
    leaves: &[Leaf],
    of: impl Fn(&Levels) -> Result<T>,
) -> Result<T> {
    let leaves = leaves.get(node.leaves.clone()).unwrap_or_default();
    let mut said = leaves.iter().map(|leaf| of(&leaf.levels));
    let first = said.next().ok_or_else(disagree)??;
    said.try_for_each(|other| match other? == first {
        true => Ok(()),
        false => Err(disagree()),
    })?;
    Ok(first)
}

fn offset_buffer(offsets: Vec<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

fn disagree() -> Error {
    Error::corrupt("the parts of a nested column disagree on its lists or nulls")
}

fn damaged(error: ArrowError) -> Error {
    Error::corrupt("the parts of a nested column do not fit together").with_source(error)
}
