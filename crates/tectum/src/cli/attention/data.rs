//! Labelled streams as they lie in a folder: NAB's files, a week of outages, payloads of webhooks.

use std::path::Path;

use serde_json::Value;
use tectum::{Fault, FaultKind};
use tectum_attention::measure::{
    nab::Series,
    outages::{Important, Version},
};

use super::super::failure::Failure;

/// Series, and whether each is of half A.
pub(super) type Nab = (Vec<Series>, Vec<bool>);

/// A week: versions, what was important, and from when to when it is judged.
#[derive(Debug)]
pub(super) struct Week {
    pub(super) versions: Vec<Version>,
    pub(super) important: Vec<Important>,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// The text of a file, none if it is absent.
pub(super) fn text(path: &Path) -> Result<Option<String>, Failure> {
    let Some(bytes) = tectum_state::read(path).map_err(|error| wrong(path, &error.to_string()))? else {
        return Ok(None);
    };
    String::from_utf8(bytes).map(Some).map_err(|_| wrong(path, "this is no UTF-8"))
}

pub(super) fn wrong(path: &Path, why: &str) -> Failure {
    let fault = Fault::new(FaultKind::InvalidInput, format!("{}: {why}", path.display()));
    fault.hint("docs/attention.md says what a folder of labelled streams holds").into()
}

fn json(path: &Path) -> Result<Option<Value>, Failure> {
    let Some(text) = text(path)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| wrong(path, &error.to_string()))
}

/// Each line of a file as JSON.
pub(super) fn lines(path: &Path) -> Result<Option<Vec<Value>>, Failure> {
    let Some(text) = text(path)? else { return Ok(None) };
    let parsed = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(|(at, line)| {
        serde_json::from_str(line).map_err(|error| wrong(path, &format!("line {}: {error}", at + 1)))
    });
    parsed.collect::<Result<_, _>>().map(Some)
}

/// `nab/`: none if there is no such folder.
pub(super) fn nab(folder: &Path) -> Result<Option<Nab>, Failure> {
    let folder = folder.join("nab");
    let split = folder.join("split.json");
    let labels = folder.join("labels/combined_windows.json");
    let (Some(halves), Some(windows)) = (json(&split)?, json(&labels)?) else { return Ok(None) };
    let (mut series, mut in_a) = (Vec::new(), Vec::new());
    for half in ["A", "B"] {
        for name in halves[half].as_array().into_iter().flatten().filter_map(Value::as_str) {
            series.push(one(&folder.join("data").join(name), name, &windows[name], &labels)?);
            in_a.push(half == "A");
        }
    }
    if series.is_empty() {
        return Err(wrong(&split, "it names no series in \"A\" and \"B\""));
    }
    Ok(Some((series, in_a)))
}

fn one(path: &Path, name: &str, windows: &Value, labels: &Path) -> Result<Series, Failure> {
    let text = text(path)?.ok_or_else(|| wrong(path, "split.json names it, and it is not there"))?;
    let mut times = Vec::new();
    let mut rows = Vec::new();
    for (at, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
        let row = line
            .split_once(',')
            .and_then(|(time, value)| Some((time, (seconds(time)?, value.trim().parse::<f64>().ok()?))));
        let (time, row) =
            row.ok_or_else(|| wrong(path, &format!("line {} is no time and number", at + 1)))?;
        times.push(time);
        rows.push(row);
    }
    let row = |time: &Value| {
        let time = time.as_str()?.split('.').next()?;
        times.iter().position(|row| *row == time)
    };
    let window = |pair: &Value| {
        let bounds = row(&pair[0]).zip(row(&pair[1]));
        bounds.ok_or_else(|| wrong(labels, &format!("{name}: the window {pair} begins or ends at no row")))
    };
    let windows = windows.as_array().into_iter().flatten().map(window).collect::<Result<_, _>>()?;
    Ok(Series { name: name.to_owned(), rows, windows })
}

/// `2014-04-10 07:15:00` as seconds since the epoch.
fn seconds(text: &str) -> Option<f64> {
    let mut parts = text.split(['-', ' ', 'T', ':']).map(|part| part.parse::<f64>().ok());
    let mut next = || parts.next().flatten();
    let (year, month, day) = (next()?, next()?, next()?);
    let (hour, minute, second) = (next()?, next()?, next()?);
    // Days from a civil date, with years that begin in March.
    let (y, m) = if month <= 2.0 { (year - 1.0, month + 9.0) } else { (year, month - 3.0) };
    let days = (y * 365.25).floor() - (y / 100.0).floor()
        + (y / 400.0).floor()
        + ((153.0 * m + 2.0) / 5.0).floor()
        + day
        - 719_469.0;
    Some(days * 86_400.0 + hour * 3_600.0 + minute * 60.0 + second)
}

/// `upptime-week/`: none if there is no such folder.
pub(super) fn week(folder: &Path) -> Result<Option<Week>, Failure> {
    let folder = folder.join("upptime-week");
    let path = folder.join("changes.ndjson");
    let Some(changes) = lines(&path)? else { return Ok(None) };
    let important = lines(&folder.join("important.ndjson"))?.unwrap_or_default();
    let meta = json(&folder.join("meta.json"))?.unwrap_or_default();
    let versions: Vec<Version> = readings(&path, &changes)?;
    let (Some(first), Some(last)) = (versions.first(), versions.last()) else { return Ok(None) };
    let important = important.iter().filter_map(|line| {
        Some(Important {
            uri: line["uri"].as_str()?.to_owned(),
            from: line["from"].as_f64()?,
            to: line["to"].as_f64()?,
        })
    });
    Ok(Some(Week {
        from: meta["warmup_until"].as_f64().unwrap_or(first.at),
        to: last.at,
        important: important.collect(),
        versions,
    }))
}

/// Lines of `{t, uri, state}`, in the order of time.
pub(super) fn readings(path: &Path, lines: &[Value]) -> Result<Vec<Version>, Failure> {
    let version = |(at, line): (usize, &Value)| {
        let found = line["t"].as_f64().zip(line["uri"].as_str());
        let (t, uri) =
            found.ok_or_else(|| wrong(path, &format!("line {} has no \"t\" and \"uri\"", at + 1)))?;
        let state = line.get("state").filter(|state| !state.is_null()).cloned();
        Ok(Version { at: t, uri: uri.to_owned(), state })
    };
    let mut versions = lines.iter().enumerate().map(version).collect::<Result<Vec<_>, Failure>>()?;
    versions.sort_by(|a, b| a.at.total_cmp(&b.at));
    Ok(versions)
}

/// `octokit/`: none if there is no such folder.
pub(super) fn payloads(folder: &Path) -> Result<Option<Vec<(String, Value)>>, Failure> {
    let lines = lines(&folder.join("octokit/payloads.ndjson"))?;
    let named = |line: Value| {
        let name = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        (format!("{}.{}", name("event"), name("name")), line["payload"].clone())
    };
    Ok(lines.map(|lines| lines.into_iter().map(named).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_series() {
        for (text, expect) in [
            ("1970-01-01 00:00:00", 0.0),
            ("2014-04-10 07:15:00", 1_397_114_100.0),
            ("2000-02-29 23:59:59", 951_868_799.0),
        ] {
            assert_eq!(seconds(text), Some(expect), "{text}");
        }
        assert_eq!(seconds("yesterday"), None);
    }
}
