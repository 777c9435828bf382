//! The records of the journal: calls, requests to the hook API, starts of processes, and gaps.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::twice;

/// One record: `{"call":{…}}`, `{"hook":{…}}`, `{"start":{…}}` or `{"gap":{…}}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A process began to write to this segment. The first record of a segment is one.
    Start(Start),
    /// A call ended.
    Call(Box<Entry>),
    /// A request to the hook API was answered.
    Hook(HookRequest),
    /// Calls ended that could not be recorded.
    Gap(Gap),
}

/// The start of a process, or of its next segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The time, in microseconds since 1970.
    pub at: u64,
    /// The id of the process's run, equal in all its segments.
    pub run: String,
    /// The number of the process.
    pub pid: u32,
    /// The command that was started, such as `serve`.
    pub command: String,
    /// The version of Tectum.
    pub version: String,
    /// The project's directory.
    pub directory: String,
    /// The segment that this one continues, by file name; its chain of hashes goes on here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
}

/// One call from its start to its end, with secrets hidden.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The id of the call. A change is taken back under the same id.
    pub id: String,
    /// The time when it began, in microseconds since 1970.
    pub began: u64,
    /// The duration in microseconds.
    pub took: u64,
    /// The conversation it belongs to; no two processes have the same.
    pub session: String,
    /// Who called.
    pub client: Client,
    /// The tool.
    pub tool: String,
    /// The server of a federated tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// How the call affects the world: `read`, `add` or `change`; `None` if it was refused before that
    /// was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// The arguments.
    pub args: Box<RawValue>,
    /// The verdict of the rules; `None` if the call was refused before them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The question to a person, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// The files and directories that it was allowed to touch, as it named them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The result or the fault.
    pub ending: Ending,
    /// The directives of the result, a JSON list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directives: Option<Box<RawValue>>,
    /// What held a command, as its result says: `full`, `off` and others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// The size of the arguments in bytes, as they came.
    pub bytes_in: u64,
    /// The size of the result in bytes, as it was.
    pub bytes_out: u64,
    /// An estimate of the arguments' tokens.
    pub tokens_in: u64,
    /// An estimate of the tokens of what a model reads of the result.
    pub tokens_out: u64,
}

/// Who called: the door, and the program that came through it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// The door: `stdio`, `http`, `cli`, `run`; the name of the conversation for others.
    pub door: String,
    /// The name that the program gave itself; empty if it gave none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The version that it gave.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
}

/// What the rules say of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// `allow`, `ask` or `deny`.
    pub judgement: String,
    /// The rule that decided, and where it is written.
    pub rule: String,
}

/// A question about a call, and its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Asked {
    /// The id of the question; `None` if nobody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who answered: `client` for the person behind the call, `session` for an earlier answer that is
    /// remembered, else the place where it was answered; `None` if nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// True if the call may run.
    pub approved: bool,
    /// The time from the question to its answer, in microseconds.
    pub waited: u64,
    /// The arguments that the call came with, if a person put others in their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<Box<RawValue>>,
}

/// How a call ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "WrittenEnding")]
pub enum Ending {
    /// One of our own tools succeeded.
    Native {
        /// The text for the model.
        text: String,
        /// The same as data.
        structured: Box<RawValue>,
    },
    /// A federated tool answered.
    Peer {
        /// The result as the server wrote it.
        json: Box<RawValue>,
        /// True if the result says that the tool failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
    /// The call failed or was refused.
    Fault(Failure),
    /// A result that is too large to be kept.
    Omitted {
        /// True if the result says that the tool failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
}

/// An ending as it stands in a record, where a text that is a string of the data stands only there.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenEnding {
    Native {
        #[serde(default)]
        text: String,
        /// The place of the text in the data.
        text_at: Option<[usize; 2]>,
        structured: Box<RawValue>,
    },
    Peer {
        json: Box<RawValue>,
        #[serde(default)]
        failed: bool,
    },
    Fault(Failure),
    Omitted {
        #[serde(default)]
        failed: bool,
    },
}

impl TryFrom<WrittenEnding> for Ending {
    type Error = String;

    fn try_from(written: WrittenEnding) -> Result<Self, String> {
        Ok(match written {
            WrittenEnding::Native { text, text_at, structured } => {
                let text = text_at.map_or(Ok(text), |at| twice::text(structured.get(), at))?;
                Self::Native { text, structured }
            }
            WrittenEnding::Peer { json, failed } => Self::Peer { json, failed },
            WrittenEnding::Fault(failure) => Self::Fault(failure),
            WrittenEnding::Omitted { failed } => Self::Omitted { failed },
        })
    }
}

impl Ending {
    /// True if the call failed, or if the tool says so in its result.
    pub fn failed(&self) -> bool {
        match self {
            Self::Native { .. } => false,
            Self::Peer { failed, .. } | Self::Omitted { failed } => *failed,
            Self::Fault(_) => true,
        }
    }
}

/// A fault, as it was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind, such as `not_found`.
    pub kind: String,
    /// What happened.
    pub message: String,
    /// What to try next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The underlying error, which was not told to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A request to the hook API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookRequest {
    /// The time, in microseconds since 1970.
    pub at: u64,
    /// The method, such as `GET`.
    pub method: String,
    /// The path and the query.
    pub path: String,
    /// The beginning of the body.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// The status of the answer.
    pub status: u16,
}

/// Calls of this process that ended and could not be recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The time of the first of them, in microseconds since 1970.
    pub since: u64,
    /// How many there were.
    pub calls: u64,
    /// The error of the disk.
    pub why: String,
}
