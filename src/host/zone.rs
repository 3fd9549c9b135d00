use crate::error::{Error, Result};

/// A time zone that can say its offset at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Zone {
    /// UTC.
    Utc,
    /// A fixed offset from UTC, in seconds east.
    Fixed(i32),
    /// A zone by its IANA name; the host knows its rules.
    Named(String),
    /// The zone the host itself runs in.
    Host,
}

impl Zone {
    /// Seconds that this zone's clocks are ahead of UTC at a moment (milliseconds since 1970).
    ///
    /// Errors: `InvalidArgument` for a moment that no clock shows, or a name that this host does not know.
    pub fn offset_seconds(&self, epoch_millis: i64) -> Result<i32> {
        if epoch_millis.unsigned_abs() > MAX_MILLIS {
            return Err(Error::invalid_argument("no clock shows this moment")
                .context("millis", epoch_millis));
        }
        match self {
            Self::Utc => Ok(0),
            Self::Fixed(seconds) => Ok(*seconds),
            Self::Named(name) => host::named(name, epoch_millis),
            Self::Host => host::own(epoch_millis),
        }
    }
}

/// The range of JavaScript's `Date`: 100 million days to either side.
const MAX_MILLIS: u64 = 8_640_000_000_000_000;

/// Reads a zone: `UTC`, `host`, an offset such as `+08:00`, or an IANA name that the host knows.
///
/// A native build knows no names; JavaScript's hosts know all.
pub fn zone(name: &str) -> Result<Zone> {
    match name {
        "UTC" | "Z" | "GMT" | "Etc/UTC" => return Ok(Zone::Utc),
        "host" => return Ok(Zone::Host),
        _ => {}
    }
    if name.starts_with(['+', '-']) {
        return match fixed(name) {
            Some(seconds) => Ok(Zone::Fixed(seconds)),
            None => Err(unknown(name)),
        };
    }
    host::named(name, 0)?;
    Ok(Zone::Named(name.to_owned()))
}

fn unknown(name: &str) -> Error {
    Error::invalid_argument("unknown time zone")
        .context("timezone", name)
        .context(
            "hint",
            "a name such as Europe/Rome, an offset such as +08:00, UTC or host",
        )
}

/// `+HH:MM`, `+HHMM` or `+HH` (or with a minus) as seconds east.
fn fixed(text: &str) -> Option<i32> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+')?),
    };
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some((hours, minutes)), 5) => (hours, minutes),
        (None, 4) => digits.split_at_checked(2)?,
        (None, 2) => (digits, "00"),
        _ => return None,
    };
    let number = |text: &str| match text.bytes().all(|b| b.is_ascii_digit()) && text.len() == 2 {
        true => text.parse::<i32>().ok(),
        false => None,
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

#[cfg(not(target_arch = "wasm32"))]
mod host {
    use chrono::{Local, Offset, TimeZone};

    use crate::error::Result;

    pub(super) fn named(name: &str, _: i64) -> Result<i32> {
        Err(super::unknown(name))
    }

    pub(super) fn own(epoch_millis: i64) -> Result<i32> {
        let moment = chrono::DateTime::from_timestamp_millis(epoch_millis);
        let moment = moment.ok_or_else(|| super::unknown("host"))?.naive_utc();
        Ok(Local
            .offset_from_utc_datetime(&moment)
            .fix()
            .local_minus_utc())
    }
}

#[cfg(target_arch = "wasm32")]
mod host {
    use js_sys::{Array, Date, Function, Object, Reflect};
    use wasm_bindgen::{JsCast, JsValue};

    use crate::error::Result;

    pub(super) fn own(epoch_millis: i64) -> Result<i32> {
        let date = Date::new(&JsValue::from_f64(epoch_millis as f64));
        // JavaScript counts minutes west.
        Ok((-date.get_timezone_offset() * 60.0) as i32)
    }

    pub(super) fn named(name: &str, epoch_millis: i64) -> Result<i32> {
        offset(name, epoch_millis).ok_or_else(|| super::unknown(name))
    }

    /// What the zone's clocks show, read as if it were UTC, less the moment. `None` when the host throws.
    fn offset(name: &str, epoch_millis: i64) -> Option<i32> {
        let intl = Reflect::get(&js_sys::global(), &"Intl".into()).ok()?;
        let class: Function = Reflect::get(&intl, &"DateTimeFormat".into())
            .ok()?
            .dyn_into()
            .ok()?;
        let options = Object::new();
        let fields = ["year", "month", "day", "hour", "minute", "second"];
        let mut settings = fields.map(|field| (field, "numeric")).to_vec();
        settings.extend([
            ("timeZone", name),
            ("hourCycle", "h23"),
            ("calendar", "gregory"),
            ("numberingSystem", "latn"),
            ("era", "short"),
        ]);
        for (key, value) in settings {
            Reflect::set(&options, &key.into(), &value.into()).ok()?;
        }
        let arguments = Array::of2(&"en-US".into(), &options);
        let format = Reflect::construct(&class, &arguments).ok()?;
        let to_parts: Function = Reflect::get(&format, &"formatToParts".into())
            .ok()?
            .dyn_into()
            .ok()?;
        let date = Date::new(&JsValue::from_f64(epoch_millis as f64));
        let parts = to_parts.call1(&format, &date).ok()?;
        let mut shown = fields.map(|_| 0_i64);
        let mut before_christ = false;
        for part in Array::from(&parts).iter() {
            let text = |key: &str| Reflect::get(&part, &key.into()).ok()?.as_string();
            let (kind, value) = (text("type")?, text("value")?);
            before_christ |= kind == "era" && value.starts_with('B');
            let place = fields.iter().position(|field| *field == kind);
            if let Some(slot) = place.and_then(|place| shown.get_mut(place)) {
                *slot = value.parse().ok()?;
            }
        }
        let [year, month, day, hour, minute, second] = shown;
        let year = if before_christ { 1 - year } else { year };
        let date = chrono::NaiveDate::from_ymd_opt(
            i32::try_from(year).ok()?,
            u32::try_from(month).ok()?,
            u32::try_from(day).ok()?,
        )?;
        let days = date
            .signed_duration_since(chrono::NaiveDate::default())
            .num_days();
        let shown = days * 86_400 + hour * 3600 + minute * 60 + second;
        i32::try_from(shown - epoch_millis.div_euclid(1000)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Option<Zone>) {
        assert_eq!(zone(name).ok(), expected, "{name}");
    }

    #[test]
    fn zones_are_utc_the_host_an_offset_or_a_name() {
        check("UTC", Some(Zone::Utc));
        check("Z", Some(Zone::Utc));
        check("host", Some(Zone::Host));
        check("+08:00", Some(Zone::Fixed(28_800)));
        check("-0330", Some(Zone::Fixed(-12_600)));
        check("+05", Some(Zone::Fixed(18_000)));
        for wrong in [
            "+8",
            "+8:00",
            "+25:00",
            "+08:60",
            "+08:0x",
            "+",
            "-",
            "+081",
            "+08:000",
            "Mars/Base",
            "",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn offsets_are_seconds_east() {
        assert_eq!(Zone::Utc.offset_seconds(0).expect("utc"), 0);
        assert_eq!(
            Zone::Fixed(-12_600).offset_seconds(1).expect("fixed"),
            -12_600
        );
        assert!(Zone::Host.offset_seconds(0).expect("host").abs() <= 14 * 3600);
        for moment in [i64::MIN, i64::MAX, 8_640_000_000_000_001] {
            assert!(Zone::Utc.offset_seconds(moment).is_err());
            assert!(Zone::Host.offset_seconds(moment).is_err());
        }
    }
}
