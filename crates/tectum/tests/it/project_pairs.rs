//! Pairs of files, the user's and the project's, drawn at random: whatever the project's file says, no
//! call passes, and nothing is shown, that the user's file alone refuses.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use proptest::{
    prelude::*,
    test_runner::{Config as Settings, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};
use serde_json::{Value, json};
use tectum::{Call, Config, Payload, SessionId, Sources, Tectum, core::Judgement};

/// Every file holds its own canary.
const FILES: &[&str] =
    &["top.txt", "docs/c.txt", "secrets/a.txt", "src/deep/e.txt", "src/d.txt", "vendor/b.txt"];
const FOLDERS: &[&str] = &[".", "docs", "secrets", "src", "src/deep", "vendor"];

/// Lists of each key that either file may hold.
const KEYS: &[(&str, &str, &[&str])] = &[
    (
        "workspace",
        "roots",
        &["[]", "['.']", "['src']", "['secrets']", "['src', '.']", "['src/deep', 'docs']"],
    ),
    ("workspace", "tracked", &["['secrets/a.txt']", "['docs/c.txt', 'top.txt']", "['src/linked.txt']"]),
    ("workspace", "deny", &["['secrets/**']", "['*.txt']", "['src/deep']", "['/docs/c.txt']", "['c.txt']"]),
    ("workspace", "read_only", &["['vendor/**']", "['src']", "['e.txt']"]),
    ("workspace", "symlinks", &["'never'", "'inside'"]),
    ("workspace", "tracked_opens", &["'file'", "'directory'"]),
    ("workspace", "break_hard_links", &["true", "false"]),
    ("permissions", "default", &["'allow'", "'ask'", "'deny'"]),
    ("permissions", "allow", &["['*']", "['read_*']", "['*(src/**)', 'diagnostics']", "['*(*)']"]),
    ("permissions", "ask", &["['*(secrets/**)']", "['write_*']", "['*(src/deep/*)']", "['*(a.txt)']"]),
    ("permissions", "deny", &["['*(secrets/**)']", "['delete_file']", "['*(deep/**)']", "['*(/*)']"]),
    ("tools", "native", &["true", "false"]),
    ("tools", "include", &["['read_*', 'search_*']", "['*']", "['*_file']"]),
    ("tools", "exclude", &["['write_file']", "['search_*']"]),
    ("files", "max_file", &["'2k'", "'1M'"]),
];

/// A file of settings, with the keys that a choice for each of them names.
fn text(chosen: &[Option<usize>], project: bool) -> String {
    let mut text = String::new();
    let mut section = "";
    for ((table, key, values), chosen) in KEYS.iter().zip(chosen) {
        let Some(value) = chosen.map(|n| values[n % values.len()]) else { continue };
        // These are refused at once in a project's file; there is nothing to compare.
        let loosest = ["'inside'", "'directory'", "'allow'"].contains(&value)
            || (*key == "break_hard_links" && value == "true");
        if project && loosest {
            continue;
        }
        if *table != section {
            text.push_str(&format!("[{table}]\n"));
            section = table;
        }
        text.push_str(&format!("{key} = {value}\n"));
    }
    text
}

struct Scene {
    scratch: tempfile::TempDir,
    project: PathBuf,
    runtime: tokio::runtime::Runtime,
}

impl Scene {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a directory");
        let project = scratch.path().canonicalize().expect("there").join("project");
        for file in FILES {
            let path = project.join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, format!("{}\n", canary(file))).expect("written");
        }
        std::fs::hard_link(project.join("secrets/a.txt"), project.join("src/linked.txt")).expect("linked");
        std::os::unix::fs::symlink("../docs", project.join("src/way")).expect("linked");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { scratch, project, runtime }
    }

    fn house(&self, user: &str, project: &str) -> Option<Tectum> {
        let user_file = self.scratch.path().join("user.toml");
        std::fs::write(&user_file, user).expect("written");
        std::fs::write(self.project.join("tectum.toml"), project).expect("written");
        let sources = Sources {
            directory: self.project.clone(),
            user_file: Some(user_file),
            state: Some(self.scratch.path().join("state")),
            ..Sources::default()
        };
        let config: Config =
            sources.load().unwrap_or_else(|problems| panic!("{problems}\n{user}\n{project}"));
        // A root that is not a directory stops the start, and then nothing passes.
        tectum::build_for_one_call(&config).ok()
    }

    fn shown(&self, house: &Tectum, tool: &str, args: Value) -> BTreeSet<String> {
        let raw = serde_json::value::to_raw_value(&args).expect("JSON");
        let outcome = self.runtime.block_on(house.call(Call::new(SessionId::new("it"), tool, raw)));
        let said = match outcome.result {
            Ok(Payload::Native(reply)) => reply.text,
            Ok(other) => panic!("{other:?}"),
            Err(_) => String::new(),
        };
        let canaries = FILES.iter().map(|file| canary(file)).filter(|canary| said.contains(canary));
        let names = FILES.iter().filter_map(|file| file.rsplit('/').next());
        let names = names.filter(|name| tool == "list_directory" && said.contains(*name));
        canaries.chain(names.map(str::to_owned)).collect()
    }
}

fn canary(file: &str) -> String {
    format!("canary-{}-", file.replace('/', "-"))
}

/// The judgement of a call; a tool that does not exist there is refused.
fn judged(house: &Tectum, tool: &str, args: &Value) -> Judgement {
    let raw = serde_json::value::to_raw_value(args).expect("JSON");
    let call = Call::new(SessionId::new("it"), tool, raw);
    let snapshot = house.registry().snapshot();
    let prepared = snapshot.find(tool).and_then(|provider| provider.prepare(&call));
    prepared.map_or(Judgement::Deny, |prepared| house.gate().explain(&call, &prepared).0)
}

fn compare(scene: &Scene, user: &str, project: &str) -> Result<u32, TestCaseError> {
    let Some(both) = scene.house(user, project) else { return Ok(0) };
    let Some(alone) = scene.house(user, "") else { return Ok(0) };
    let mut passed = 0;
    let start = both.gate().allowlist().primary().to_owned();
    let own_start = alone.gate().allowlist().primary().to_owned();
    let full = |path: &str, from: &Path| if path == "." { from.to_owned() } else { from.join(path) };
    let files = FILES.iter().chain(&["src/linked.txt", "src/way/c.txt", "new/file.txt"]);
    let names: Vec<&str> = files.chain(FOLDERS).copied().collect();
    for path in names {
        for typed in [scene.project.join(path).display().to_string(), path.to_owned()] {
            // A relative path starts where the project says; the user's word is about the same file.
            let meant = full(&typed, &start).display().to_string();
            for tool in ["read_file", "write_file", "delete_file", "list_directory", "diagnostics"] {
                let args = |path: &str| match tool {
                    "write_file" => json!({ "path": path, "content": "x" }),
                    "diagnostics" => json!({ "path": path }),
                    _ => json!({ "path": path }),
                };
                // With nested roots the spellings of a name may be judged by different ones of them, and
                // no link leads out of the innermost. What counts is the file.
                let here = Path::new(&meant).strip_prefix(&own_start).ok().and_then(Path::to_str);
                let real = std::fs::canonicalize(&meant).ok();
                let real = real.as_deref().and_then(Path::to_str);
                let spellings =
                    [Some(meant.as_str()), here, real].into_iter().flatten().filter(|name| !name.is_empty());
                let without = spellings.map(|name| judged(&alone, tool, &args(name))).min();
                let (with, without) =
                    (judged(&both, tool, &args(&typed)), without.unwrap_or(Judgement::Deny));
                prop_assert!(with >= without, "{tool} {typed}: {with} with both, {without} alone");
                passed += u32::from(with == Judgement::Allow);
            }
        }
    }
    for folder in FOLDERS {
        let path = full(folder, &scene.project).display().to_string();
        for (tool, args) in [
            ("search_content", json!({ "path": path, "pattern": "canary-" })),
            ("list_directory", json!({ "path": path })),
        ] {
            let with = scene.shown(&both, tool, args.clone());
            let without = scene.shown(&alone, tool, args);
            prop_assert!(with.is_subset(&without), "{tool} {folder} shows {with:?}, alone {without:?}");
        }
    }
    Ok(passed)
}

#[test]
fn soak_a_projects_file_never_lets_through_what_the_users_alone_refuses() {
    let long = std::env::var_os("TECTUM_SOAK").is_some();
    let cases = if long { 5_000 } else { 48 };
    let scene = Scene::new();
    let choice = || proptest::collection::vec(proptest::option::weighted(0.3, 0_usize..8), KEYS.len());
    let settings = Settings { cases, failure_persistence: None, ..Settings::default() };
    // An ordinary run draws the same pairs each time; a soak draws new ones.
    let mut runner = if long {
        TestRunner::new(settings)
    } else {
        TestRunner::new_with_rng(settings, TestRng::deterministic_rng(RngAlgorithm::default()))
    };
    let passed = std::cell::Cell::new(0);
    runner
        .run(&(choice(), choice()), |(user, project)| {
            let (user, project) = (text(&user, false), text(&project, true));
            let so_far = passed.get();
            passed.set(
                so_far
                    + compare(&scene, &user, &project).map_err(|error| {
                        TestCaseError::fail(format!("{error}\nuser:\n{user}\nproject:\n{project}"))
                    })?,
            );
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(passed.get() > 0, "nothing ever passed, so nothing was compared");
    println!(
        "soak: a project's file lets nothing through that the user's alone refuses | {cases} pairs of files, {} calls passed",
        passed.get()
    );
}
