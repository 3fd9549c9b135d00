//! Of the rows of one key the latest: rows are held until all have come.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use arrow::array::{Array, ArrayRef, StringArray};

use super::columns::FieldPath;
use crate::codec::gather::Runs;
use crate::error::{Error, Result};
use crate::expr::Scalar;

/// Some rows that are checked and not yet written.
pub(super) struct Held {
    pub(super) columns: Vec<ArrayRef>,
    pub(super) keys: StringArray,
    /// The partition of each row; none when the table has no partitions.
    pub(super) partitions: Option<Vec<u32>>,
}

/// The rows of a call, of which the latest of each key are kept.
pub(super) struct Latest {
    ordering: Vec<FieldPath>,
    global: bool,
    held: Vec<Held>,
    bytes: usize,
    limit: usize,
}

impl Latest {
    /// Later is the row with the greater values of `ordering`, field by field, and of equal ones the one that came later. A key
    /// is one row of the table when `global`, else one row of its partition.
    pub(super) fn new(ordering: Vec<FieldPath>, global: bool, limit: usize) -> Self {
        Self {
            ordering,
            global,
            held: Vec::new(),
            bytes: 0,
            limit,
        }
    }

    /// Holds rows.
    ///
    /// Errors: `LimitExceeded` when they are too many for memory.
    pub(super) fn hold(&mut self, rows: Held) -> Result<()> {
        let sizes = rows.columns.iter().map(|column| {
            let size = column.to_data().get_slice_memory_size();
            size.unwrap_or_else(|_| column.get_array_memory_size())
        });
        // The table of keys takes as much again as a hash, a number and a place.
        self.bytes += sizes.sum::<usize>() + rows.keys.len() * 48;
        if self.bytes > self.limit {
            return Err(Error::limit_exceeded(
                "keeping the latest row of each key needs all rows of the call in memory",
            )
            .context("limit", self.limit)
            .context(
                "hint",
                "write in several calls, or see to it that keys are given once",
            ));
        }
        self.held.push(rows);
        Ok(())
    }

    /// The rows held, each with those of them that stay.
    pub(super) fn finish(self) -> Result<Vec<(Held, Vec<bool>)>> {
        let mut stays: Vec<Vec<bool>> = Vec::with_capacity(self.held.len());
        {
            let orders = self.held.iter().map(|held| {
                let fields = self.ordering.iter().map(|field| field.of(&held.columns));
                fields.collect::<Result<Vec<ArrayRef>>>()
            });
            let orders: Vec<Vec<ArrayRef>> = orders.collect::<Result<_>>()?;
            let mut latest: HashMap<(u32, &str), (usize, usize)> = HashMap::new();
            for (at, held) in self.held.iter().enumerate() {
                stays.push(vec![true; held.keys.len()]);
                for row in 0..held.keys.len() {
                    let partition = held.partitions.as_ref().and_then(|p| p.get(row)).copied();
                    let scope = partition.filter(|_| !self.global).unwrap_or_default();
                    let mut entry = match latest.entry((scope, held.keys.value(row))) {
                        Entry::Vacant(entry) => {
                            entry.insert((at, row));
                            continue;
                        }
                        Entry::Occupied(entry) => entry,
                    };
                    let old = *entry.get();
                    let wins = order(&orders, (at, row), old).is_ge();
                    let loser = if wins { old } else { (at, row) };
                    if wins {
                        entry.insert((at, row));
                    }
                    let mark = stays
                        .get_mut(loser.0)
                        .and_then(|rows| rows.get_mut(loser.1));
                    if let Some(stays) = mark {
                        *stays = false;
                    }
                }
            }
        }
        Ok(self.held.into_iter().zip(stays).collect())
    }
}

/// The order of two rows by their ordering values; null comes first.
fn order(orders: &[Vec<ArrayRef>], a: (usize, usize), b: (usize, usize)) -> Ordering {
    let (Some(left), Some(right)) = (orders.get(a.0), orders.get(b.0)) else {
        return Ordering::Equal;
    };
    for (left, right) in left.iter().zip(right) {
        let values = (
            Scalar::from_array(left, a.1),
            Scalar::from_array(right, b.1),
        );
        let order = match values {
            (Some(left), Some(right)) => left.order(&right),
            (left, right) => left.is_some().cmp(&right.is_some()),
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// The rows that stay.
pub(super) fn staying(stays: &[bool]) -> Runs {
    let mut runs = Runs::default();
    for (row, _) in stays.iter().enumerate().filter(|(_, stays)| **stays) {
        runs.push(0, row as u32);
    }
    runs
}
