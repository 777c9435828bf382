//! A scratch project for the editing tools: its bytes before and after a call.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;
use tectum_core::{
    Fault, FaultKind, Gate, Rules, Snapshot, Tectum,
    security::{Allowlist, Durability},
};
use tectum_native::NativeSet;
use tectum_tools::{Settings, catalog};

use crate::files_rig::call;

/// A project, a state directory beside it, and the house over the project.
pub(crate) struct Desk {
    project: tempfile::TempDir,
    state: tempfile::TempDir,
    pub(crate) house: Tectum,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let (project, state) = (tempdir(), tempdir());
        let house = house(project.path(), Some(state.path().to_owned()));
        Self { project, state, house }
    }

    /// The same project after a restart of the process.
    pub(crate) fn restarted(&self) -> Tectum {
        house(self.root(), Some(self.state.path().to_owned()))
    }

    pub(crate) fn root(&self) -> &Path {
        self.project.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    #[expect(clippy::disallowed_methods, reason = "the test makes the files its tools change")]
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, bytes).expect("written");
    }

    /// The content of a file; `None` when it does not exist.
    #[expect(clippy::disallowed_methods, reason = "the test looks at what its tools changed")]
    pub(crate) fn get(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(name)).ok()
    }

    pub(crate) async fn call(&self, tool: &str, args: Value) -> Result<(String, Value), Fault> {
        call(&self.house, tool, args).await
    }

    /// A call that works: its text and data.
    #[track_caller]
    pub(crate) fn works(&self, tool: &str, args: Value) -> impl Future<Output = (String, Value)> {
        let place = std::panic::Location::caller();
        async move { self.call(tool, args).await.unwrap_or_else(|fault| panic!("{place}: {}", fault.text())) }
    }

    /// A call that fails in this way: its text.
    pub(crate) async fn fails(&self, tool: &str, args: Value, kind: FaultKind) -> String {
        let fault = self.call(tool, args).await.expect_err("refused");
        assert_eq!(fault.kind, kind, "{}", fault.text());
        fault.text()
    }
}

fn tempdir() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch directory")
}

/// The house over a directory. Nothing is synced to the disk: the tests survive no power cut.
pub(crate) fn house(root: &Path, state_dir: Option<PathBuf>) -> Tectum {
    let allowlist = Allowlist::builder().base(root).build().expect("opens");
    let settings = Settings {
        durability: Durability::Rename,
        state_dir,
        servers: crate::diagnostics::echo(root),
        beads_programs: false,
        ..Settings::default()
    };
    let tools = NativeSet::new(catalog(&settings));
    Tectum::new(Snapshot::of(&[Arc::new(tools)]), Gate::new(Rules::default(), Arc::new(allowlist)))
}
