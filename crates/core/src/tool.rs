//! The contract of a native tool: one declaration, from which everything else is derived.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use tectum_security::{Access, RawPath, SafePath};
use tokio_util::sync::CancellationToken;

use crate::{CallId, Directive, Fault, FaultKind, Judgement, Progress, SessionId};

/// A tool that runs in this process. The doc comment on `Args` is what the model reads.
pub trait Tool: Send + Sync + 'static {
    /// The arguments of the tool.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;
    /// The output of the tool, as data.
    type Output: Serialize + JsonSchema + Send + 'static;
    /// The facts of the tool.
    const CARD: Card;
    /// The needs of a call with these arguments. It gets that and nothing else.
    fn wants(&self, args: &Self::Args) -> Wants;
    /// Runs the tool.
    fn call(
        &self,
        ctx: &Ctx,
        args: Self::Args,
    ) -> impl Future<Output = Result<Reply<Self::Output>, Fault>> + Send;
}

/// How a tool affects the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Reads only.
    Read,
    /// Adds, and removes nothing.
    Add,
    /// Changes or removes what was there.
    Change,
}

/// The world that a tool touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// The project's files.
    Project,
    /// Everything beyond: processes, the network.
    Open,
    /// Whatever a federated server reaches, with the judgement of its configuration if no rule matches.
    Peer(Judgement),
}

/// The role of a tool apart from calls of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRole {
    /// No other role.
    Usual,
    /// Every project needs it: it is listed even where only a few are.
    Basic,
    /// Basic, and its rules decide which files a model is shown besides its calls.
    Reader,
    /// A tool of another role does its work, or agents have one of their own: a short list leaves it out.
    Alias,
}

/// The facts of a tool that do not depend on a call.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// The name of the tool.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// How the tool affects the world.
    pub effect: Effect,
    /// The world it touches.
    pub world: World,
    /// True if a second identical call changes nothing more.
    pub idempotent: bool,
    /// The argument that permission rules are matched against.
    pub primary: &'static str,
    /// The deadline of a call.
    pub deadline: Duration,
    /// The most bytes of text a call may return.
    pub max_output: usize,
    /// The role of the tool apart from calls of it.
    pub role: ToolRole,
}

/// The subject of a call, for permission rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A path, matched by its one spelling below the primary base.
    Path(RawPath),
    /// Any other primary argument, as it came.
    Text(String),
    /// Several things that it does: each must be allowed.
    Parts(Vec<Part>),
    /// The tool has no primary argument.
    None,
}

/// One of several things that a call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The text that an allow rule has to match.
    pub text: String,
    /// How many bytes of the text are certain; the rest may become anything.
    pub certain: usize,
    /// Other names that deny and ask rules may know it by.
    pub also: Vec<String>,
    /// Why nobody can say what it does. Then only a rule that is this text, or is about everything,
    /// allows it.
    pub doubt: Option<String>,
}

impl Part {
    /// Names it behind a reason.
    pub(crate) fn about(&self) -> String {
        let doubt = self.doubt.iter().map(|doubt| format!(": {doubt}"));
        format!(", about `{}`{}", self.text, doubt.collect::<String>())
    }
}

/// The needs of a call: its subject and every path it will touch.
#[derive(Clone, Debug)]
pub struct Wants {
    /// The tool's one primary argument.
    pub subject: Subject,
    /// The paths, in an order the tool knows.
    pub paths: Vec<(RawPath, Access)>,
}

impl Wants {
    /// One path, which is also the subject.
    pub fn path(path: &RawPath, access: Access) -> Self {
        Self { subject: Subject::Path(path.clone()), paths: vec![(path.clone(), access)] }
    }
}

/// The capabilities of one call: exactly the paths it declared, in that order.
#[derive(Debug, Default)]
pub struct Grants {
    paths: Vec<SafePath>,
}

impl Grants {
    /// The capabilities that the gate opened.
    pub fn new(paths: Vec<SafePath>) -> Self {
        Self { paths }
    }

    /// All paths, in the order they were declared.
    pub fn paths(&self) -> &[SafePath] {
        &self.paths
    }
}

/// The context of a running tool: its call, its capabilities and its cancellation.
#[derive(Clone)]
pub struct Ctx {
    /// The id of the call.
    pub call: CallId,
    /// The conversation that the call belongs to.
    pub session: SessionId,
    /// Cancelled when the client disconnects; `None` if a disconnect cannot be detected.
    pub left: Option<CancellationToken>,
    /// The capabilities of the call.
    pub grants: Arc<Grants>,
    /// Cancelled when the caller left or the deadline passed.
    pub cancel: CancellationToken,
    /// The callback for progress.
    pub progress: Progress,
    /// The most bytes of text the tool may return.
    pub max_output: usize,
    /// True if blocking work runs on the calling thread.
    pub(crate) on_the_spot: bool,
    /// The flag that the call has begun to change something.
    pub(crate) change: ChangeBegun,
}

impl Ctx {
    /// The declared path with this index.
    pub fn path(&self, index: usize) -> Result<&SafePath, Fault> {
        let granted = self.grants.paths().get(index);
        granted.ok_or_else(|| Fault::internal("the tool asked for a path it did not declare"))
    }

    /// A fault if nobody waits for the work any more, so that long work can end early.
    pub fn check(&self) -> Result<(), Fault> {
        if self.cancel.is_cancelled() {
            return Err(Fault::new(FaultKind::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }

    /// The last point at which the call can be cancelled: from here on it changes something, and its
    /// outcome is awaited and recorded, even if the caller has left.
    pub fn begin_change(&self) -> Result<(), Fault> {
        self.check()?;
        if !self.change.begin() {
            return Err(Fault::new(FaultKind::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }

    /// Runs work that may block where it delays nobody: on the blocking pool of a server, on the
    /// calling thread in a process that runs one call and ends.
    pub async fn blocking<T, F>(&self, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    {
        if self.on_the_spot {
            return work(self);
        }
        let ctx = self.clone();
        match tokio::task::spawn_blocking(move || work(&ctx)).await {
            Ok(done) => done,
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(Fault::new(FaultKind::Cancelled, "the server is shutting down")),
            },
        }
    }
}

impl fmt::Debug for Ctx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx").field("call", &self.call).field("grants", &self.grants).finish_non_exhaustive()
    }
}

/// The flag that a call has begun to change something. Until then the call can be stopped without a
/// trace; from then on only its own end tells what happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangeBegun(Arc<AtomicU8>);

impl ChangeBegun {
    const OPEN: u8 = 0;
    const BEGUN: u8 = 1;
    const STOPPED: u8 = 2;

    /// Marks the change as begun. True if the call was not stopped before.
    pub(crate) fn begin(&self) -> bool {
        self.settle(Self::BEGUN)
    }

    /// Marks the call as stopped. True if the change had not begun before.
    pub(crate) fn stop(&self) -> bool {
        self.settle(Self::STOPPED)
    }

    fn settle(&self, to: u8) -> bool {
        let settled = self.0.compare_exchange(Self::OPEN, to, Ordering::SeqCst, Ordering::SeqCst);
        settled.is_ok() || settled == Err(to)
    }
}

/// The text of a reply.
#[derive(Debug)]
pub enum Text<T> {
    /// A text written for this reply.
    Said(String),
    /// A part of the output itself, moved out after the rest was serialized.
    Part(fn(T) -> String),
}

/// The reply of a tool.
#[derive(Debug)]
pub struct Reply<T> {
    /// The text for the model.
    pub text: Text<T>,
    /// The data for programs.
    pub output: T,
    /// The directives of the tool for the loop around it.
    pub directives: Vec<Directive>,
}

impl<T> Reply<T> {
    /// A reply of text and data, without directives.
    pub fn new(text: impl Into<String>, output: T) -> Self {
        Self { text: Text::Said(text.into()), output, directives: Vec::new() }
    }

    /// A reply of data, with a part of it as the text.
    pub fn showing(part: fn(T) -> String, output: T) -> Self {
        Self { text: Text::Part(part), output, directives: Vec::new() }
    }
}
