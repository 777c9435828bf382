//! A turn's memory and limits, which keep a model from going round in circles. Every refusal says what
//! to do instead.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use globset::GlobSet;
use parking_lot::Mutex;
use serde_json::Value;
use tectum_core::{
    Call, CallId, Checks, Directive, Effect, Fault, FaultKind, Outcome, Payload, Snapshot, ToolName,
};

/// The limits of one turn: from a person's message to the model's last answer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most calls of one round that run at the same time.
    pub concurrency: usize,
    /// The most calls of one round.
    pub calls: usize,
    /// The most rounds of one turn.
    pub rounds: usize,
    /// Rounds in a row in which every call failed, after which the turn ends. Calls of one answer
    /// count once: the model has not seen their failures when it makes them.
    pub errors: usize,
    /// Repeated calls in a row after which the turn ends.
    pub repeats: usize,
    /// Rounds with one and the same tool after which the model is warned; two rounds later it is refused.
    pub same_tool: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { concurrency: 8, calls: 10, rounds: 15, errors: 3, repeats: 3, same_tool: 5 }
    }
}

/// The number of rounds between the warning about one tool and the refusal.
const GRACE: usize = 2;
/// The most bytes of a result that is kept for a repeated call.
const MOST_KEPT: usize = 256 * 1024;

/// Why a turn ends before the model is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A tool asked for it.
    Directive,
    /// It reached its limit of rounds.
    Rounds,
    /// Every call failed, round after round.
    Errors,
    /// The model repeats the same call.
    Repeats,
}

impl Stop {
    /// The reason, for the model and for people.
    pub fn message(self) -> &'static str {
        match self {
            Self::Directive => "a tool ended this turn",
            Self::Rounds => {
                "this turn had as many rounds of calls as it may; sum up what is done and what is left"
            }
            Self::Errors => {
                "every call failed for several rounds; explain what is wrong and ask how to go on"
            }
            Self::Repeats => {
                "the same call was made again and again; use its result, or explain what is missing"
            }
        }
    }
}

/// The state of one turn across its rounds.
#[derive(Debug)]
pub struct Turn {
    limits: Limits,
    rounds: usize,
    errors: usize,
    repeats: usize,
    same: Option<(ToolName, usize)>,
    memory: HashMap<String, Payload>,
    allowed: Option<(Arc<str>, GlobSet)>,
}

impl Turn {
    /// A new turn.
    pub fn new(limits: Limits) -> Self {
        Self { limits, rounds: 0, errors: 0, repeats: 0, same: None, memory: HashMap::new(), allowed: None }
    }

    /// Restricts the turn to the tools of a tier.
    pub fn hold_to(&mut self, tier: impl Into<Arc<str>>, tools: GlobSet) {
        self.allowed = Some((tier.into(), tools));
    }

    /// The limits of the turn.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The number of rounds so far.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Begins a round and returns the checks for its calls.
    pub(crate) fn begin(&mut self, calls: &[Call]) -> RoundChecks {
        self.rounds += 1;
        let first = calls.first().map(|call| &call.tool);
        let one = first.filter(|first| calls.iter().all(|call| call.tool == **first));
        self.same = match (one, self.same.take()) {
            (Some(tool), Some((last, times))) if *tool == last => Some((last, times + 1)),
            (Some(tool), _) => Some((tool.clone(), 1)),
            (None, _) => None,
        };
        RoundChecks {
            same: self.same.clone(),
            most_same: self.limits.same_tool,
            memory: Mutex::new(std::mem::take(&mut self.memory)),
            repeated: Mutex::default(),
            allowed: self.allowed.clone(),
        }
    }

    /// Ends a round: remembers its results, and returns why the turn ends, if it does, and a note for
    /// the model about each call.
    pub(crate) fn end(
        &mut self,
        checks: RoundChecks,
        keys: &[Option<String>],
        outcomes: &[Outcome],
    ) -> (Option<Stop>, Vec<Option<String>>) {
        let repeated = checks.repeated.into_inner();
        let mut memory = checks.memory.into_inner();
        let mut done = HashMap::new();
        let mut advice = Vec::with_capacity(outcomes.len());
        let mut stop = None;
        let failed = !outcomes.is_empty() && outcomes.iter().all(Outcome::failed);
        self.errors = if failed { self.errors + 1 } else { 0 };
        if self.errors >= self.limits.errors {
            stop = Some(Stop::Errors);
        }
        for (outcome, key) in outcomes.iter().zip(keys) {
            let again = repeated.contains(&outcome.call);
            self.repeats = if again { self.repeats + 1 } else { 0 };
            if self.repeats >= self.limits.repeats {
                stop = stop.or(Some(Stop::Repeats));
            }
            advice.push(again.then(|| REPEATED.to_owned()).or_else(|| self.warning()));
            // A failed call may be tried again.
            if let (false, false, Some(key), Ok(payload)) = (again, outcome.failed(), key, &outcome.result)
                && payload.size() <= MOST_KEPT
            {
                done.insert(key.clone(), payload.clone());
            }
        }
        // A change makes older results stale: the same call may now have another result.
        if !done.is_empty() {
            memory = done;
        }
        self.memory = memory;
        if outcomes.iter().any(|outcome| outcome.directives.contains(&Directive::StopProcessing)) {
            stop = Some(Stop::Directive);
        }
        if self.rounds >= self.limits.rounds {
            stop = stop.or(Some(Stop::Rounds));
        }
        (stop, advice)
    }

    fn warning(&self) -> Option<String> {
        let (tool, times) = self.same.as_ref()?;
        (*times >= self.limits.same_tool).then(|| {
            format!(
                "{tool} alone was called in {times} rounds; after {} it is refused. Step back: use another tool, or say what you know",
                self.limits.same_tool + GRACE - 1
            )
        })
    }
}

const REPEATED: &str = "this call was made before and nothing has changed since; this is its result from then. Do something else";

/// The checks for the calls of one round.
#[derive(Debug)]
pub(crate) struct RoundChecks {
    same: Option<(ToolName, usize)>,
    most_same: usize,
    memory: Mutex<HashMap<String, Payload>>,
    repeated: Mutex<HashSet<CallId>>,
    allowed: Option<(Arc<str>, GlobSet)>,
}

impl RoundChecks {
    /// The first check, since it costs nothing: refuses a tool that alone was called round after round.
    fn spiral(&self, call: &Call) -> Result<(), Fault> {
        match &self.same {
            Some((tool, times)) if *tool == call.tool && *times >= self.most_same + GRACE => Err(Fault::new(
                FaultKind::Conflict,
                format!("{tool} was called round after round, {times} times now"),
            )
            .hint("use another tool, or answer with what you know")),
            _ => Ok(()),
        }
    }

    /// Refuses a tool that the tier may not use.
    fn tier(&self, call: &Call) -> Result<(), Fault> {
        match &self.allowed {
            Some((tier, tools)) if !tools.is_match(&*call.tool) => Err(Fault::new(
                FaultKind::Permission,
                format!("{} is not a tool of the tier `{tier}`", call.tool),
            )
            .hint("use a tool of this tier, or hand over to another one")),
            _ => Ok(()),
        }
    }

    /// The result of the same call, if it was made before.
    fn known(&self, call: &Call, key: &str) -> Option<Payload> {
        let known = self.memory.lock().get(key).cloned()?;
        self.repeated.lock().insert(call.id);
        Some(known)
    }

    /// Remembers the result of a call, also for one that repeats it in the same round.
    fn note(&self, key: &str, payload: &Payload) {
        self.memory.lock().insert(key.to_owned(), payload.clone());
    }
}

/// The checks for one call.
pub(crate) struct CallChecks {
    pub(crate) round: Arc<RoundChecks>,
    /// The key that identifies a repeated call, for tools that change something.
    pub(crate) key: Option<String>,
}

impl Checks for CallChecks {
    fn first(&self, call: &Call) -> Result<(), Fault> {
        self.round.spiral(call)
    }

    fn behind_gate(&self, call: &Call) -> Result<Option<Payload>, Fault> {
        self.round.tier(call)?;
        Ok(self.key.as_deref().and_then(|key| self.round.known(call, key)))
    }

    fn done(&self, payload: &Payload) {
        if let Some(key) = &self.key {
            self.round.note(key, payload);
        }
    }
}

/// The key that identifies a call: its tool and its arguments, in any order. `None` for tools that
/// only read, since repeating those is fine.
pub(crate) fn key(call: &Call, tools: &Snapshot) -> Option<String> {
    let info = tools.tool(&call.tool)?;
    if info.effect == Effect::Read || info.server.as_ref().is_some_and(|server| server.reads) {
        return None;
    }
    let args = match serde_json::from_str::<Value>(call.args.get()) {
        Ok(mut args) => {
            args.sort_all_objects();
            args.to_string()
        }
        Err(_) => call.args.get().to_owned(),
    };
    Some(format!("{}:{args}", call.tool))
}
