//! Moments as our files have them: RFC 3339, ours in UTC with milliseconds.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A moment, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(i64);

impl Moment {
    /// The present one.
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// The one that is this many microseconds after the beginning of 1970.
    pub fn from_micros(micros: u64) -> Self {
        Self(i64::try_from(micros / 1000).unwrap_or(i64::MAX))
    }

    /// The microseconds since the beginning of 1970.
    pub fn micros(time: SystemTime) -> u64 {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    }

    /// As names of files have it: `20261118_044000`.
    pub fn for_name(self) -> String {
        let text = self.to_string().replace(['-', ':'], "").replace('T', "_");
        text.split('.').next().unwrap_or_default().to_owned()
    }

    /// Reads `2026-11-18T04:40:00.123+01:00` and what it leaves out; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = |range: std::ops::Range<usize>| {
            let part = text.get(range).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))?;
            part.parse::<i64>().ok()
        };
        let sign = |at: usize, signs: &[u8]| text.as_bytes().get(at).is_some_and(|byte| signs.contains(byte));
        let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
        let (hour, minute, second) = (digits(11..13)?, digits(14..16)?, digits(17..19)?);
        let whole = sign(4, b"-") && sign(7, b"-") && sign(10, b"Tt ") && sign(13, b":") && sign(16, b":");
        let fits = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60;
        if !whole || !fits || second > 60 {
            return None;
        }
        let rest = text.get(19..)?;
        let fraction = rest.strip_prefix('.').unwrap_or_default();
        let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
        let zone = if fraction.is_empty() { rest } else { &fraction[length..] };
        let millis = format!("{:0<3}", &fraction[..length.min(3)]).parse::<i64>().ok()?;
        let zone = match zone.as_bytes() {
            b"Z" | b"z" => 0,
            [sign @ (b'+' | b'-'), rest @ ..] => {
                let rest = std::str::from_utf8(rest).ok()?;
                let (hours, minutes) = rest.split_once(':')?;
                let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
                if *sign == b'-' { -minutes } else { minutes }
            }
            _ => return None,
        };
        let seconds = ((hour * 60 + minute - zone) * 60) + second;
        Some(Self(days(year, month, day) * DAY + seconds * 1000 + millis))
    }

    /// The time from it to `now`, in words.
    pub fn age(self, now: Self) -> String {
        let minutes = (now.0 - self.0).max(0) / 60_000;
        let (count, what) = match minutes {
            0..60 => (minutes, "minute"),
            60..2880 => (minutes / 60, "hour"),
            _ => (minutes / 1440, "day"),
        };
        format!("{count} {what}{}", if count == 1 { "" } else { "s" })
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (days, of_day) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let (year, month, day) = date(days);
        let (seconds, millis) = (of_day / 1000, of_day % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Days since 1970 of a date. Years begin in March here, so that a leap day is a year's last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date of a number of days since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_named_to_the_second() {
        assert_eq!(Moment::from_micros(1_794_976_800_123_456).for_name(), "20261118_044000");
        assert_eq!(Moment::micros(UNIX_EPOCH + std::time::Duration::from_micros(7)), 7);
    }

    #[test]
    fn moments_are_read_and_written() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00.5Z", 951_825_600_500),
            ("2026-11-18T05:40:00.123456789+01:00", 1_794_976_800_123),
            ("2026-11-17T23:10:00-05:30", 1_794_976_800_000),
        ] {
            assert_eq!(Moment::parse(text), Some(Moment(millis)), "{text}");
        }
        for text in
            ["", "soon", "2026-11-18", "2026-13-18T05:40:00Z", "2026-11-18T05:40:00", "2026-11-18T05:40:00+x"]
        {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
        for days in (-200_000..200_000).step_by(97) {
            let moment = Moment(days * DAY + 3_723_004);
            assert_eq!(Moment::parse(&moment.to_string()), Some(moment));
        }
    }
}
