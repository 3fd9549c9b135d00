//! Versions of a row to one row: what the log files of a slice make of its base rows.
//!
//! It knows Hudi's merge modes, payload classes and partial updates, as rules over Arrow columns. It must not know files, blocks
//! or the timeline: whoever asks brings batches in merge order and gets batches back.
//!
//! | file | holds |
//! |---|---|
//! | `rules.rs` | [`MergeRules`]: what a table's properties say of merging |
//! | `payload.rs` | the same, of payload classes: table versions 6 and 8 |
//! | `columns.rs` | which columns merging needs besides those that are read |
//! | `ordering.rs` | ordering values, compared |
//! | `deletes.rs` | which rows of a block are deletes; [`Deletion`], an entry of a delete block |
//! | `key_column.rs`, `keys.rs` | the record keys of a batch; keys to numbers, and a sieve for those that are not there |
//! | `changes.rs` | [`Changes`]: log rows and deletes gathered, one version a key |
//! | `layers.rs` | columns of one version that come from several rows: partial updates |
//! | `winners.rs` | the winning log rows: in their blocks, or gathered |
//! | `picks.rs` | which side each row comes from |
//! | `merger.rs` | [`Merger`]: the versions put over base batches, and what is left of them |
//! | `gather.rs` | rows that a mask keeps |
//!
//! Winners are decided over keys and ordering values alone; only then are columns gathered. No row becomes an object.
//!
//! Source: Hudi 1.1 `BufferedRecordMergerFactory`, `FileGroupRecordBuffer`, `PartialUpdateHandler`, and the payload classes.

mod changes;
mod columns;
mod deletes;
mod gather;
mod key_column;
mod keys;
mod layers;
mod merger;
mod ordering;
mod payload;
mod picks;
mod rules;
mod winners;

pub use changes::Changes;
pub use columns::MergeColumns;
pub use deletes::Deletion;
pub use gather::filter_rows;
pub use merger::{Merged, Merger};
pub use rules::MergeRules;

#[cfg(test)]
mod tests;
