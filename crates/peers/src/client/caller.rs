//! The client behind a call, as far as a federated server may need it.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tectum_core::CallId;

use super::{Conversation, Outbox, Pulse, TASKS, abilities, can};
use crate::{
    client_table::ClientFacts,
    lineage::{self, Lineage},
    operation::{Operation, TraceContext},
    spec::TIMEOUT,
    wire::{Era, Members, OWN_META, Object},
};

/// Levels of log messages, from the least to the most urgent.
pub(crate) const LEVELS: &[&str] =
    &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// How long before a client gives up it is answered, at least.
const LEAST_MARGIN: Duration = Duration::from_secs(5);

/// The client of one request.
#[derive(Debug)]
pub(crate) struct Caller {
    /// Its era.
    pub(crate) era: Era,
    /// Its side of the conversation; `None` for a call that came over no wire.
    pub(crate) client: Option<Arc<Conversation>>,
    /// Its capabilities, as it declared them.
    pub(crate) capabilities: Arc<str>,
    /// The request's metadata as it was written.
    pub(crate) meta: Option<Box<RawValue>>,
    /// Answers to what the server asked for last time.
    pub(crate) input: Option<Box<RawValue>>,
    /// The state that the server wants to see again with them.
    pub(crate) state: Option<String>,
    /// The token it wants progress under, as it was written.
    pub(crate) token: Option<String>,
    /// From which level on it wants to see log messages.
    pub(crate) level: Option<String>,
    /// The queue for messages of this call.
    pub(crate) outbox: Option<Outbox>,
    /// The call's progress, where its client wants to hear of it.
    pub(crate) pulse: Option<Arc<Pulse>>,
    /// The measurement of its request, if it is measured.
    pub(crate) operation: Option<Arc<dyn Operation>>,
    /// The task that its call began, by the id that the answer names.
    pub(crate) began: OnceLock<String>,
}

/// The clients behind calls that are on their way to a server, by call. There are no more than calls
/// in flight.
#[derive(Debug, Default)]
pub(crate) struct Callers(Mutex<HashMap<CallId, Arc<Caller>>>);

impl Callers {
    /// The client of a call that is about to begin.
    pub(crate) fn keep(&self, call: CallId, caller: Arc<Caller>) {
        self.0.lock().insert(call, caller);
    }

    /// The same, while it walks: a call may be prepared more than once.
    pub(crate) fn of(&self, call: CallId) -> Option<Arc<Caller>> {
        self.0.lock().get(&call).cloned()
    }

    /// The same, for the last time.
    pub(crate) fn take(&self, call: CallId) -> Option<Arc<Caller>> {
        self.0.lock().remove(&call)
    }
}

impl Default for Caller {
    /// Nobody who could be asked or told anything.
    fn default() -> Self {
        Self {
            era: Era::Legacy,
            client: None,
            capabilities: "{}".into(),
            meta: None,
            input: None,
            state: None,
            token: None,
            level: None,
            outbox: None,
            pulse: None,
            operation: None,
            began: OnceLock::new(),
        }
    }
}

impl Caller {
    /// Identifies the client among those that share a connection. A modern request over HTTP has a
    /// conversation of its own.
    pub(crate) fn key(&self) -> u64 {
        self.client.as_ref().map_or(0, |client| client.key())
    }

    /// Identifies the client over all its requests; `None` in the newer era, which has no sessions.
    pub(crate) fn session(&self) -> Option<u64> {
        (self.era == Era::Legacy).then(|| self.key())
    }

    /// The owner of a task that its request begins. Only the newer era has tasks.
    pub(crate) fn owner(&self) -> Option<u64> {
        self.client.as_ref().filter(|_| self.era == Era::Modern).map(|client| client.key())
    }

    /// What servers may ask it for: the part of its capabilities that a handshake passes on.
    pub(crate) fn abilities(&self) -> Arc<str> {
        match &self.client {
            // What a handshake said holds for all its calls.
            Some(client) if self.era == Era::Legacy => client.abilities(),
            _ => abilities(&self.capabilities),
        }
    }

    /// What it can do, as a server of the newer era is told. In the older era nobody can ask for
    /// a task by its id, so a client of that era knows no tasks whatever it says.
    pub(crate) fn declared(&self) -> Cow<'_, str> {
        let members = Members::of(&self.capabilities).filter(|_| self.era == Era::Legacy);
        let extensions = members.as_ref().and_then(|members| Members::of(members.get("extensions")?.get()));
        let (Some(members), Some(extensions)) = (members, extensions) else {
            return Cow::Borrowed(&*self.capabilities);
        };
        let others = Object::new().all(&extensions.keep(|name| name != TASKS)).end();
        let mut declared = Object::new();
        declared.all(&members.keep(|name| name != "extensions")).raw("extensions", &others);
        Cow::Owned(declared.end())
    }

    /// True when it said it can answer this question.
    pub(crate) fn can(&self, method: &str) -> bool {
        can(&self.capabilities, method)
    }

    /// How long its call may take until it has to be answered, since the client gives up soon after;
    /// `quiet` is how long the server may be silent.
    pub(crate) fn patience(&self, quiet: Duration) -> Option<Duration> {
        patience(self.client.as_ref()?.facts(), self.pulse.is_some(), quiet)
    }

    /// True when it wants log messages of this level.
    pub(crate) fn wants(&self, level: &str) -> bool {
        let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
        match &self.level {
            Some(least) => rank(level) >= rank(least),
            // Servers of the older era log as they see fit until they are told otherwise.
            None => self.era == Era::Legacy,
        }
    }

    /// The metadata that travels on: trace context and whatever else is not about this hop, and which
    /// houses the call passed through. A context of ours stands in the place of the one that came.
    pub(crate) fn travelling(&self, into: &mut Object, lineage: &Lineage, context: &TraceContext) {
        let members = self.meta.as_ref().and_then(|meta| Members::of(meta.get())).unwrap_or_default();
        let passed = members.get(lineage::KEY).map(RawValue::get);
        into.raw(lineage::KEY, &lineage.extended(passed));
        for (name, value) in context.fields() {
            into.text(name, value);
        }
        let replaced = |name: &str| context.fields().any(|(ours, _)| ours == name);
        let own = ["progressToken", "tectum/structured", lineage::KEY];
        let hop = |name: &str| name.starts_with(OWN_META) || own.contains(&name) || replaced(name);
        into.all(&members.keep(|name| !hop(name)));
    }

    /// Sends a note of this call. It waits a moment where the client is slow; for a client that does
    /// not read it is dropped and counted.
    pub(crate) async fn tell(&self, message: Vec<u8>) {
        if let Some(outbox) = &self.outbox {
            outbox.tell(message).await;
        }
    }
}

/// The longest that a call of such a client may take: a little less than the client waits. One that is kept
/// waiting by notes of progress waits as long as they come. Nobody knows how long an unknown client
/// waits, so somebody who gave a server more time than usual is believed.
fn patience(facts: &ClientFacts, told: bool, quiet: Duration) -> Option<Duration> {
    let unknown = facts == ClientFacts::unknown();
    if facts.progress && told || unknown && quiet > TIMEOUT {
        return None;
    }
    facts.patience.map(|patience| patience - (patience / 30).max(LEAST_MARGIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_ends_before_its_client_gives_up() {
        let facts = |name| ClientFacts::find(name, "1");
        let seconds = |name, told, quiet| {
            patience(facts(name), told, Duration::from_secs(quiet)).map(|patience| patience.as_secs())
        };
        assert_eq!(seconds("codex-mcp-client", true, 300), Some(290), "progress does not help there");
        assert_eq!(seconds("codex-mcp-client", false, 7200), Some(290));
        assert_eq!(seconds("opencode", false, 300), Some(55));
        assert_eq!(seconds("opencode", true, 300), None);
        assert_eq!(seconds("qwen-cli-mcp-client-x", false, 300), Some(290));
        assert_eq!(seconds("a program", false, 300), Some(55));
        assert_eq!(seconds("a program", false, 7200), None, "somebody said that calls take long there");
    }

    #[test]
    fn abilities_are_what_a_server_can_ask_for() {
        let declared = r#"{"x":1,"sampling":{},"roots":{"listChanged":true},"experimental":{}}"#;
        let caller = Caller { capabilities: declared.into(), ..Caller::default() };
        assert_eq!(&*caller.abilities(), r#"{"sampling":{},"roots":{"listChanged":true}}"#);
        assert!(caller.can("roots/list") && !caller.can("elicitation/create") && !caller.can("ping"));
    }

    #[test]
    fn tasks_are_declared_by_those_who_can_ask_for_them() {
        let declared = format!(r#"{{"extensions":{{"{TASKS}":{{}},"ui":{{}}}},"roots":{{}}}}"#);
        let caller = |era| Caller { era, capabilities: declared.as_str().into(), ..Caller::default() };
        assert_eq!(caller(Era::Modern).declared(), declared);
        assert_eq!(caller(Era::Legacy).declared(), r#"{"roots":{},"extensions":{"ui":{}}}"#);
        let plain = Caller { capabilities: r#"{"roots": {}}"#.into(), ..Caller::default() };
        assert_eq!(plain.declared(), r#"{"roots": {}}"#);
    }

    #[test]
    fn metadata_of_this_hop_stays_here() {
        let meta =
            r#"{"progressToken":1,"io.modelcontextprotocol/logLevel":"info","traceparent":"00-1","v":1.0}"#;
        let caller = Caller { meta: RawValue::from_string(meta.into()).ok(), ..Caller::default() };
        let mut object = Object::new();
        let lineage = Lineage::default();
        caller.travelling(&mut object, &lineage, &TraceContext::default());
        let own = lineage.extended(None);
        assert_eq!(object.end(), format!(r#"{{"tectum/lineage":{own},"traceparent":"00-1","v":1.0}}"#));
        let (mut object, parent) = (Object::new(), Some("00-2".to_owned()));
        caller.travelling(&mut object, &lineage, &TraceContext { parent, ..TraceContext::default() });
        assert_eq!(object.end(), format!(r#"{{"tectum/lineage":{own},"traceparent":"00-2","v":1.0}}"#));
    }

    #[test]
    fn logs_are_held_back_from_who_did_not_ask() {
        let caller =
            |era, level: Option<&str>| Caller { era, level: level.map(Into::into), ..Caller::default() };
        assert!(caller(Era::Legacy, None).wants("debug"));
        assert!(!caller(Era::Modern, None).wants("emergency"));
        assert!(caller(Era::Modern, Some("warning")).wants("error"));
        assert!(!caller(Era::Legacy, Some("warning")).wants("info"));
    }
}
