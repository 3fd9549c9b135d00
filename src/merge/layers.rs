//! Columns of one version that come from several rows: partial updates.
//!
//! Filling is done as Hudi does it, log row by log row and the base row last; since it is not associative, each key keeps the
//! chain of its rows, the strongest first. A column's value is that of the first row in the chain that gives one, else that
//! of the last.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{DataType, Field, Schema};

use super::changes::{Entry, Present};
use super::rules::Fill;
use crate::error::{Error, Result};
use crate::expr::Scalar;
use crate::schema::{DEFAULT_KEY, conform};

/// The chains of all keys.
#[derive(Debug, Default)]
pub(super) struct Layers {
    nodes: Vec<Node>,
    chains: Vec<Chain>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    version: u32,
    next: u32,
}

#[derive(Debug, Clone, Copy)]
struct Chain {
    first: u32,
    last: u32,
}

impl Layers {
    /// No chain, or no next node.
    pub(super) const NONE: u32 = u32::MAX;

    /// The chain of one version put over that of another.
    pub(super) fn over(&mut self, top: &Entry, bottom: &Entry) -> u32 {
        let (top, bottom) = (self.chain(top), self.chain(bottom));
        if let Some(last) = self.nodes.get_mut(top.last as usize) {
            last.next = bottom.first;
        }
        self.chains.push(Chain {
            first: top.first,
            last: bottom.last,
        });
        self.chains.len() as u32 - 1
    }

    fn chain(&mut self, entry: &Entry) -> Chain {
        if let Some(chain) = self.chains.get(entry.chain as usize) {
            return *chain;
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            version: entry.version,
            next: Self::NONE,
        });
        Chain {
            first: node,
            last: node,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// The rows of an entry's columns, the strongest first.
    pub(super) fn versions(&self, entry: &Entry) -> impl Iterator<Item = u32> {
        let chain = self.chains.get(entry.chain as usize);
        let single = chain.is_none().then_some(entry.version);
        let mut node = chain.map_or(Self::NONE, |chain| chain.first);
        let chained = std::iter::from_fn(move || {
            let found = self.nodes.get(node as usize)?;
            node = found.next;
            Some(found.version)
        });
        single.into_iter().chain(chained)
    }
}

/// Where the values of a column count as given by the rule of filling.
pub(super) fn present(array: &ArrayRef, field: &Field, fill: &Fill) -> Result<Present> {
    match fill {
        Fill::Defaults if !field.metadata().contains_key(DEFAULT_KEY) => {
            let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
            Ok(nulls.map(|nulls| nulls.inner().clone()))
        }
        Fill::Defaults => {
            let default = Scalar::from_array(default_of(field)?.as_ref(), 0);
            let differs =
                |row| default.is_none() || Scalar::from_array(array.as_ref(), row) != default;
            Ok(some(BooleanBuffer::collect_bool(array.len(), differs)))
        }
        Fill::Unavailable(marker) => Ok(match array.data_type() {
            DataType::Utf8 => {
                let texts = array.as_string::<i32>();
                let differs = |row| texts.is_null(row) || texts.value(row) != marker;
                some(BooleanBuffer::collect_bool(array.len(), differs))
            }
            DataType::Binary => {
                let bytes = array.as_binary::<i32>();
                let differs = |row| bytes.is_null(row) || bytes.value(row) != marker.as_bytes();
                some(BooleanBuffer::collect_bool(array.len(), differs))
            }
            _ => None,
        }),
    }
}

fn some(present: BooleanBuffer) -> Present {
    (present.count_set_bits() < present.len()).then_some(present)
}

/// The declared default of a column, as an array of one value.
fn default_of(field: &Field) -> Result<ArrayRef> {
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let none = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options);
    let none = none.map_err(|error| Error::internal("no batch").with_source(error))?;
    let defaults = conform(&none, &Arc::new(Schema::new(vec![field.clone()])))?;
    let default = defaults.columns().first().cloned();
    default.ok_or_else(|| Error::internal("no default"))
}
