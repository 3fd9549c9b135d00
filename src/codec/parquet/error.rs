use parquet::errors::ParquetError;

use crate::error::Error;

/// What the `parquet` crate says about a file: it does not handle a feature, or the file is broken.
pub(super) fn from_parquet(error: ParquetError) -> Error {
    let made = match &error {
        ParquetError::NYI(_) => Error::unsupported("a feature of this Parquet file is not handled"),
        _ => Error::corrupt("the Parquet file cannot be decoded"),
    };
    made.with_source(error)
}
