//! A question that waits for a person, with what one needs to decide.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Serialize, Serializer, ser::SerializeStruct as _};
use serde_json::{Value, value::RawValue};
use tectum_core::CallId;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How long a question waits for its answer once a person sees it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// How long a question may wait until a person sees it.
pub(crate) const UNSEEN: Duration = Duration::from_secs(15 * 60);

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionKind {
    /// A call that a rule asks about.
    Call,
    /// A question of a program, answered with any value.
    Ask,
    /// The next ticket of a track.
    Step,
    /// A worker that would be started.
    Spawn,
    /// A plan that was proposed.
    Plan,
}

/// The rule that asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleFact {
    /// The rule in words.
    pub text: String,
    /// The file it is written in.
    pub file: Option<PathBuf>,
    /// The line there, from 1.
    pub line: Option<usize>,
}

/// A path that a call would touch, as it was when the question was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathFact {
    /// Its true name.
    pub path: String,
    /// True if something was there.
    pub exists: bool,
    /// The hash of its content; of a directory, and of a very large file, what the system knows of it.
    pub hash: Option<String>,
}

/// What a call would do, made visible before it is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Preview {
    /// A change of files as a unified diff.
    Diff {
        /// The diff.
        text: String,
    },
    /// A command.
    Command {
        /// The command line.
        command: String,
        /// The directory it would run in.
        folder: String,
    },
    /// An address that would be fetched.
    Address {
        /// The address.
        url: String,
    },
    /// The whole definition of a server's tool.
    Definition {
        /// The server.
        server: String,
        /// The definition as the server wrote it.
        definition: Box<RawJson>,
    },
    /// Any other text.
    Text {
        /// The text.
        text: String,
    },
    /// Nothing beyond the arguments.
    #[default]
    None,
}

/// JSON that is passed on as it came.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct RawJson(pub Box<RawValue>);

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Eq for RawJson {}

/// What became of calls of the same tool on the same subject, as far as this house remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Before {
    /// How often a person said yes.
    pub approved: u64,
    /// How often a person said no.
    pub denied: u64,
    /// How often a call failed that was approved.
    pub failed: u64,
}

/// A question that waits for a person.
#[derive(Debug)]
pub struct OpenQuestion {
    /// The id to answer with.
    pub id: Arc<str>,
    /// What it is about.
    pub kind: QuestionKind,
    /// The session of the call.
    pub session: String,
    /// The program that calls, by the name it gave.
    pub client: String,
    /// The door it came through.
    pub caller: String,
    /// The tool.
    pub tool: String,
    /// The subject of the call.
    pub subject: String,
    /// The arguments as they came.
    pub arguments: Box<RawValue>,
    /// The digest of tool and arguments.
    pub digest: String,
    /// The rule that asks.
    pub rule: RuleFact,
    /// The paths the call would touch.
    pub paths: Vec<PathFact>,
    /// What the call would do.
    pub preview: Preview,
    /// What would hold a command.
    pub sandbox: Option<String>,
    /// What became of like calls.
    pub before: Before,
    /// Whatever else the one who asks wants to be shown.
    pub data: Value,
    /// The time it was asked.
    pub(crate) asked_at: u64,
    pub(crate) shown_at: OnceLock<u64>,
    pub(crate) first_shown: Notify,
    pub(crate) over: CancellationToken,
    /// How long it waits once it is shown, and until then.
    pub(crate) patience: (Duration, Duration),
    /// The digest of everything that a yes covers.
    pub(crate) binding: [u8; 32],
    /// What a yes could be remembered by.
    pub(crate) subjects: Vec<String>,
    /// How to allow such calls, for the refusal; empty if no rule asks.
    pub(crate) how_to_allow: String,
    /// True if a list's rule asks, so that no allow rule would help.
    pub(crate) by_rule: bool,
    /// The rule that would allow it.
    pub(crate) allow_rule: String,
    /// True if the client of the call shows it as well.
    pub(crate) at_client: bool,
}

impl OpenQuestion {
    /// A question with an id and a clock, and nothing else.
    pub fn blank(kind: QuestionKind) -> Self {
        let id = CallId::fresh().to_string().replacen('c', "q", 1);
        Self {
            id: id.into(),
            kind,
            session: String::new(),
            client: String::new(),
            caller: String::new(),
            tool: String::new(),
            subject: String::new(),
            arguments: Box::default(),
            digest: String::new(),
            rule: RuleFact::default(),
            paths: Vec::new(),
            preview: Preview::None,
            sandbox: None,
            before: Before::default(),
            data: Value::Null,
            asked_at: now(),
            shown_at: OnceLock::new(),
            first_shown: Notify::new(),
            over: CancellationToken::new(),
            patience: (PATIENCE, UNSEEN),
            binding: [0; 32],
            subjects: Vec::new(),
            how_to_allow: String::new(),
            by_rule: false,
            allow_rule: String::new(),
            at_client: false,
        }
    }

    /// Cancelled when no answer is needed any more.
    pub fn settled(&self) -> &CancellationToken {
        &self.over
    }

    /// The time until an answer counts, in milliseconds since 1970: from the first time it is shown, its
    /// own clock runs.
    pub fn expires_at(&self) -> u64 {
        let (shown, unseen) = self.patience;
        let (from, patience) = match self.shown_at.get() {
            Some(at) => (*at, shown),
            None => (self.asked_at, unseen),
        };
        from.saturating_add(u64::try_from(patience.as_millis()).unwrap_or(u64::MAX))
    }

    /// How to allow such calls without being asked again.
    pub fn how_to_allow(&self) -> &str {
        &self.how_to_allow
    }

    /// Starts its clock. True the first time.
    pub(crate) fn show(&self) -> bool {
        let first = self.shown_at.set(now()).is_ok();
        if first {
            self.first_shown.notify_waiters();
        }
        first
    }

    /// Ends when it has been shown.
    pub(crate) async fn is_shown(&self) {
        let seen = self.first_shown.notified();
        if self.shown_at.get().is_none() {
            seen.await;
        }
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Serialize for OpenQuestion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("OpenQuestion", 19)?;
        out.serialize_field("id", &self.id)?;
        out.serialize_field("kind", &self.kind)?;
        out.serialize_field("session", &self.session)?;
        out.serialize_field("client", &self.client)?;
        out.serialize_field("caller", &self.caller)?;
        out.serialize_field("tool", &self.tool)?;
        out.serialize_field("subject", &self.subject)?;
        out.serialize_field("arguments", &self.arguments)?;
        out.serialize_field("digest", &self.digest)?;
        out.serialize_field("rule", &self.rule)?;
        out.serialize_field("paths", &self.paths)?;
        out.serialize_field("preview", &self.preview)?;
        out.serialize_field("sandbox", &self.sandbox)?;
        out.serialize_field("before", &self.before)?;
        out.serialize_field("asked_at", &self.asked_at)?;
        out.serialize_field("shown_at", &self.shown_at.get())?;
        out.serialize_field("expires_at", &self.expires_at())?;
        out.serialize_field("data", &self.data)?;
        out.end()
    }
}
