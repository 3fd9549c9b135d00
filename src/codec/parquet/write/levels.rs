//! Arrow arrays to the levels and values of their leaves.
//!
//! A column without nesting needs no levels beside its validity bits. For the others every slot of a level is kept: a row, or
//! an element of a list in it, with the repetition level it starts at and the definition level it has reached.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::NullBuffer;

use super::file_schema::{Kind, Node, Shape};
use crate::error::{Error, Result};

/// The levels of a leaf's slots, and which of its array's values are there.
#[derive(Debug)]
pub(super) enum Levels {
    /// One value a row, nullable where there are validity bits; `None` when all rows have one.
    Flat(Option<NullBuffer>),
    /// Definition and repetition level of each slot.
    Nested { def: Vec<u8>, rep: Vec<u8> },
}

/// One leaf's share of some rows.
#[derive(Debug)]
pub(super) struct LeafRows {
    pub(super) levels: Levels,
    pub(super) values: ArrayRef,
    /// The values that are there, as ranges of `values`.
    pub(super) picked: Vec<Range<usize>>,
    pub(super) rows: usize,
}

/// The rows of a column as its leaves see them, in the order of the file's leaves.
pub(super) fn leaves(node: &Node, array: &ArrayRef) -> Result<Vec<LeafRows>> {
    let mut found = Vec::new();
    if matches!(node.kind, Kind::Leaf(..)) {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        if nulls.is_some() && !node.optional {
            return Err(null_in_required(node));
        }
        let picked = match nulls {
            Some(nulls) => nulls
                .valid_slices()
                .map(|(start, end)| start..end)
                .collect(),
            None => vec![0..array.len()],
        };
        let levels = Levels::Flat(nulls.cloned());
        found.push(LeafRows {
            levels,
            values: array.clone(),
            picked,
            rows: array.len(),
        });
        return Ok(found);
    }
    let slots = (0..array.len()).map(|row| Slot {
        rep: 0,
        def: 0,
        at: Some(row),
    });
    let walk = Walk {
        rows: array.len(),
        rep: 0,
    };
    walk.node(node, array, slots.collect(), &mut found)?;
    Ok(found)
}

/// A place of a leaf's column: `at` is its value in the array of the level reached, none when an ancestor is null or empty.
#[derive(Debug, Clone, Copy)]
struct Slot {
    rep: u8,
    def: u8,
    at: Option<usize>,
}

#[derive(Clone, Copy)]
struct Walk {
    rows: usize,
    rep: u8,
}

impl Walk {
    fn node(
        self,
        node: &Node,
        array: &ArrayRef,
        mut slots: Vec<Slot>,
        found: &mut Vec<LeafRows>,
    ) -> Result<()> {
        present(node, array, &mut slots)?;
        match &node.kind {
            Kind::Leaf(..) => {
                found.push(self.leaf(array, &slots));
                Ok(())
            }
            Kind::Group(Shape::Record, children) => {
                let record = array.as_struct_opt().ok_or_else(|| misfit(node))?;
                for (child, column) in children.iter().zip(record.columns()) {
                    self.node(child, column, slots.clone(), found)?;
                }
                Ok(())
            }
            Kind::Group(Shape::List, children) => {
                let list = array.as_list_opt::<i32>().ok_or_else(|| misfit(node))?;
                let (below, slots) = self.elements(list.value_offsets(), &slots);
                children
                    .iter()
                    .try_for_each(|child| below.node(child, list.values(), slots.clone(), found))
            }
            Kind::Group(Shape::Map, children) => {
                let map = array.as_map_opt().ok_or_else(|| misfit(node))?;
                let (below, slots) = self.elements(map.value_offsets(), &slots);
                for (child, column) in children.iter().zip(map.entries().columns()) {
                    below.node(child, column, slots.clone(), found)?;
                }
                Ok(())
            }
        }
    }

    /// One slot for each element, and one for each list that is null or empty.
    fn elements(self, offsets: &[i32], slots: &[Slot]) -> (Self, Vec<Slot>) {
        let below = Self {
            rep: self.rep + 1,
            ..self
        };
        let mut elements = Vec::with_capacity(slots.len());
        for slot in slots {
            let range = slot
                .at
                .and_then(|at| Some((offsets.get(at)?, offsets.get(at + 1)?)));
            let range = range.map(|(start, end)| *start as usize..*end as usize);
            match range {
                Some(range) if !range.is_empty() => {
                    let start = range.start;
                    elements.extend(range.map(|at| Slot {
                        rep: if at == start { slot.rep } else { below.rep },
                        def: slot.def + 1,
                        at: Some(at),
                    }));
                }
                _ => elements.push(Slot { at: None, ..*slot }),
            }
        }
        (below, elements)
    }

    fn leaf(self, array: &ArrayRef, slots: &[Slot]) -> LeafRows {
        let mut picked: Vec<Range<usize>> = Vec::new();
        for at in slots.iter().filter_map(|slot| slot.at) {
            match picked.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => picked.push(at..at + 1),
            }
        }
        let levels = Levels::Nested {
            def: slots.iter().map(|slot| slot.def).collect(),
            rep: slots.iter().map(|slot| slot.rep).collect(),
        };
        LeafRows {
            levels,
            values: array.clone(),
            picked,
            rows: self.rows,
        }
    }
}

/// Ends the slots whose value is null, and raises the level of the others.
fn present(node: &Node, array: &ArrayRef, slots: &mut [Slot]) -> Result<()> {
    for slot in slots.iter_mut() {
        let Some(at) = slot.at else { continue };
        let null = array.nulls().is_some_and(|nulls| nulls.is_null(at));
        match (null, node.optional) {
            (true, false) => return Err(null_in_required(node)),
            (true, true) => slot.at = None,
            (false, true) => slot.def += 1,
            (false, false) => {}
        }
    }
    Ok(())
}

fn null_in_required(node: &Node) -> Error {
    Error::schema("a column that the table declares without nulls holds one")
        .context("field", &node.name)
}

fn misfit(node: &Node) -> Error {
    Error::internal("an array does not have the type of its column").context("field", &node.name)
}
