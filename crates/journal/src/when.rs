//! Times as people write them: `2h`, `yesterday`, `2026-11-17`, `2026-11-17 08:30`.

use chrono::{DateTime, Days, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeZone as _};

/// What can be written, for an error's hint.
pub const FORMS: &str =
    "write a time as 30m, 2h, 3d, today, yesterday, 2026-11-17, 2026-11-17T08:30 or 08:30";

/// A stretch of time, in microseconds since 1970: from the first, before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first microsecond.
    pub from: u64,
    /// The first microsecond behind it.
    pub to: u64,
}

/// The stretch that a text names: a whole day, a whole minute, or from some time ago until now. `None` if
/// it names none.
pub fn span(text: &str, now: DateTime<Local>) -> Option<Span> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.trim_end_matches(" ago").trim();
    let day = |date: NaiveDate| {
        Some(Span {
            from: micros(date.and_time(NaiveTime::MIN))?,
            to: micros(date.checked_add_days(Days::new(1))?.and_time(NaiveTime::MIN))?,
        })
    };
    match text {
        "now" => return Some(Span { from: number(now), to: number(now) }),
        "today" => return day(now.date_naive()),
        "yesterday" => return day(now.date_naive().checked_sub_days(Days::new(1))?),
        _ => {}
    }
    if let Some(ago) = ago(text) {
        return Some(Span { from: number(now).saturating_sub(ago), to: number(now) });
    }
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return day(date);
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(&text.to_ascii_uppercase()) {
        let from = number(time.with_timezone(&Local));
        return Some(Span { from, to: from + 1 });
    }
    let exact = |form: &str, length: u64| {
        let from = micros(NaiveDateTime::parse_from_str(text, form).ok()?)?;
        Some(Span { from, to: from + length })
    };
    let minute = ["%Y-%m-%dt%H:%M", "%Y-%m-%d %H:%M"].iter().find_map(|form| exact(form, 60_000_000));
    let second = ["%Y-%m-%dt%H:%M:%S", "%Y-%m-%d %H:%M:%S"].iter().find_map(|form| exact(form, 1_000_000));
    minute.or(second).or_else(|| {
        let time = NaiveTime::parse_from_str(text, "%H:%M").ok()?;
        let from = micros(now.date_naive().and_time(time))?;
        Some(Span { from, to: from + 60_000_000 })
    })
}

/// The same as of now.
pub fn span_now(text: &str) -> Option<Span> {
    span(text, Local::now())
}

/// A moment as people read it, in the time of their place.
pub fn shown(micros: u64) -> String {
    local(micros).format("%Y-%m-%d %H:%M:%S").to_string()
}

/// The same for narrow places, without the year and the seconds.
pub fn short(micros: u64) -> String {
    local(micros).format("%m-%d %H:%M").to_string()
}

/// The same as programs read it.
pub fn rfc3339(micros: u64) -> String {
    let time = DateTime::from_timestamp_micros(i64::try_from(micros).unwrap_or(i64::MAX)).unwrap_or_default();
    time.to_rfc3339_opts(chrono::SecondsFormat::Micros, true)
}

/// The time of the day.
pub fn clock(micros: u64) -> String {
    local(micros).format("%H:%M:%S").to_string()
}

fn local(micros: u64) -> DateTime<Local> {
    let time = DateTime::from_timestamp_micros(i64::try_from(micros).unwrap_or(i64::MAX)).unwrap_or_default();
    time.with_timezone(&Local)
}

/// How long ago, in microseconds: a number with s, m, h, d or w.
fn ago(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(split);
    let seconds = match unit.trim() {
        "s" | "sec" | "second" | "seconds" => 1,
        "m" | "min" | "minute" | "minutes" => 60,
        "h" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 86_400,
        "w" | "week" | "weeks" => 7 * 86_400,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(seconds * 1_000_000)
}

/// A time of this place; the earlier one where a clock was set back, the next one where it was set forward.
fn micros(time: NaiveDateTime) -> Option<u64> {
    let place = |time: NaiveDateTime| Local.from_local_datetime(&time).earliest();
    let found = place(time).or_else(|| place(time + chrono::TimeDelta::hours(1)))?;
    Some(number(found))
}

fn number(time: DateTime<Local>) -> u64 {
    u64::try_from(time.timestamp_micros()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    fn now() -> DateTime<Local> {
        Local.with_ymd_and_hms(2026, 11, 18, 9, 30, 0).earliest().expect("a time")
    }

    #[track_caller]
    fn length(text: &str, expect: u64) -> Span {
        let span = span(text, now()).expect(text);
        assert_eq!(span.to - span.from, expect * SECOND, "{text}");
        span
    }

    #[test]
    fn people_write_times_in_many_ways() {
        assert_eq!(length("2h", 7200).to, number(now()));
        assert_eq!(length("2 hours ago", 7200), length("2h", 7200));
        length("30m", 1800);
        length("3d", 3 * 86_400);
        length("08:15", 60);
        length("2026-11-17T08:30", 60);
        length("2026-11-17 08:30:05", 1);
        let (yesterday, date) = (length("Yesterday", 86_400), length("2026-11-17", 86_400));
        assert_eq!(yesterday, date);
        assert_eq!(yesterday.to, length("today", 86_400).from);
        assert_eq!(span("2026-11-17T08:30:00Z", now()).expect("read").from % SECOND, 0);
        for wrong in ["", "h", "soon", "2026-13-01", "99999999999999999999d", "25:00"] {
            assert_eq!(span(wrong, now()), None, "{wrong}");
        }
    }

    #[test]
    fn programs_read_utc() {
        assert_eq!(rfc3339(1_795_000_000_000_001), "2026-11-18T11:06:40.000001Z");
    }
}
