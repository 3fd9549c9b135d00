use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use parquet::schema::types::Type;

use super::super::page_reader::ChunkPages;
use super::super::pages::Chunk;
use super::super::rows::Rows;
use super::assemble::array;
use super::leaf::Leaf;
use super::node::Node;
use crate::error::{Error, Result};

/// A root column with structs, lists or maps in it, read forward.
pub(in super::super) struct NestedColumn {
    root: Node,
    leaves: Vec<Leaf>,
}

impl NestedColumn {
    /// Of a column in its type of the file and as Arrow has it, over all of its chunks.
    pub(in super::super) fn new(
        of: &Type,
        data_type: &DataType,
        chunks: Vec<(Arc<Chunk>, ChunkPages)>,
    ) -> Result<Self> {
        let lost = || Error::internal("a column without leaves");
        let first = chunks.first().map(|(chunk, _)| Arc::clone(chunk));
        let first = first.ok_or_else(lost)?;
        let root = Node::root(of, data_type).map_err(|error| first.told(error))?;
        let mut found = Vec::new();
        root.each_leaf(&mut found);
        if found.len() != chunks.len() {
            return Err(first.told(lost()));
        }
        let leaves = found.into_iter().zip(chunks);
        let leaves = leaves.map(|(node, (chunk, pages))| {
            Leaf::new(&chunk, &node.data_type, node.place.from, pages)
                .map_err(|error| chunk.told(error))
        });
        let leaves = leaves.collect::<Result<_>>()?;
        Ok(Self { root, leaves })
    }

    /// An array of these rows, which lie behind those that were read before.
    pub(in super::super) fn read(&mut self, rows: &Rows) -> Result<ArrayRef> {
        let arrays = self.leaves.iter_mut().map(|leaf| {
            let array = leaf.read(rows);
            array.map_err(|error| leaf.chunk.told(error))
        });
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        let whole = array(&self.root, &self.leaves, &arrays);
        whole.map_err(|error| match self.leaves.first() {
            Some(leaf) => leaf.chunk.told(error),
            None => error,
        })
    }
}
