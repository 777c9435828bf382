//! The subjects of the hook API: the running tools, servers, observers and policy, and what it keeps itself.

use std::{
    fmt,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use tectum_approval::Desk;
use tectum_attend::Attention;
use tectum_core::{Fault, Tectum};
use tectum_journal::Writer;
use tectum_native::NativeSet;
use tectum_peers::{federation::Federation, observe::Observers};
use tectum_tools::runtime::{Runtime, UiFigures};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::{
    board::Board,
    calls::Flight,
    console::{Console, HostField},
    events::Bus,
    facts::HouseFacts,
    sign_ins::SignIns,
    sources::{self, Ends},
};
use crate::{Config, Sources, reload, telemetry::HouseTelemetry};

/// Tells the settings in effect.
pub(crate) type ShownSettings = Box<dyn Fn() -> Value + Send + Sync>;

/// The settings in effect, and where they come from; `None` while there are none that are valid.
pub(crate) type HouseSetup = Box<dyn Fn() -> Option<(Sources, Config)> + Send + Sync>;

/// The house that the hook API tells of, and where it keeps things.
pub(crate) struct HookParts {
    pub(crate) house: Tectum,
    pub(crate) federation: Arc<Federation>,
    pub(crate) observers: Option<Arc<Observers>>,
    pub(crate) journal: Option<Writer>,
    pub(crate) attention: Option<Attention>,
    pub(crate) journal_folder: Option<PathBuf>,
    pub(crate) policy: reload::Shared,
    pub(crate) telemetry: HouseTelemetry,
    pub(crate) runtime: Runtime,
    /// The user's state, where the approver's credential is.
    pub(crate) state: Option<PathBuf>,
    pub(crate) settings: ShownSettings,
    pub(crate) setup: HouseSetup,
    /// All our own tools, offered or not.
    pub(crate) native: Arc<NativeSet>,
    pub(crate) facts: HouseFacts,
}

/// The hook API of a house. Clones are the same one.
///
/// A host with a user interface attaches its figures and its fields:
///
/// ```ignore
/// let hooks = household.hooks();
/// hooks.attach_monitor(|| Some(UiFigures { fps: 60.0, frame_time_ms: 16.6, cpu_percent: 3.0, input_lag_ms: 8.0 }));
/// hooks.attach_field("ai_input", |reply| ui_thread.read("ai_input", reply), |value| ui_thread.write("ai_input", value)).await?;
/// ```
#[derive(Clone)]
pub struct Hooks(Arc<Hooked>);

struct Hooked {
    parts: HookParts,
    desk: Arc<Desk>,
    bus: Arc<Bus>,
    console: Console,
    sign_ins: SignIns,
    board: OnceLock<Board>,
    openapi: OnceLock<Value>,
    /// Made by the first request: a house that nobody asks does nothing for it.
    awake: OnceLock<Awake>,
    /// Tasks that end with the API.
    tasks: Mutex<Vec<Ends>>,
    closing: CancellationToken,
}

#[derive(Debug)]
struct Awake {
    flight: Flight,
    _telling: [Ends; 4],
}

impl Hooks {
    /// The API of this house. What is asked of it is recorded where calls are.
    pub(crate) fn new(parts: HookParts) -> Self {
        Self(Arc::new(Hooked {
            desk: Desk::of(&parts.house),
            parts,
            bus: Arc::default(),
            console: Console::default(),
            sign_ins: SignIns::default(),
            board: OnceLock::new(),
            openapi: OnceLock::new(),
            awake: OnceLock::new(),
            tasks: Mutex::default(),
            closing: CancellationToken::new(),
        }))
    }

    /// From now on a user interface is asked for its figures, for `/api/performance` and for the tool
    /// `get_ui_performance`; `None` means that it has none now. It is asked where an answer is waited for
    /// and must not wait itself.
    pub fn attach_monitor(&self, figures: impl Fn() -> Option<UiFigures> + Send + Sync + 'static) {
        self.runtime().attach(figures);
    }

    /// A field of a user interface can be read and set under this name from now on. Neither function may
    /// wait: `get` is given where to send the value, and whoever asked waits for that up to 60 s.
    pub async fn attach_field(
        &self,
        name: impl Into<String>,
        get: impl Fn(oneshot::Sender<Value>) + Send + Sync + 'static,
        set: impl Fn(Value) + Send + Sync + 'static,
    ) -> Result<(), Fault> {
        let (name, field) = (name.into(), HostField { get: Arc::new(get), set: Arc::new(set) });
        self.console().with(move |state| state.attach(name, field)).await
    }

    /// Shows the state of orchestration, which is written elsewhere. Only the first counts. Must be called in
    /// a runtime.
    pub fn attach_board<S: Serialize + Send + Sync + 'static>(&self, board: watch::Receiver<S>) {
        if self.0.board.set(Board::of(board.clone())).is_ok() {
            self.0.tasks.lock().push(sources::board(self.0.bus.clone(), board));
        }
    }

    /// Says where the console's page is served. The first address counts.
    pub fn listens_at(&self, address: SocketAddr) {
        self.0.sign_ins.listens_at(address);
    }

    /// The address of the console's page with a code to sign in, which works once; `None` where the page is
    /// not served, or where nobody could sign in because there is no place for the approver's credential.
    pub fn console_link(&self) -> Option<String> {
        self.state()?;
        self.0.sign_ins.link().ok().flatten()
    }

    /// Ends the streams of events, so that a listener that closes does not wait for their readers.
    pub fn close(&self) {
        self.0.closing.cancel();
    }

    pub(super) fn house(&self) -> &Tectum {
        &self.0.parts.house
    }

    /// What it is from its start on.
    pub(super) fn facts(&self) -> &HouseFacts {
        &self.0.parts.facts
    }

    pub(crate) fn desk(&self) -> &Arc<Desk> {
        &self.0.desk
    }

    /// The user's state.
    pub(super) fn state(&self) -> Option<PathBuf> {
        self.0.parts.state.clone()
    }

    pub(super) fn federation(&self) -> &Federation {
        &self.0.parts.federation
    }

    pub(super) fn observers(&self) -> Option<&Observers> {
        self.0.parts.observers.as_deref()
    }

    /// The news, if this house has attention.
    pub(super) fn attention(&self) -> Option<&Attention> {
        self.0.parts.attention.as_ref()
    }

    pub(super) fn journal(&self) -> Option<&Writer> {
        self.0.parts.journal.as_ref()
    }

    pub(super) fn journal_folder(&self) -> Option<PathBuf> {
        self.0.parts.journal_folder.clone()
    }

    pub(super) fn policy(&self) -> &reload::Shared {
        &self.0.parts.policy
    }

    pub(super) fn telemetry(&self) -> &HouseTelemetry {
        &self.0.parts.telemetry
    }

    pub(super) fn runtime(&self) -> &Runtime {
        &self.0.parts.runtime
    }

    /// The settings in effect. Files may be read.
    pub(super) fn settings(&self) -> Value {
        (self.0.parts.settings)()
    }

    /// The settings in effect, and where they come from. Files may be read.
    pub(super) fn setup(&self) -> Result<(Sources, Config), Fault> {
        (self.0.parts.setup)().ok_or_else(|| {
            Fault::conflict("there are no valid settings").hint("`tectum config check` says what is wrong")
        })
    }

    pub(super) fn native(&self) -> &NativeSet {
        &self.0.parts.native
    }

    pub(super) fn bus(&self) -> &Arc<Bus> {
        &self.0.bus
    }

    pub(super) fn console(&self) -> &Console {
        &self.0.console
    }

    pub(super) fn sign_ins(&self) -> &SignIns {
        &self.0.sign_ins
    }

    pub(super) fn board(&self) -> Option<&Board> {
        self.0.board.get()
    }

    pub(super) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// The description of the routes, which whoever makes them brings along.
    pub(super) fn openapi(&self) -> &Value {
        self.0.openapi.get().unwrap_or(&Value::Null)
    }

    /// Keeps the description of the routes; all routers of a house have the same.
    pub(super) fn describe(&self, openapi: impl FnOnce() -> Value) {
        self.0.openapi.get_or_init(openapi);
    }

    /// The calls in flight. The first who asks begins to watch them.
    pub(super) fn flight(&self) -> &Flight {
        let Hooked { parts, bus, .. } = &*self.0;
        let awake = self.0.awake.get_or_init(|| Awake {
            flight: Flight::watching(&parts.house, bus.clone(), parts.journal.clone()),
            _telling: [
                sources::servers(bus.clone(), parts.federation.clone(), parts.policy.clone()),
                sources::contents(bus.clone(), &parts.house),
                sources::questions(bus.clone(), self.0.desk.clone()),
                sources::news(bus.clone(), parts.attention.clone()),
            ],
        });
        &awake.flight
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}
