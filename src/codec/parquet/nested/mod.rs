//! Structs, lists and maps, put together from the levels of their leaves (Dremel).
//!
//! A leaf's levels say of each of its values how deep it is there and in which list it goes on. `leaf` reads them with the
//! values, `node` knows what they mean in the schema, `assemble` makes offsets and nulls of them. Leaves that contradict each
//! other are an error, since one of them would be read wrong.

mod assemble;
mod column;
mod leaf;
mod node;

pub(super) use column::NestedColumn;
