//! Avro schemas to Arrow and back; meta fields; projection.
