//! What surfaces hear of questions.

use std::sync::Arc;

use serde::Serialize;

use crate::OpenQuestion;

/// What happens to questions.
#[derive(Clone, Debug)]
pub enum DeskEvent {
    /// One was asked.
    Asked(Arc<OpenQuestion>),
    /// A person sees it, for the first time.
    Shown(Arc<str>),
    /// No answer is needed any more.
    Settled {
        /// Its id.
        id: Arc<str>,
        /// How it ended.
        how: HowSettled,
    },
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HowSettled {
    /// A person agreed.
    Approved,
    /// A person did not.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// There was nobody left to ask.
    Nobody,
    /// The call was cancelled, or nobody came back for it.
    Withdrawn,
}
