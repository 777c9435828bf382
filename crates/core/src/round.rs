//! A round: the calls of one answer of a model, run together. Results and directives come in the
//! order of the calls, whatever ended first.

use std::sync::Arc;

use tokio::{sync::Semaphore, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    Call, Fault, FaultKind, Gate, Outcome, Prepared, Stop, Tectum, Turn,
    tectum::Way,
    turn::{self, Checks},
};

/// What came of a round.
#[derive(Debug)]
pub struct RoundOutcome {
    /// One for each call, in their order.
    pub outcomes: Vec<Outcome>,
    /// What the model should know beside the result, for each call.
    pub advice: Vec<Option<String>>,
    /// Why the turn ends here, if it does.
    pub stop: Option<Stop>,
}

/// A call on its way through a round.
pub(crate) struct Step {
    /// The call with its arguments parsed, or why they could not be.
    pub(crate) prepared: Result<Prepared, Fault>,
    /// What tells it from others, for tools that change something.
    pub(crate) key: Option<String>,
    /// What it is checked against.
    pub(crate) checks: Arc<Checks>,
}

/// A path that a call touches.
struct Place {
    name: String,
    changes: bool,
}

impl Tectum {
    /// Runs the calls of a round: together where they can be, one after the other where one changes
    /// what the other touches. No call waits for a later one, so none waits for ever.
    pub async fn round(&self, turn: &mut Turn, calls: Vec<Call>) -> RoundOutcome {
        let snapshot = self.registry().snapshot();
        let gate = self.gate();
        let most = turn.limits().calls;
        let free = Arc::new(Semaphore::new(turn.limits().concurrency.max(1)));
        let checks = Arc::new(turn.begin(&calls));
        let keys: Vec<Option<String>> = calls.iter().map(|call| turn::key(call, &snapshot)).collect();
        let (mut ends, mut places): (Vec<CancellationToken>, Vec<Vec<Place>>) = (Vec::new(), Vec::new());
        let mut running = JoinSet::new();
        for (i, call) in calls.into_iter().enumerate() {
            let prepared = match i < most {
                true => snapshot.find(&call.tool).and_then(|provider| provider.prepare(&call)),
                false => Err(too_many(most)),
            };
            let own = prepared.as_ref().map(|prepared| places_of(prepared, &gate)).unwrap_or_default();
            let key = keys[i].clone();
            let before = (0..i).filter(|j| meet(&places[*j], &own) || key.is_some() && keys[*j] == key);
            let before: Vec<CancellationToken> = before.map(|j| ends[j].clone()).collect();
            let end = CancellationToken::new();
            places.push(own);
            ends.push(end.clone());
            let (house, tools, free) = (self.clone(), snapshot.clone(), free.clone());
            let step = Step { prepared, key, checks: checks.clone() };
            running.spawn(async move {
                // However this ends, those behind it go on.
                let _end = end.drop_guard();
                for other in before {
                    other.cancelled().await;
                }
                let place = free.acquire().await;
                let outcome = house.run(call, tools, Way::Round(Box::new(step))).await;
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
            self.effects().apply(outcome.call, &outcome.directives);
        }
        match Arc::try_unwrap(checks) {
            Ok(checks) => {
                let (stop, advice) = turn.end(checks, &keys, &outcomes);
                RoundOutcome { outcomes, advice, stop }
            }
            // Every task has ended, so nobody else holds them.
            Err(_) => RoundOutcome { advice: outcomes.iter().map(|_| None).collect(), outcomes, stop: None },
        }
    }
}

fn too_many(most: usize) -> Fault {
    Fault::new(FaultKind::TooLarge, format!("an answer may make {most} calls, and this one comes after them"))
        .hint("make it in the next answer, if it is still needed")
}

fn places_of(prepared: &Prepared, gate: &Gate) -> Vec<Place> {
    let place = |(raw, access): &(tectum_security::RawPath, tectum_security::Access)| Place {
        name: gate.allowlist().subject(raw).unwrap_or_else(|| raw.as_str().to_owned()),
        changes: access.changes(),
    };
    prepared.wants.paths.iter().map(place).collect()
}

/// Whether one changes what the other touches.
fn meet(one: &[Place], other: &[Place]) -> bool {
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
