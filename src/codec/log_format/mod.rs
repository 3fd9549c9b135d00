//! Hudi log files: their framing, block by block.
//!
//! ```text
//! magic  #HUDI#                 6 bytes
//! length of what follows, L     8   up to and with the reverse pointer
//! log format version            4   1
//! block type                    4   see BlockKind
//! header map                        count, then (key, length, UTF-8)
//! content length                8
//! content
//! footer map                        count, then (key, length, UTF-8); empty in practice
//! reverse pointer               8   L + 6: the bytes of the block before it
//! ```
//!
//! Numbers are big-endian. It knows where blocks lie and what their headers say; what a content means is for others.
//!
//! | file | holds |
//! |---|---|
//! | `block.rs` | [`LogBlock`], its [`BlockKind`] and [`BlockHeader`] |
//! | `header.rs` | the maps at both ends of a block |
//! | `pieces.rs` | the bytes of a file that are there |
//! | `scanner.rs` | [`LogScanner`]: the next block, or the next damaged span |
//! | `writer.rs` | [`write_block`]: a block's frame around its content |
//!
//! Source: Hudi 1.1 `HoodieLogFileReader`, `HoodieLogFormat`, `HoodieLogBlock`.

mod block;
mod header;
mod pieces;
mod scanner;
mod writer;

pub use block::{BlockHeader, BlockKind, Command, LogBlock};
pub use scanner::{LogScanner, Step};
pub use writer::write_block;

#[cfg(test)]
pub(crate) mod building;
#[cfg(all(test, not(target_arch = "wasm32")))]
pub(crate) use building::frames;
