use super::kryo;
use crate::codec::avro::unscaled;
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};
use crate::expr::Scalar;

/// The scale of decimals among ordering values, whatever that of the column: `DecimalWrapper` is decimal(30,15).
pub const DELETE_DECIMAL_SCALE: i8 = 15;

/// One entry of a delete block.
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteKey {
    /// The record key.
    pub key: String,
    /// The partition it is deleted from, where it was written down.
    pub partition: Option<String>,
    /// The values of the ordering fields, one each: dates in days, times and timestamps as the writer had them (Spark:
    /// microseconds), decimals at [`DELETE_DECIMAL_SCALE`]. `None` for no value and for the int 0, which are the same to
    /// Hudi: the delete goes by its commit and removes whatever is older.
    pub ordering: Option<Vec<Scalar>>,
}

/// The entries of a delete block.
///
/// ```text
/// version i32 | length i32 | HoodieDeleteRecordList: array of { key null|string, partition null|string, ordering null|W1|…|W12 }
/// ```
///
/// Versions 1 and 2 (Hudi 0.13 and older) hold serialized Java objects in place of the list.
///
/// Errors: `Unsupported` for other versions and rare classes of ordering values, `Corrupt` with the `offset` for anything else.
pub fn deletes(content: &[u8]) -> Result<Vec<DeleteKey>> {
    let mut cursor = Cursor::new(content);
    let version = cursor.u32_be()?;
    if !(1..=3).contains(&version) {
        return Err(
            Error::unsupported("a delete block of this version").context("version", version)
        );
    }
    let length = usize::try_from(cursor.u32_be()?).unwrap_or(usize::MAX);
    let mut cursor = cursor.part(length)?;
    if version < 3 {
        return kryo::deletes(cursor);
    }
    let mut all = Vec::new();
    loop {
        let count = block_count(&mut cursor)?;
        if count == 0 {
            break;
        }
        // An entry is three bytes at least, so the bytes bound the loop.
        for _ in 0..count {
            all.push(entry(&mut cursor)?);
        }
    }
    Ok(all)
}

fn block_count(cursor: &mut Cursor<'_>) -> Result<u64> {
    let count = cursor.zigzag()?;
    if count < 0 {
        cursor.length()?;
    }
    Ok(count.unsigned_abs())
}

fn entry(cursor: &mut Cursor<'_>) -> Result<DeleteKey> {
    let key = optional_text(cursor)?;
    let key = key.ok_or_else(|| cursor.fault("a delete has no record key"))?;
    Ok(DeleteKey {
        key,
        partition: optional_text(cursor)?,
        ordering: ordering(cursor)?,
    })
}

fn optional_text(cursor: &mut Cursor<'_>) -> Result<Option<String>> {
    match cursor.zigzag()? {
        0 => Ok(None),
        1 => text(cursor).map(Some),
        _ => Err(cursor.fault("a delete is of no known form")),
    }
}

fn text(cursor: &mut Cursor<'_>) -> Result<String> {
    let fault = cursor.fault("a text of a delete is not UTF-8");
    let text = std::str::from_utf8(bytes(cursor)?);
    text.map(str::to_owned)
        .map_err(|error| fault.with_source(error))
}

fn bytes<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let length = cursor.length()?;
    cursor.take(length)
}

/// `ArrayWrapper`, several values.
const ARRAY: i64 = 12;

fn ordering(cursor: &mut Cursor<'_>) -> Result<Option<Vec<Scalar>>> {
    match cursor.zigzag()? {
        0 => Ok(None),
        ARRAY => match cursor.zigzag()? {
            0 => Ok(None),
            1 => several(cursor).map(Some),
            _ => Err(cursor.fault("an ordering value is of no known form")),
        },
        2 => {
            let value = int(cursor)?;
            Ok((value != 0).then(|| vec![Scalar::Int(value)]))
        }
        branch => wrapped(branch, cursor).map(|value| Some(vec![value])),
    }
}

fn several(cursor: &mut Cursor<'_>) -> Result<Vec<Scalar>> {
    let mut values = Vec::new();
    loop {
        let count = block_count(cursor)?;
        if count == 0 {
            return Ok(values);
        }
        for _ in 0..count {
            values.push(match cursor.zigzag()? {
                0 => return Err(cursor.fault("one of several ordering values is null")),
                // `LocalDateWrapper`, which only stands here.
                ARRAY => Scalar::Int(int(cursor)?),
                branch => wrapped(branch, cursor)?,
            });
        }
    }
}

/// One wrapper record, which is its one field.
fn wrapped(branch: i64, cursor: &mut Cursor<'_>) -> Result<Scalar> {
    Ok(match branch {
        1 => Scalar::Boolean(cursor.u8()? != 0),
        2 | 8 => Scalar::Int(int(cursor)?),
        3 | 10 | 11 => Scalar::Int(cursor.zigzag()?),
        4 => Scalar::Float(f64::from(f32::from_le_bytes(cursor.array()?))),
        5 => Scalar::Float(f64::from_le_bytes(cursor.array()?)),
        6 => Scalar::Bytes(bytes(cursor)?.to_vec()),
        7 => Scalar::Bytes(text(cursor)?.into_bytes()),
        9 => {
            let value = unscaled(bytes(cursor)?);
            Scalar::Decimal(value.ok_or_else(|| cursor.fault("no decimal among ordering values"))?)
        }
        _ => return Err(cursor.fault("an ordering value is of no known form")),
    })
}

fn int(cursor: &mut Cursor<'_>) -> Result<i64> {
    let value = cursor.zigzag()?;
    match i32::try_from(value) {
        Ok(_) => Ok(value),
        Err(_) => Err(cursor.fault("an int has more than 32 bits")),
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::i256;

    use super::*;
    use crate::error::ErrorKind;

    fn block(datum: &[u8]) -> Vec<u8> {
        let length = u32::try_from(datum.len()).unwrap();
        [&3u32.to_be_bytes()[..], &length.to_be_bytes(), datum].concat()
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
        digits
            .chunks(2)
            .map(|d| u8::try_from(d[0] * 16 + d[1]).unwrap())
            .collect()
    }

    #[test]
    fn the_bytes_that_java_wrote_are_one_delete_by_commit() {
        let content = hex("00000003 00000018 02020e54584e2d303032 0212726567696f6e3d7573 0400 00");
        let expected = DeleteKey {
            key: "TXN-002".into(),
            partition: Some("region=us".into()),
            ordering: None,
        };
        assert_eq!(deletes(&content).unwrap(), [expected]);
        assert_eq!(deletes(&hex("00000003 00000001 00")).unwrap(), []);
    }

    #[test]
    fn ordering_values_come_out_of_every_wrapper_that_java_writes() {
        let check = |wrapper: &str, expected: Option<Vec<Scalar>>| {
            let datum = [hex("02 02 02 61 00"), hex(wrapper), vec![0]].concat();
            let found = deletes(&block(&datum)).unwrap();
            assert_eq!(found.len(), 1);
            assert_eq!((found[0].key.as_str(), &found[0].partition), ("a", &None));
            assert_eq!(found[0].ordering, expected, "{wrapper}");
        };
        let one = |scalar| Some(vec![scalar]);
        check("00", None);
        check("04 00", None);
        check("02 01", one(Scalar::Boolean(true)));
        check("04 08", one(Scalar::Int(4)));
        check("06 0c", one(Scalar::Int(6)));
        check("06 00", one(Scalar::Int(0)));
        check("08 00002040", one(Scalar::Float(2.5)));
        check("0a 0000000000000440", one(Scalar::Float(2.5)));
        check("0c 02 ff", one(Scalar::Bytes(vec![255])));
        check("0e 02 62", one(Scalar::Bytes(b"b".to_vec())));
        check("10 06", one(Scalar::Int(3)));
        check(
            "12 0e 05543df729c000",
            one(Scalar::Decimal(i256::from_i128(1_500_000_000_000_000))),
        );
        check(
            "06 8080acbeedf2db05",
            one(Scalar::Int(1_609_459_200_000_000)),
        );
        check("14 06", one(Scalar::Int(3)));
        check("16 06", one(Scalar::Int(3)));
        let two = vec![Scalar::Int(6), Scalar::Bytes(b"x".to_vec())];
        check("18 02 04 06 0c 0e 02 78 00", Some(two));
        check("18 02 02 18 06 00", one(Scalar::Int(3)));
        check("18 00", None);
    }

    #[test]
    fn other_versions_are_refused_by_number() {
        for version in [0, 4] {
            let content = [&u32::to_be_bytes(version)[..], &[0, 0, 0, 1, 0]].concat();
            let error = deletes(&content).unwrap_err();
            let version = version.to_string();
            assert_eq!(
                (error.kind(), error.get("version")),
                (ErrorKind::Unsupported, Some(version.as_str()))
            );
        }
    }

    #[test]
    fn every_cut_and_odd_branches_are_corrupt() {
        let content = hex("00000003 00000018 02020e54584e2d303032 0212726567696f6e3d7573 0400 00");
        for cut in 0..content.len() {
            assert_eq!(
                deletes(&content[..cut]).unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{cut}"
            );
        }
        for datum in [
            "02 00 00 00 00",
            "02 04 00 00 00",
            "02 02 02 61 00 1a 00 00",
            "02 02 02 61 00 12 00 00",
            "02 02 02 ff 00 00 00",
            "feffffffffffffffff01 02",
            "02 02 02 61 00 18 02 02 00 00 00",
        ] {
            assert_eq!(
                deletes(&block(&hex(datum))).unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{datum}"
            );
        }
    }
}
