//! Pictures of calls: how many, how fast and how dear, over time and by tool.

use std::{collections::BTreeMap, io};

use axum::{Json, extract::State};
use serde::Deserialize;
use serde_json::{Value, json};
use tectum_journal::{
    index::{CallNumbers, Index},
    when,
};
use tectum_state::Moment;
use utoipa::IntoParams;

use super::{
    super::{hooked::Hooks, refusal::Refusal},
    query::{Wanted, stretch},
    records,
};

/// The parts of the time, if nobody says how many, and the most.
const USUAL: usize = 60;
const MOST: usize = 500;
/// The ends of the classes of duration, in milliseconds; the last one has none.
const UPPER_MS: [u64; 9] = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000];
/// What is told where nobody says since when: the last hour.
const AN_HOUR: u64 = 3_600_000_000;

/// Which calls, and how finely.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(in super::super) struct StatsWanted {
    /// Since when: `2h`, `yesterday`, `2026-11-17`; the last hour without it, or the whole session.
    since: Option<String>,
    /// Until when.
    until: Option<String>,
    /// The whole name of a session.
    session: Option<String>,
    /// The parts of the time, at most 500.
    buckets: Option<usize>,
}

/// Figures of calls over time and by tool
#[utoipa::path(get, path = "/api/console/stats", params(StatsWanted), responses(
    (status = 200, description = "The figures", body = Value),
    (status = 400, description = "A parameter cannot be read", body = super::super::refusal::Refused),
    (status = 409, description = "The journal cannot be read", body = super::super::refusal::Refused),
))]
pub(in super::super) async fn stats(
    State(hooks): State<Hooks>,
    Wanted(wanted): Wanted<StatsWanted>,
) -> Result<Json<Value>, Refusal> {
    let (from, to) = stretch(wanted.since.as_deref(), wanted.until.as_deref())?;
    let buckets = wanted.buckets.unwrap_or(USUAL).clamp(1, MOST);
    let now = Moment::micros(std::time::SystemTime::now());
    let told = records::ask(&hooks, move |index| {
        let session = wanted.session.as_deref().filter(|name| !name.is_empty());
        let row = match session {
            Some(name) => index.sessions_named(name)?.into_iter().find(|row| row.session == name),
            None => None,
        };
        let begin = row.as_ref().map_or_else(|| to.min(now).saturating_sub(AN_HOUR), |row| row.first);
        let end = row.as_ref().map_or(now, |row| row.last + 1);
        let (from, to) = (if from == 0 { begin } else { from }, to.min(end.max(from + 1)));
        figures(index, (from, to.max(from + 1)), session, buckets)
    });
    let none =
        || json!({ "series": [], "heat": { "at": [], "upper_ms": upper(), "counts": [] }, "tools": [] });
    Ok(Json(told.await?.unwrap_or_else(none)))
}

fn upper() -> Vec<Option<u64>> {
    UPPER_MS.iter().copied().map(Some).chain([None]).collect()
}

fn figures(
    index: &mut Index,
    (from, to): (u64, u64),
    session: Option<&str>,
    buckets: usize,
) -> io::Result<Value> {
    let calls = index.numbers(from, to, session)?;
    let names = index.tool_names()?;
    let buckets = buckets as u64;
    let width = (to - from).div_ceil(buckets).max(1);
    let mut rest = calls.as_slice();
    let (mut series, mut counts, mut at) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..buckets {
        let (begin, end) = (from + number * width, from + (number + 1) * width);
        let (these, later) = rest.split_at(rest.partition_point(|call| call.at < end));
        rest = later;
        let (begin, sum) = (when::rfc3339(begin), Sum::of(these));
        let mut classes = [0_u64; UPPER_MS.len() + 1];
        for call in these {
            classes[UPPER_MS.partition_point(|upper| upper * 1000 < call.took)] += 1;
        }
        let mut point = sum.told();
        point["at"] = json!(begin);
        series.push(point);
        counts.push(classes);
        at.push(begin);
    }
    let mut by_tool: BTreeMap<i64, Vec<CallNumbers>> = BTreeMap::new();
    calls.iter().for_each(|call| by_tool.entry(call.tool).or_default().push(*call));
    let mut tools: Vec<(usize, Value)> = by_tool
        .iter()
        .map(|(tool, calls)| {
            let mut told = Sum::of(calls).told();
            told["tool"] = json!(names.get(tool));
            (calls.len(), told)
        })
        .collect();
    tools.sort_by_key(|(calls, _)| std::cmp::Reverse(*calls));
    let tools: Vec<Value> = tools.into_iter().map(|(_, told)| told).collect();
    let heat = json!({ "at": at, "upper_ms": upper(), "counts": counts });
    Ok(json!({ "series": series, "heat": heat, "tools": tools }))
}

/// Sums of some calls.
#[derive(Debug, Default)]
pub(super) struct Sum {
    pub(super) calls: usize,
    pub(super) errors: usize,
    tokens_in: u64,
    tokens_out: u64,
    /// How long they took, the shortest first.
    took: Vec<u64>,
}

impl Sum {
    pub(super) fn of(calls: &[CallNumbers]) -> Self {
        let mut sum = Self { calls: calls.len(), ..Self::default() };
        for call in calls {
            sum.errors += usize::from(call.failed);
            sum.tokens_in += call.tokens_in;
            sum.tokens_out += call.tokens_out;
            sum.took.push(call.took);
        }
        sum.took.sort_unstable();
        sum
    }

    /// The duration that this part of a hundred does not exceed, in milliseconds.
    pub(super) fn percentile(&self, part: usize) -> Option<f64> {
        let at = (self.took.len() * part).div_ceil(100).saturating_sub(1);
        self.took.get(at).map(|took| *took as f64 / 1000.0)
    }

    fn told(&self) -> Value {
        json!({
            "calls": self.calls,
            "errors": self.errors,
            "p50_ms": self.percentile(50),
            "p99_ms": self.percentile(99),
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_those_that_were_measured() {
        let call =
            |took| CallNumbers { at: 0, took, failed: took > 98_000, tokens_in: 1, tokens_out: 2, tool: 1 };
        let calls: Vec<CallNumbers> = (1..=100).rev().map(|n| call(n * 1000)).collect();
        let sum = Sum::of(&calls);
        assert_eq!((sum.percentile(50), sum.percentile(99), sum.errors), (Some(50.0), Some(99.0), 2));
        assert_eq!(Sum::of(&[]).percentile(50), None);
        assert_eq!(Sum::of(&calls[..1]).percentile(99), Some(100.0));
    }
}
