//! What the columns of a table are: Avro schemas to Arrow, meta fields, projection, and files brought to the table's schema.
//!
//! It knows the Avro specification's schema JSON, Hudi's meta fields and the promotions that Spark and Hudi allow. It must not
//! know files, paths or the timeline: callers say where a schema came from.
//!
//! | file | holds |
//! |---|---|
//! | `avro.rs`, `avro_parse.rs` | [`AvroSchema`], read from JSON with every name resolved |
//! | `types.rs`, `avro_write.rs` | Avro to Arrow: [`to_arrow`]; and back, as Spark does: [`from_arrow`] |
//! | `meta_fields.rs` | the `_hoodie_*` columns, added and taken away |
//! | `project.rs` | columns by name, in the order asked |
//! | `conform.rs`, `evolve.rs`, `text.rs`, `absent.rs` | a file's batch to the table's schema; what a type may become; defaults |
//! | `history.rs`, `file_names.rs` | schema on read: columns by number, and their names in files of any time |
//! | `describe.rs` | a schema as JavaScript shows it |

mod absent;
mod avro;
mod avro_parse;
mod avro_write;
mod conform;
mod describe;
mod evolve;
mod file_names;
mod history;
mod meta_fields;
mod project;
mod text;
mod types;

pub use avro::{
    AvroEnum, AvroField, AvroFixed, AvroKind, AvroRecord, AvroSchema, LogicalType, Mixed,
    VectorElement,
};
pub use avro_parse::parse_avro;
pub use avro_write::{check_name, from_arrow};
pub use conform::{Conformer, conform, conform_array};
pub use describe::{FieldFacts, describe, type_name};
pub use evolve::{keeps_order, may_become};
pub use file_names::{FileName, FileNames};
pub use history::SchemaHistory;
pub use meta_fields::{
    add_meta_fields, add_meta_fields_avro, join_fields_avro, strip_meta_fields,
    strip_meta_fields_avro,
};
pub use project::{project, unknown_column};
pub use types::{
    DEFAULT_KEY, DOC_KEY, LOGICAL_TYPE_KEY, leaf_type, list_type, map_type, member_name, to_arrow,
};
