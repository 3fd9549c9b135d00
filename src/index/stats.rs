//! Ranges of columns as the records of `column_stats` and `partition_stats`.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::change::ColumnRange;

use super::record::{Counts, StatsOf, put_stats};
use super::value::{Bound, ValueKind};
use crate::codec::avro::unscaled;
use crate::codec::md5::md5;
use crate::expr::Scalar;
use crate::metadata::ColumnStats;
use crate::metadata::partition::{column_prefix, partition_part};
use crate::model::PartitionPath;

/// Columns that statistics are kept of, with how their values are kept.
pub(super) type Kinds = BTreeMap<String, ValueKind>;

/// The key of a column of a file.
pub(super) fn file_key(column: &str, partition: &PartitionPath, name: &str) -> String {
    let mut key = partition_key(column, partition);
    STANDARD.encode_string(md5(name.as_bytes()), &mut key);
    key
}

/// The key of a column of a partition.
pub(super) fn partition_key(column: &str, partition: &PartitionPath) -> String {
    column_prefix(column) + &partition_part(partition)
}

/// What is known of a column of one file or of many together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Range {
    /// `None` where there is no value.
    bounds: Option<(Scalar, Scalar)>,
    counts: Counts,
}

impl Range {
    /// The range of a column of a written file. Where bounds are not known, or leave a NaN out, they are as wide as the type:
    /// Spark takes a file without bounds for one without values.
    pub(super) fn of_file(range: &ColumnRange, kind: &ValueKind) -> Self {
        let counts = Counts {
            values: range.value_count,
            nulls: range.null_count,
            size: range.total_size,
            uncompressed: range.total_uncompressed_size,
        };
        let bounds = match (&range.min, &range.max) {
            _ if counts.nulls >= counts.values => None,
            (Some(min), Some(max)) if range.has_nan && kind.is_float() => {
                // To Spark and Java a NaN is greater than all.
                Some((min.clone(), max_nan(max)))
            }
            (Some(min), Some(max)) => Some((min.clone(), max.clone())),
            _ => Some(kind.widest()),
        };
        let bounds = bounds.map(|(min, max)| (zero(min, -0.0), zero(max, 0.0)));
        Self { bounds, counts }
    }

    /// The range of a record that is there.
    pub(super) fn of_record(stats: &ColumnStats, kind: &ValueKind) -> Self {
        let count = |count: Option<u64>| count.unwrap_or(0);
        let counts = Counts {
            values: count(stats.value_count),
            nulls: count(stats.null_count),
            size: stats.total_size,
            uncompressed: stats.total_uncompressed_size,
        };
        let empty = stats.null_count.is_some() && stats.null_count == stats.value_count;
        let value_type = stats.value_type.as_ref();
        let bounds = match (empty, kind.is_of(value_type)) {
            (true, _) => None,
            (false, false) => Some(kind.widest()),
            (false, true) => {
                let bounds = (scalar(&stats.min, kind), scalar(&stats.max, kind));
                match bounds {
                    (Some(min), Some(max)) => Some((min, max)),
                    _ => Some(kind.widest()),
                }
            }
        };
        Self { bounds, counts }
    }

    /// The range of so many rows without a value.
    pub(super) fn of_nulls(rows: u64) -> Self {
        let counts = Counts {
            values: rows,
            nulls: rows,
            size: 0,
            uncompressed: 0,
        };
        Self {
            bounds: None,
            counts,
        }
    }

    /// The range of both together.
    pub(super) fn with(self, other: Self) -> Self {
        let less = |a: &Scalar, b: &Scalar| order(a, b) == std::cmp::Ordering::Less;
        let bounds = match (self.bounds, other.bounds) {
            (Some((min, max)), Some((other_min, other_max))) => Some((
                if less(&other_min, &min) {
                    other_min
                } else {
                    min
                },
                if less(&max, &other_max) {
                    other_max
                } else {
                    max
                },
            )),
            (one, other) => one.or(other),
        };
        let (a, b) = (self.counts, other.counts);
        let counts = Counts {
            values: a.values.saturating_add(b.values),
            nulls: a.nulls.saturating_add(b.nulls),
            size: a.size.saturating_add(b.size),
            uncompressed: a.uncompressed.saturating_add(b.uncompressed),
        };
        Self { bounds, counts }
    }

    /// The record that says so.
    pub(super) fn record(
        &self,
        of: StatsOf,
        name: &str,
        column: &str,
        kind: &ValueKind,
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(160);
        let (min, max) = match &self.bounds {
            Some((min, max)) => (Bound::Value(min), Bound::Value(max)),
            None => (kind.of_nothing(), kind.of_nothing()),
        };
        let bounds = |out: &mut Vec<u8>| {
            kind.put(min, out);
            kind.put(max, out);
        };
        put_stats(
            of,
            name,
            column,
            self.counts,
            bounds,
            |out| kind.put_type(out),
            &mut out,
        );
        out
    }
}

/// Floats in Java's order: a NaN is greater than all.
fn order(a: &Scalar, b: &Scalar) -> std::cmp::Ordering {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => match (a.is_nan(), b.is_nan()) {
            (false, false) => a.total_cmp(b),
            (a, b) => a.cmp(&b),
        },
        _ => a.order(b),
    }
}

/// Java's reader of footers takes a least zero for the negative one and a greatest for the positive one, since writers differ.
fn zero(bound: Scalar, wide: f64) -> Scalar {
    match bound {
        Scalar::Float(0.0) => Scalar::Float(wide),
        bound => bound,
    }
}

fn max_nan(_: &Scalar) -> Scalar {
    Scalar::Float(f64::NAN)
}

/// A bound of a record as a value of its column. JSON has no NaN and no infinity, so those are not known.
fn scalar(value: &Value, kind: &ValueKind) -> Option<Scalar> {
    let latin1 = |text: &str| -> Option<Vec<u8>> {
        text.chars()
            .map(|c| u8::try_from(u32::from(c)).ok())
            .collect()
    };
    Some(match kind.widest().0 {
        Scalar::Boolean(_) => Scalar::Boolean(value.as_bool()?),
        Scalar::Int(_) => Scalar::Int(value.as_i64()?),
        Scalar::Float(_) => Scalar::Float(value.as_f64()?),
        Scalar::Decimal(_) => kind.stored_decimal(unscaled(&latin1(value.as_str()?)?)?)?,
        Scalar::Bytes(_) if kind.is_text() => Scalar::Bytes(value.as_str()?.into()),
        Scalar::Bytes(_) => Scalar::Bytes(latin1(value.as_str()?)?),
    })
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::DataType;

    use super::*;
    use crate::index::value::StatsVersion;

    fn range(min: Option<f64>, max: Option<f64>, has_nan: bool, nulls: u64) -> ColumnRange {
        ColumnRange {
            name: "f".into(),
            min: min.map(Scalar::Float),
            max: max.map(Scalar::Float),
            has_nan,
            null_count: nulls,
            value_count: 4,
            total_size: 10,
            total_uncompressed_size: 20,
        }
    }

    #[test]
    fn keys_are_those_that_spark_wrote() {
        // Of v9_cow_hive_parts.
        let partition = PartitionPath::new("city=paris");
        let name = "b2650314-4e3a-4cc9-aca7-800a62288d59-0_2-148-192_20261129204517096.parquet";
        let key = file_key("name", &partition, name);
        assert_eq!(key, "F5SYxeUa1U8=XKHRVTFZvHE=lGATzURGgCWkzfD+Tk1vrg==");
    }

    #[test]
    fn a_nan_and_an_unknown_bound_leave_nothing_out() {
        let kind = ValueKind::of(&DataType::Float64, StatsVersion::Two).unwrap();
        let bounds = |range: &ColumnRange| Range::of_file(range, &kind).bounds;
        let (min, max) = bounds(&range(Some(1.0), Some(2.0), true, 0)).unwrap();
        assert_eq!(min, Scalar::Float(1.0));
        assert!(matches!(max, Scalar::Float(max) if max.is_nan()));
        let (min, max) = bounds(&range(None, None, true, 1)).unwrap();
        assert_eq!(min, Scalar::Float(f64::NEG_INFINITY));
        assert!(matches!(max, Scalar::Float(max) if max.is_nan()));
        assert_eq!(bounds(&range(None, None, false, 4)), None);
    }

    #[test]
    fn zeros_stand_for_both_zeros() {
        // As Spark with Hudi 1.1.1 wrote for a file of -0.0 alone.
        let kind = ValueKind::of(&DataType::Float64, StatsVersion::Two).unwrap();
        for zero in [0.0, -0.0] {
            let range = Range::of_file(&range(Some(zero), Some(zero), false, 0), &kind);
            let Some((Scalar::Float(min), Scalar::Float(max))) = range.bounds else {
                panic!("no bounds");
            };
            assert!(min.is_sign_negative() && max.is_sign_positive());
        }
    }

    #[test]
    fn ranges_together_hold_both() {
        let kind = ValueKind::of(&DataType::Float64, StatsVersion::Two).unwrap();
        let of = |min, max, nulls| Range::of_file(&range(min, max, false, nulls), &kind);
        let both = of(Some(1.0), Some(2.0), 1).with(of(Some(-1.0), Some(1.5), 0));
        assert_eq!(both.bounds, Some((Scalar::Float(-1.0), Scalar::Float(2.0))));
        assert_eq!(
            (both.counts.values, both.counts.nulls, both.counts.size),
            (8, 1, 20)
        );
        let with_nothing = of(Some(1.0), Some(2.0), 0).with(of(None, None, 4));
        assert_eq!(
            with_nothing.bounds,
            Some((Scalar::Float(1.0), Scalar::Float(2.0)))
        );
    }
}
