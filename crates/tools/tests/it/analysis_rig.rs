//! A scratch repository behind the real house, for what looks at git.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use tectum_core::{Fault, Gate, Origin, Rule, Rules, Snapshot, Tectum, security::Allowlist};
use tectum_native::NativeSet;
use tectum_tools::{GitSettings, Settings, catalog};

use crate::files_rig::{call, run};

/// A repository and the house over a directory of it.
pub(crate) struct Repo {
    scratch: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) house: Tectum,
}

impl Repo {
    /// An empty repository, all of it reachable.
    pub(crate) fn new() -> Self {
        Self::at("repo", "repo")
    }

    /// A repository in one directory, and a house over another one.
    pub(crate) fn at(repository: &str, base: &str) -> Self {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let top = scratch.path().canonicalize().expect("its true name");
        for folder in [repository, base] {
            make(&top.join(folder));
        }
        let house = house(&top.join(base), &["get_git_diff"], &[]);
        let repo = Self { root: top.join(repository), house, scratch };
        repo.git(&["init", "-q", "-b", "main", "."]);
        repo
    }

    /// A repository with these files in its first commit.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let repo = Self::new();
        for (path, content) in files {
            repo.write(path, content);
        }
        repo.commit("first");
        repo
    }

    pub(crate) fn top(&self) -> PathBuf {
        self.scratch.path().canonicalize().expect("its true name")
    }

    #[expect(clippy::disallowed_methods, reason = "the test makes the files git compares")]
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        make(path.parent().expect("a parent"));
        std::fs::write(path, content).expect("written");
    }

    #[expect(clippy::disallowed_methods, reason = "the test takes its own files away")]
    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.root.join(path)).expect("removed");
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
        run("git", &[&who[..], args].concat(), &self.root)
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    pub(crate) async fn call(&self, args: Value) -> Result<(String, Value), Fault> {
        call(&self.house, "get_git_diff", args).await
    }

    /// The text of a call that works.
    pub(crate) async fn diff(&self, args: Value) -> String {
        self.call(args).await.expect("the call works").0
    }

    /// The error text of a call that fails.
    pub(crate) async fn error(&self, args: Value) -> String {
        self.call(args).await.expect_err("the call fails").text()
    }

    /// The whole repository against its last commit.
    pub(crate) async fn all(&self) -> String {
        self.diff(json!({"path": "."})).await
    }
}

#[expect(clippy::disallowed_methods, reason = "the test makes the directories it works in")]
pub(crate) fn make(folder: &Path) {
    std::fs::create_dir_all(folder).expect("made");
}

/// A house with permission rules; tools that start programs ask otherwise.
pub(crate) fn house(base: &Path, allow: &[&str], deny: &[&str]) -> Tectum {
    house_with(base, allow, deny, GitSettings::default())
}

/// The same, with what the user allows git.
pub(crate) fn house_with(base: &Path, allow: &[&str], deny: &[&str], git: GitSettings) -> Tectum {
    let list = |texts: &[&str]| {
        let parse = |text: &&str| Rule::parse(text, Origin { file: None, line: 0 }).expect("a rule");
        texts.iter().map(parse).collect()
    };
    let rules = Rules { allow: list(allow), deny: list(deny), ..Rules::default() };
    let allowlist = Allowlist::builder().base(base).build().expect("opens");
    let tools = NativeSet::new(catalog(&Settings { git, ..Settings::default() }));
    Tectum::new(Snapshot::of(&[Arc::new(tools)]), Gate::new(rules, Arc::new(allowlist)))
}
