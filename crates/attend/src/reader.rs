//! Who is told: a model behind a session, and the clients that hooks speak for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The model behind a session; a client may have several, each in a thread of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReaderKey(Arc<str>);

/// What stands between the session and the thread.
const THREAD: char = '\n';
/// What the key of a model begins with that has made no call yet.
const HOOK: &str = "hook:";

impl ReaderKey {
    /// The model of this session and thread; the thread is empty where the client names none.
    pub fn new(session: &str, thread: &str) -> Self {
        if thread.is_empty() {
            Self(session.into())
        } else {
            Self(format!("{session}{THREAD}{thread}").into())
        }
    }

    /// A model that is known by its client's hooks alone.
    pub(crate) fn of_hook(client: &str, hook_session: &str) -> Self {
        Self(format!("{HOOK}{client}:{hook_session}").into())
    }

    /// True if it is known by its client's hooks alone.
    pub(crate) fn is_of_hook(&self) -> bool {
        self.0.starts_with(HOOK)
    }

    /// The session it belongs to.
    pub fn session(&self) -> &str {
        self.0.split(THREAD).next().unwrap_or_default()
    }
}

/// A model that was met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reader {
    /// Its key.
    pub key: ReaderKey,
    /// The name of its client.
    pub client: String,
    /// When it was met.
    pub since: f64,
    /// When it was heard of last.
    pub last: f64,
    /// The session in its client's own words, where one of its hooks was heard.
    pub hook_session: Option<String>,
}

/// Whom a piece of news concerns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Audience {
    /// Every model.
    #[default]
    All,
    /// The models of these sessions.
    Sessions(Vec<String>),
}

impl Audience {
    pub(crate) fn includes(&self, reader: &ReaderKey) -> bool {
        match self {
            Self::All => true,
            Self::Sessions(sessions) => sessions.iter().any(|session| reader.session() == session),
        }
    }
}
