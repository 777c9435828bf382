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

use crate::{CallId, Directive, Fault, FaultKind, Judgement, Progress};

/// A tool that runs in this process. The doc comment on `Args` is what the model reads.
pub trait Tool: Send + Sync + 'static {
    /// What it takes.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;
    /// What it gives, as data.
    type Output: Serialize + JsonSchema + Send + 'static;
    /// Its facts.
    const CARD: Card;
    /// What it needs for these arguments. It gets that and nothing else.
    fn wants(&self, args: &Self::Args) -> Wants;
    /// Runs it.
    fn call(
        &self,
        ctx: &Ctx,
        args: Self::Args,
    ) -> impl Future<Output = Result<Reply<Self::Output>, Fault>> + Send;
}

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Looks only.
    Read,
    /// Adds, and takes nothing away.
    Add,
    /// Changes or removes what was there.
    Change,
}

/// Which world a tool touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// The project's files.
    Project,
    /// Everything beyond: processes, the network.
    Open,
    /// Whatever a federated server reaches; what its configuration says holds where no rule speaks.
    Peer(Judgement),
}

/// What the house uses a tool for beside calls of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRole {
    /// Nothing else.
    Usual,
    /// Every project needs it: it is listed even where only a few are.
    Basic,
    /// Basic, and the rules for it decide which files a model is shown beside its calls.
    Reader,
    /// A tool of another role does its work, or agents have one of their own: a short list leaves it out.
    Alias,
}

/// The facts of a tool that do not depend on a call.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    /// Which world.
    pub world: World,
    /// Whether a second identical call changes nothing more.
    pub idempotent: bool,
    /// The argument that permission rules are matched against.
    pub primary: &'static str,
    /// How long it may take.
    pub deadline: Duration,
    /// How many bytes of text it may give.
    pub max_output: usize,
    /// What it is used for beside calls of it.
    pub role: ToolRole,
}

/// What a call is about, for permission rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A path: matched in its one spelling below the primary base.
    Path(RawPath),
    /// Any other primary argument, as it came.
    Text(String),
    /// The tool has no primary argument.
    None,
}

/// What a call needs: its subject and every path it will touch.
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
    /// What the gate opened.
    pub fn new(paths: Vec<SafePath>) -> Self {
        Self { paths }
    }

    /// All of them, in the order they were declared.
    pub fn paths(&self) -> &[SafePath] {
        &self.paths
    }
}

/// What a running tool holds: its name, its capabilities and the way to be stopped.
#[derive(Clone)]
pub struct Ctx {
    /// This call.
    pub call: CallId,
    /// Its capabilities.
    pub grants: Arc<Grants>,
    /// Cancelled when the caller left or the deadline passed.
    pub cancel: CancellationToken,
    /// Where progress goes.
    pub progress: Progress,
    /// How many bytes of text may be given.
    pub max_output: usize,
    /// Whether blocking work is done on the spot.
    pub(crate) on_the_spot: bool,
    /// Whether it has begun to change something.
    pub(crate) change: ChangeBegun,
}

impl Ctx {
    /// The `index`th declared path.
    pub fn path(&self, index: usize) -> Result<&SafePath, Fault> {
        let granted = self.grants.paths().get(index);
        granted.ok_or_else(|| Fault::internal("the tool asked for a path it did not declare"))
    }

    /// Ends a long piece of work that nobody waits for any more.
    pub fn check(&self) -> Result<(), Fault> {
        if self.cancel.is_cancelled() {
            return Err(Fault::new(FaultKind::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }

    /// The last moment to be cancelled: from here on the call changes something, and its outcome
    /// is awaited and tells what came of it, whoever has left.
    pub fn begin_change(&self) -> Result<(), Fault> {
        self.check()?;
        if !self.change.begin() {
            return Err(Fault::new(FaultKind::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }

    /// Runs work that may block where it delays nobody: on the blocking pool of a server, on
    /// the spot in a process that runs one call and ends.
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

/// Whether a call has begun to change something. Until then it can be stopped without a trace;
/// from then on only its own end tells what happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangeBegun(Arc<AtomicU8>);

impl ChangeBegun {
    const OPEN: u8 = 0;
    const BEGUN: u8 = 1;
    const STOPPED: u8 = 2;

    /// True unless the call was stopped before.
    pub(crate) fn begin(&self) -> bool {
        self.settle(Self::BEGUN)
    }

    /// True unless the change began before.
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
    /// Written for the occasion.
    Said(String),
    /// A part of the output itself, moved out once the rest was written down.
    Part(fn(T) -> String),
}

/// What a tool gives.
#[derive(Debug)]
pub struct Reply<T> {
    /// For the model.
    pub text: Text<T>,
    /// For programs.
    pub output: T,
    /// What it asks of the loop around it.
    pub directives: Vec<Directive>,
}

impl<T> Reply<T> {
    /// Text and data, no requests.
    pub fn new(text: impl Into<String>, output: T) -> Self {
        Self { text: Text::Said(text.into()), output, directives: Vec::new() }
    }

    /// Data, with a part of it as the text.
    pub fn showing(part: fn(T) -> String, output: T) -> Self {
        Self { text: Text::Part(part), output, directives: Vec::new() }
    }
}
