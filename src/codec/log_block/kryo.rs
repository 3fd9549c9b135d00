//! Delete blocks of versions 1 and 2: arrays of Java objects as Kryo writes them.
//!
//! ```text
//! class: 0 null | 1 varint number [name, when the number is new] | 2 + registered number
//! object: reference (1 new, else 2 + the number of an object before) | fields, in the order of their names
//! HoodieKey[]: class, length + 1, then each: class HoodieKey, object { partitionPath, recordKey }
//! DeleteRecord[]: …, then each: class DeleteRecord, object { class HoodieKey, object; class and value of orderingVal }
//! ```
//!
//! Objects are numbered as they begin; numbers, booleans and nulls are no objects. Source: Kryo 4.0 `DefaultClassResolver`,
//! `MapReferenceResolver`, `Output.writeString`; the bytes that Hudi 0.15's `SerializationUtils` gives.

use arrow::datatypes::i256;
use chrono::{Datelike, NaiveDate};

use super::deletes::{DELETE_DECIMAL_SCALE, DeleteKey};
use crate::codec::avro::unscaled;
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};
use crate::expr::Scalar;

const HOODIE_KEY: &str = "org.apache.hudi.common.model.HoodieKey";
const DELETE_RECORD: &str = "org.apache.hudi.common.model.DeleteRecord";
const KEY_ARRAY: &str = "[Lorg.apache.hudi.common.model.HoodieKey;";
const RECORD_ARRAY: &str = "[Lorg.apache.hudi.common.model.DeleteRecord;";

/// Bytes of text that may be given out for each byte of the block: a text may stand for many keys by its number.
const REPEATS: usize = 64;

/// 1970-01-01 in chrono's count of days.
const EPOCH: i32 = 719_163;

/// The entries of a block of version 1 or 2.
///
/// Errors: `Unsupported` for ordering values of classes that are not handled, `Corrupt` with `offset` for other bytes.
pub(super) fn deletes(cursor: Cursor<'_>) -> Result<Vec<DeleteKey>> {
    let mut reader = Reader {
        classes: Vec::new(),
        objects: Vec::new(),
        repeats: cursor.remaining().saturating_mul(REPEATS),
        cursor,
    };
    let with_ordering = match reader.class()? {
        Class::Named(name) if name == RECORD_ARRAY => true,
        Class::Named(name) if name == KEY_ARRAY => false,
        _ => return Err(reader.fault()),
    };
    reader.begin()?;
    let count = reader.cursor.varint()?.checked_sub(1);
    let count = count.ok_or_else(|| reader.fault())?;
    let mut all = Vec::new();
    // An entry is four bytes at least, so the bytes bound the loop.
    for _ in 0..count {
        all.push(match with_ordering {
            true => reader.record()?,
            false => reader.key()?,
        });
    }
    match reader.cursor.is_empty() {
        true => Ok(all),
        false => Err(reader.fault()),
    }
}

enum Class {
    Null,
    Named(String),
    /// By its number among those that Kryo knows.
    Known(u64),
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    classes: Vec<String>,
    /// The texts among the objects.
    objects: Vec<Option<String>>,
    repeats: usize,
}

impl Reader<'_> {
    fn fault(&self) -> Error {
        self.cursor
            .fault("a delete block is not of the objects that Hudi writes")
    }

    fn class(&mut self) -> Result<Class> {
        Ok(match self.cursor.varint()? {
            0 => Class::Null,
            1 => {
                let number = usize::try_from(self.cursor.varint()?).unwrap_or(usize::MAX);
                if number == self.classes.len() {
                    let name = self.text()?.ok_or_else(|| self.fault())?;
                    self.classes.push(name);
                }
                let name = self.classes.get(number);
                Class::Named(name.ok_or_else(|| self.fault())?.clone())
            }
            known => Class::Known(known - 2),
        })
    }

    fn expect(&mut self, name: &str) -> Result<()> {
        match self.class()? {
            Class::Named(found) if found == name => self.begin(),
            _ => Err(self.fault()),
        }
    }

    /// The begin of an object that is no text and stands here for the first time.
    fn begin(&mut self) -> Result<()> {
        match self.cursor.varint()? {
            1 => {
                self.objects.push(None);
                Ok(())
            }
            _ => Err(self.fault()),
        }
    }

    fn record(&mut self) -> Result<DeleteKey> {
        self.expect(DELETE_RECORD)?;
        let mut delete = self.key()?;
        delete.ordering = self.ordering()?;
        Ok(delete)
    }

    fn key(&mut self) -> Result<DeleteKey> {
        self.expect(HOODIE_KEY)?;
        let partition = self.text_object()?;
        let key = self.text_object()?;
        Ok(DeleteKey {
            key: key.ok_or_else(|| self.fault())?,
            partition,
            ordering: None,
        })
    }

    /// A text, or the number of one before.
    fn text_object(&mut self) -> Result<Option<String>> {
        match self.cursor.varint()? {
            0 => Ok(None),
            1 => {
                let at = self.objects.len();
                self.objects.push(None);
                let text = self.text()?;
                if let Some(object) = self.objects.get_mut(at) {
                    object.clone_from(&text);
                }
                Ok(text)
            }
            number => {
                let at = usize::try_from(number - 2).unwrap_or(usize::MAX);
                let text = self.objects.get(at).and_then(Clone::clone);
                let text = text.ok_or_else(|| self.fault())?;
                let left = self.repeats.checked_sub(text.len());
                self.repeats = left.ok_or_else(|| self.fault())?;
                Ok(Some(text))
            }
        }
    }

    /// Short ASCII ends in a byte with its highest bit set; any other text begins with its length in UTF-16 units, plus 1.
    fn text(&mut self) -> Result<Option<String>> {
        let first = self.cursor.u8()?;
        if first & 0x80 == 0 {
            let mut text = String::from(char::from(first));
            loop {
                let byte = self.cursor.u8()?;
                text.push(char::from(byte & 0x7f));
                if byte & 0x80 != 0 {
                    return Ok(Some(text));
                }
            }
        }
        let mut length = u64::from(first & 0x3f);
        if first & 0x40 != 0 {
            let rest = self.cursor.varint()?;
            let more = rest.checked_mul(64).ok_or_else(|| self.fault())?;
            length |= more;
        }
        let Some(units) = length.checked_sub(1) else {
            return Ok(None);
        };
        let mut text = Vec::new();
        for _ in 0..units {
            text.push(self.unit()?);
        }
        String::from_utf16(&text)
            .map(Some)
            .map_err(|error| self.fault().with_source(error))
    }

    /// One UTF-16 unit, in one to three bytes.
    fn unit(&mut self) -> Result<u16> {
        let first = u16::from(self.cursor.u8()?);
        let mut more = || self.cursor.u8().map(|byte| u16::from(byte & 0x3f));
        let unit = match first >> 4 {
            0..=7 => first,
            12 | 13 => (first & 0x1f) << 6 | more()?,
            14 => (first & 0x0f) << 12 | more()? << 6 | more()?,
            _ => return Err(self.fault()),
        };
        Ok(unit)
    }

    fn ordering(&mut self) -> Result<Option<Vec<Scalar>>> {
        let class = self.class()?;
        let value = match &class {
            Class::Null => return Ok(None),
            Class::Known(0) => match self.cursor.zigzag()? {
                0 => return Ok(None),
                value => Scalar::Int(value),
            },
            Class::Known(1) => {
                let text = self.text_object()?;
                Scalar::Bytes(text.ok_or_else(|| self.fault())?.into_bytes())
            }
            Class::Known(2) => Scalar::Float(f64::from(f32::from_be_bytes(self.cursor.array()?))),
            Class::Known(3) => Scalar::Boolean(self.cursor.u8()? != 0),
            Class::Known(7) => Scalar::Int(self.cursor.zigzag()?),
            Class::Known(8) => Scalar::Float(f64::from_be_bytes(self.cursor.array()?)),
            Class::Named(name) if name == "java.math.BigDecimal" => self.decimal()?,
            Class::Named(name) if name == "java.time.LocalDate" => self.date()?,
            Class::Named(name) if name == "java.sql.Timestamp" => {
                self.begin()?;
                let millis = self.cursor.varint()?.cast_signed();
                Scalar::Int(millis.checked_mul(1000).ok_or_else(|| self.fault())?)
            }
            Class::Named(name) => return Err(unknown(name)),
            Class::Known(number) => return Err(unknown(&number.to_string())),
        };
        Ok(Some(vec![value]))
    }

    fn decimal(&mut self) -> Result<Scalar> {
        self.begin()?;
        let length = self.cursor.varint()?.checked_sub(1);
        let length = length.and_then(|length| usize::try_from(length).ok());
        let bytes = self.cursor.take(length.ok_or_else(|| self.fault())?)?;
        let scale = self.cursor.zigzag()?;
        let shift = i64::from(DELETE_DECIMAL_SCALE)
            .checked_sub(scale)
            .and_then(|shift| u32::try_from(shift).ok());
        let factor = shift.and_then(|shift| i256::from_i128(10).checked_pow(shift));
        let value = unscaled(bytes).zip(factor);
        let value = value.and_then(|(value, factor)| value.checked_mul(factor));
        value
            .map(Scalar::Decimal)
            .ok_or_else(|| unknown("java.math.BigDecimal with more than 15 places"))
    }

    fn date(&mut self) -> Result<Scalar> {
        self.begin()?;
        let year = i32::try_from(self.cursor.varint()?).ok();
        let (month, day) = (self.cursor.u8()?, self.cursor.u8()?);
        let date = year.and_then(|year| NaiveDate::from_ymd_opt(year, month.into(), day.into()));
        let date = date.ok_or_else(|| self.fault())?;
        Ok(Scalar::Int(i64::from(date.num_days_from_ce() - EPOCH)))
    }
}

fn unknown(class: &str) -> Error {
    Error::unsupported("an ordering value of a class that old delete blocks seldom hold")
        .context("value", class)
        .context(
            "hint",
            "compact the table with the Hudi release that wrote it",
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    /// `HoodieKey[]`: ("key1", "part=a"), ("k2", ""), ("é中", null), by Hudi 0.15.0's `SerializationUtils.serialize`.
    const KEYS: &str = "01005b4c6f72672e6170616368652e687564692e636f6d6d6f6e2e6d6f64656c2e486f6f6469654b6579bb010401016f72672e6170616368652e687564692e636f6d6d6f6e2e6d6f64656c2e486f6f6469654b65f90101706172743de1016b6579b10101010181016bb2010101000183c3a9e4b8ad";

    /// `DeleteRecord[]` of keys `key1`, `k2` to `k8` of one partition with 0, 0, 5L, "abc", 2.5, 2.5f, 1.50 and true.
    const RECORDS: &str = "01005b4c6f72672e6170616368652e687564692e636f6d6d6f6e2e6d6f64656c2e44656c6574655265636f7264bb010901016f72672e6170616368652e687564692e636f6d6d6f6e2e6d6f64656c2e44656c6574655265636f72e40101026f72672e6170616368652e687564692e636f6d6d6f6e2e6d6f64656c2e486f6f6469654b65f90101706172743de1016b6579b1020001010101020105016bb2020001010101020105016bb3090a01010101020105016bb403016162e301010101020105016bb50a400400000000000001010101020105016bb6044020000001010101020105016bb701036a6176612e6d6174682e426967446563696d61ec010300960401010101020105016bb80501";

    /// With a `LocalDate` of 2024-02-29 first, then a `java.sql.Date`.
    const DATES: &str = "01005b4c6f72672e6170616368652e687564692e636f6d6d6f6e2e6d6f64656c2e44656c6574655265636f7264bb010401016f72672e6170616368652e687564692e636f6d6d6f6e2e6d6f64656c2e44656c6574655265636f72e40101026f72672e6170616368652e687564692e636f6d6d6f6e2e6d6f64656c2e486f6f6469654b65f90101706172743de101826b01036a6176612e74696d652e4c6f63616c446174e501e80f021d010101010201050601046a6176612e73716c2e446174e50100010101010201050601056a6176612e73716c2e54696d657374616df00105";

    /// A key of 80 characters, ordering 300.
    const LONG: &str = "01005b4c6f72672e6170616368652e687564692e636f6d6d6f6e2e6d6f64656c2e44656c6574655265636f7264bb010201016f72672e6170616368652e687564692e636f6d6d6f6e2e6d6f64656c2e44656c6574655265636f72e40101026f72672e6170616368652e687564692e636f6d6d6f6e2e6d6f64656c2e486f6f6469654b65f90101706172743de101d101612d6b65792d6c6f6e6765722d7468616e2d73697874792d666f75722d636861726163746572732d3031323334353637383930313233343536373839303132333435363738393031323334353637383902d804";

    fn deletes(bytes: &[u8]) -> Result<Vec<DeleteKey>> {
        super::deletes(Cursor::new(bytes))
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
        digits
            .chunks(2)
            .map(|d| u8::try_from(d[0] * 16 + d[1]).unwrap())
            .collect()
    }

    #[test]
    fn keys_that_java_serialized_are_read() {
        let found = deletes(&hex(KEYS)).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|d| (d.key.as_str(), d.partition.as_deref(), &d.ordering))
            .collect();
        let expected = [
            ("key1", Some("part=a"), &None),
            ("k2", Some(""), &None),
            ("é中", None, &None),
        ];
        assert_eq!(found, expected);
        let long = deletes(&hex(LONG)).unwrap();
        assert_eq!((long.len(), long[0].key.len()), (1, 80));
        assert_eq!(long[0].ordering, Some(vec![Scalar::Int(300)]));
    }

    #[test]
    fn records_that_java_serialized_are_read_with_their_ordering() {
        let found = deletes(&hex(RECORDS)).unwrap();
        let keys: Vec<&str> = found.iter().map(|d| d.key.as_str()).collect();
        assert_eq!(keys, ["key1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"]);
        assert!(
            found
                .iter()
                .all(|d| d.partition.as_deref() == Some("part=a"))
        );
        let one = |scalar| Some(vec![scalar]);
        let ordering: Vec<_> = found.into_iter().map(|d| d.ordering).collect();
        let expected = [
            None,
            None,
            one(Scalar::Int(5)),
            one(Scalar::Bytes(b"abc".to_vec())),
            one(Scalar::Float(2.5)),
            one(Scalar::Float(2.5)),
            one(Scalar::Decimal(i256::from_i128(1_500_000_000_000_000))),
            one(Scalar::Boolean(true)),
        ];
        assert_eq!(ordering, expected);
    }

    #[test]
    fn a_date_is_its_days_and_other_classes_are_refused_by_name() {
        let error = deletes(&hex(DATES)).unwrap_err();
        assert_eq!(
            (error.kind(), error.get("value")),
            (ErrorKind::Unsupported, Some("java.sql.Date"))
        );
        let end = DATES.find("01010101020105060104").unwrap();
        let alone = DATES[..end].replacen("bb0104", "bb0102", 1);
        assert_eq!(
            deletes(&hex(&alone)).unwrap()[0].ordering,
            Some(vec![Scalar::Int(19_782)])
        );
    }

    #[test]
    fn every_cut_and_every_flipped_byte_ends_well() {
        for text in [KEYS, RECORDS, LONG] {
            let bytes = hex(text);
            for cut in 0..bytes.len() {
                assert!(deletes(&bytes[..cut]).is_err(), "{cut}");
            }
            for at in 0..bytes.len() {
                for bit in 0..8 {
                    let mut flipped = bytes.clone();
                    flipped[at] ^= 1 << bit;
                    let _ = deletes(&flipped);
                }
            }
        }
    }
}
