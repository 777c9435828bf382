//! A scratch project behind the real house, for the file tools.

use std::{path::Path, sync::Arc};

use serde_json::{Value, value::RawValue};
use tectum_core::{Call, Fault, Gate, Payload, Rules, SessionId, Snapshot, Tectum, security::Allowlist};
use tectum_native::NativeSet;
use tectum_tools::{Settings, catalog};

/// A project and the house over it.
pub(crate) struct Rig {
    dir: tempfile::TempDir,
    pub(crate) house: Tectum,
}

impl Rig {
    /// An empty project.
    pub(crate) fn new() -> Self {
        Self::set(&Settings::default())
    }

    /// An empty project whose tools have these settings.
    pub(crate) fn set(settings: &Settings) -> Self {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let house = house_with(dir.path(), settings);
        Self { dir, house }
    }

    /// A project with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let rig = Self::new();
        for (path, content) in files {
            rig.write(path, content);
        }
        rig
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    #[expect(clippy::disallowed_methods, reason = "the test makes the files its tools look at")]
    pub(crate) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, content).expect("written");
    }

    #[expect(clippy::disallowed_methods, reason = "the test takes its own files away")]
    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.root().join(path)).expect("removed");
    }

    /// Calls a tool; what it gives must fit its published schema.
    pub(crate) async fn call(&self, tool: &str, args: Value) -> Result<(String, Value), Fault> {
        call(&self.house, tool, args).await
    }

    /// The text of a call that works.
    pub(crate) async fn text(&self, tool: &str, args: Value) -> String {
        self.call(tool, args).await.expect("the call works").0
    }

    /// The data of a call that works.
    pub(crate) async fn data(&self, tool: &str, args: Value) -> Value {
        self.call(tool, args).await.expect("the call works").1
    }

    /// The error text of a call that fails.
    pub(crate) async fn error(&self, tool: &str, args: Value) -> String {
        self.call(tool, args).await.expect_err("the call fails").text()
    }
}

/// The house over a directory.
pub(crate) fn house(root: &Path) -> Tectum {
    house_with(root, &Settings::default())
}

fn house_with(root: &Path, settings: &Settings) -> Tectum {
    let allowlist = Allowlist::builder().base(root).build().expect("opens");
    let tools = NativeSet::new(catalog(settings));
    Tectum::new(Snapshot::of(&[Arc::new(tools)]), Gate::new(Rules::default(), Arc::new(allowlist)))
}

/// One call in a house.
pub(crate) async fn call(house: &Tectum, tool: &str, args: Value) -> Result<(String, Value), Fault> {
    let raw = RawValue::from_string(args.to_string()).expect("JSON");
    let outcome = house.call(Call::new(SessionId::new("test"), tool, raw)).await;
    let Payload::Native(reply) = outcome.result? else { panic!("a native tool") };
    let data: Value = serde_json::from_str(&reply.structured).expect("JSON");
    let snapshot = house.registry().snapshot();
    let schema = snapshot.tool(tool).expect("known").output_schema.clone().expect("a schema");
    let validator = jsonschema::validator_for(&schema.value()).expect("a good schema");
    if let Some(error) = validator.iter_errors(&data).next() {
        panic!("{tool}: {error} at {}", error.instance_path());
    }
    Ok((reply.text, data))
}

/// Runs a program of the system that a test needs beside the tools.
#[expect(clippy::disallowed_methods, reason = "the test sets its scene; no tool starts this")]
pub(crate) fn run(program: &str, args: &[&str], directory: &Path) -> String {
    let output =
        std::process::Command::new(program).args(args).current_dir(directory).output().expect(program);
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Makes a named pipe.
pub(crate) fn mkfifo(path: &Path) {
    run("mkfifo", &[path.to_str().expect("UTF-8")], Path::new("/"));
    assert!(path.exists());
}
