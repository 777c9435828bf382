//! Files that change while a model knows them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tectum_core::{Origin, Rule, Rules, security::Allowlist};

use super::*;

struct Scene {
    sight: Sight,
    refresh: Refresh,
    root: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let sight = sight(&root, Rules::default());
        Self { sight, refresh: Refresh::default(), root }
    }

    #[expect(clippy::disallowed_methods, reason = "the test changes its own files")]
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.path().join(name);
        fs::write(&path, text).expect("written");
        path
    }

    #[expect(clippy::disallowed_methods, reason = "the test changes its own files")]
    fn remove(&self, path: &Path) {
        fs::remove_file(path).expect("removed");
    }

    fn track(&mut self, name: &str) {
        self.refresh.track(&self.sight, &RawPath::new(name));
    }

    fn changed(&mut self) -> Option<String> {
        self.refresh.changed(&self.sight.clone())
    }
}

fn sight(root: &tempfile::TempDir, rules: Rules) -> Sight {
    let allowlist = Allowlist::builder().base(root.path()).build().expect("opens");
    Sight::new(Arc::new(Gate::new(rules, Arc::new(allowlist))), Some("read_file".into()))
}

fn lines(count: usize, marked: usize) -> String {
    (0..count)
        .map(|i| if i == marked { "changed line\n".to_owned() } else { format!("line {i}\n") })
        .collect()
}

#[test]
fn nothing_changed_is_no_block() {
    let mut scene = Scene::new();
    assert_eq!(scene.changed(), None);
    scene.write("a.rs", "one\n");
    scene.track("a.rs");
    scene.track("./a.rs");
    assert_eq!((scene.refresh.len(), scene.changed()), (1, None));
    // Written again with the same text: another stamp, the same content.
    scene.write("a.rs", "one\n");
    assert_eq!(scene.changed(), None);
}

#[test]
fn a_short_file_is_told_whole_and_once() {
    let mut scene = Scene::new();
    scene.write("a.rs", "one\n");
    scene.track("a.rs");
    scene.write("a.rs", "two\n```\n");
    let block = scene.changed().expect("a block");
    assert!(block.starts_with(OPENS) && block.ends_with(CLOSES), "{block}");
    assert!(block.contains("### `a.rs` changed\n````rs\ntwo\n```\n````\n"), "{block}");
    assert_eq!(scene.changed(), None);
}

#[test]
fn a_long_file_is_told_as_a_diff_unless_most_of_it_changed() {
    let mut scene = Scene::new();
    scene.write("long.py", &lines(300, 999));
    scene.track("long.py");
    scene.write("long.py", &lines(300, 150));
    let block = scene.changed().expect("a block");
    assert!(block.contains("```diff\n--- long.py\n+++ long.py\n@@ -148,7 +148,7 @@\n"), "{block}");
    assert!(block.contains("-line 150\n+changed line\n") && !block.contains("line 100\n"), "{block}");
    let other: String = (0..300).map(|i| format!("other {i}\n")).collect();
    scene.write("long.py", &other);
    assert!(scene.changed().expect("a block").contains("```py\nother 0\n"));
}

#[test]
fn coming_and_going_are_named() {
    let mut scene = Scene::new();
    let path = scene.write("a", "x\n");
    scene.track("a");
    scene.track("later");
    assert_eq!(scene.refresh.len(), 2);
    scene.remove(&path);
    scene.write("later", "now\n");
    let block = scene.changed().expect("a block");
    assert!(block.contains("### `a` was deleted\n### `later` is new\n```\nnow\n```\n"), "{block}");
    scene.write("a", "back\n");
    assert!(scene.changed().expect("a block").contains("### `a` is new"));
}

#[test]
fn what_may_not_be_read_never_enters() {
    let mut scene = Scene::new();
    scene.write(".env", "SECRET=1\n");
    scene.write("plain", "x\n");
    for name in [".env", "../outside", "", "."] {
        scene.track(name);
    }
    assert!(scene.refresh.is_empty());
    scene.track("plain");
    // A later rule denies it, and nothing more is shown of it.
    scene.write("plain", "y\n");
    let deny = vec![Rule::parse("read_file(plain)", Origin { file: None, line: 0 }).expect("a rule")];
    let closed = sight(&scene.root, Rules { deny, ..Rules::default() });
    assert_eq!((scene.refresh.changed(&closed), scene.refresh.len()), (None, 0));
}

#[test]
fn blocks_are_bounded_and_say_so() {
    let mut scene = Scene::new();
    for i in 0..5 {
        scene.write(&format!("f{i}"), "x\n");
        scene.track(&format!("f{i}"));
    }
    for i in 0..5 {
        scene.write(&format!("f{i}"), &"ü\n".repeat(12_000));
    }
    let block = scene.changed().expect("a block");
    assert!(block.chars().count() < MOST_OF_BLOCK + 1_000, "{}", block.len());
    assert!(
        block.contains("(cut: ") && block.contains("Changed as well and not shown here: f2, f3, f4"),
        "{}",
        &block[block.len() - 300..]
    );
    scene.write("f0", "a\0b");
    assert!(scene.changed().expect("a block").contains("(it is no text)"));
}

#[test]
fn a_file_can_be_shown_from_the_beginning() {
    let mut scene = Scene::new();
    scene.write("a.rs", "one\n");
    scene.write(".env", "SECRET=1\n");
    let gate = scene.sight.clone();
    for (name, text, why_not) in [
        ("a.rs", "### `a.rs`\n```rs\none\n```\n", None),
        ("none", "### `none`\n(it is not there)\n", Some("it is not there")),
        (".env", "### `.env`\n(it is no file that may be read)\n", Some("it is no file that may be read")),
    ] {
        let shown = scene.refresh.show(&gate, &RawPath::new(name));
        assert_eq!((shown.text.as_str(), shown.why_not), (text, why_not));
    }
    scene.write("a.rs", "two\n");
    scene.write("none", "now\n");
    let block = scene.changed().expect("a block");
    assert!(block.contains("`a.rs` changed") && block.contains("`none` is new") && !block.contains("SECRET"));
}
