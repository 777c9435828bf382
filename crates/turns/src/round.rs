//! A round: the calls of one answer of a model, run together. Results and directives keep the order of
//! the calls, whichever ended first.

use std::sync::Arc;

use tectum_core::{
    Call, Fault, FaultKind, Gate, Outcome, Prepared, Step, Tectum,
    security::{Access, RawPath},
};
use tokio::{sync::Semaphore, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::turn::{self, CallChecks, Stop, Turn};

/// The outcome of a round.
#[derive(Debug)]
pub struct RoundOutcome {
    /// The outcome of each call, in their order.
    pub outcomes: Vec<Outcome>,
    /// A note for the model besides the result, for each call.
    pub advice: Vec<Option<String>>,
    /// Why the turn ends here, if it does.
    pub stop: Option<Stop>,
}

/// A path that a call touches.
struct TouchedPath {
    name: String,
    changes: bool,
}

impl Turn {
    /// Runs the calls of a round: in parallel if they can be, one after the other if one changes what
    /// the other touches. Calls wait only for earlier ones, so there is no deadlock.
    pub async fn round(&mut self, house: &Tectum, calls: Vec<Call>) -> RoundOutcome {
        let tools = house.registry().snapshot();
        let gate = house.gate();
        let most = self.limits().calls;
        let free = Arc::new(Semaphore::new(self.limits().concurrency.max(1)));
        let checks = Arc::new(self.begin(&calls));
        let keys: Vec<Option<String>> = calls.iter().map(|call| turn::key(call, &tools)).collect();
        let (mut ends, mut places): (Vec<CancellationToken>, Vec<Vec<TouchedPath>>) =
            (Vec::new(), Vec::new());
        let mut running = JoinSet::new();
        for (i, call) in calls.into_iter().enumerate() {
            let prepared = if i < most {
                tools.find(&call.tool).and_then(|provider| provider.prepare(&call))
            } else {
                Err(too_many(most))
            };
            let own = prepared.as_ref().map(|prepared| touched_paths(prepared, &gate)).unwrap_or_default();
            let key = keys[i].clone();
            let before = (0..i).filter(|j| meet(&places[*j], &own) || key.is_some() && keys[*j] == key);
            let before: Vec<CancellationToken> = before.map(|j| ends[j].clone()).collect();
            let end = CancellationToken::new();
            places.push(own);
            ends.push(end.clone());
            let (house, tools, free) = (house.clone(), tools.clone(), free.clone());
            let step = Step { prepared, checks: Box::new(CallChecks { round: checks.clone(), key }) };
            running.spawn(async move {
                // However this call ends, those that wait for it go on.
                let _end = end.drop_guard();
                for other in before {
                    other.cancelled().await;
                }
                let place = free.acquire().await;
                let outcome = house.step(tools, call, step).await;
                drop(place);
                (i, outcome)
            });
        }
        let mut outcomes: Vec<(usize, Outcome)> = Vec::with_capacity(ends.len());
        while let Some(done) = running.join_next().await {
            outcomes.extend(done);
        }
        outcomes.sort_by_key(|(i, _)| *i);
        let outcomes: Vec<Outcome> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
        for outcome in &outcomes {
            house.effects().apply(outcome.call, &outcome.directives);
        }
        match Arc::try_unwrap(checks) {
            Ok(checks) => {
                let (stop, advice) = self.end(checks, &keys, &outcomes);
                RoundOutcome { outcomes, advice, stop }
            }
            // Every task has ended, so nobody else holds the checks.
            Err(_) => RoundOutcome { advice: outcomes.iter().map(|_| None).collect(), outcomes, stop: None },
        }
    }
}

fn too_many(most: usize) -> Fault {
    Fault::new(FaultKind::TooLarge, format!("an answer may make {most} calls, and this one comes after them"))
        .hint("make it in the next answer, if it is still needed")
}

fn touched_paths(prepared: &Prepared, gate: &Gate) -> Vec<TouchedPath> {
    let place = |(raw, access): &(RawPath, Access)| TouchedPath {
        name: gate.allowlist().subject(raw).unwrap_or_else(|| raw.as_str().to_owned()),
        changes: access.changes(),
    };
    prepared.wants.paths.iter().map(place).collect()
}

/// True if one call changes what the other touches.
fn meet(one: &[TouchedPath], other: &[TouchedPath]) -> bool {
    let holds = |outer: &str, inner: &str| {
        outer.is_empty()
            || outer == "."
            || inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    one.iter().any(|a| {
        other.iter().any(|b| (a.changes || b.changes) && (holds(&a.name, &b.name) || holds(&b.name, &a.name)))
    })
}

#[cfg(test)]
#[path = "round_tests.rs"]
mod tests;
