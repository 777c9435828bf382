//! A process beside the house that swaps folders for links, while every tool works beneath
//! them: nothing is given from outside, nothing is changed outside.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tectum_core::{Gate, Judgement, Origin, Rules, Tectum, security::Allowlist};

use crate::{
    code_calls,
    edit_rig::house,
    files_rig::{call, run},
};

/// How long the attack lasts, for all tools together.
const LASTS: Duration = Duration::from_secs(6);
/// Stands in every file outside, and in the name of some.
const CANARY: &str = "canary-5b1f0c";
/// Folders that change places with a link to the like-named folder outside.
const SWAPPED: &[&str] = &["sub", "sub/deep", "sub/deep/down"];
/// How the calls spell them.
const CALLED: &[&str] = &["sub", "sub/deep", "sub/deep/down", "sub/../sub/deep", "./sub/deep/down/.."];
/// Takes the place of the newest undo id.
const UNDO: &str = "(undo)";

/// The calls that work one tool in a folder, on a file of its own there; `None` for a tool
/// that is not known here. A tool that takes no path has no calls.
pub(crate) fn calls(tool: &str, folder: &str) -> Option<Vec<(&'static str, Value)>> {
    let file = format!("{folder}/{tool}.txt");
    let other = format!("{folder}/{tool}.other");
    let edit = |from: &str, to: &str| json!({"path": file, "old_string": from, "new_string": to});
    Some(match tool {
        "read_file" => vec![("read_file", json!({"path": file}))],
        "get_file_slice" => vec![("get_file_slice", json!({"path": file, "start_line": 1, "end_line": 1}))],
        "list_directory" => vec![("list_directory", json!({"path": folder}))],
        "get_tree" => vec![("get_tree", json!({"path": folder, "max_depth": 4}))],
        "search_files" => vec![("search_files", json!({"path": folder, "pattern": "**"}))],
        "search_content" => vec![("search_content", json!({"path": folder, "pattern": "."}))],
        "create_slice" => vec![("create_slice", json!({"path": file, "start_line": 1, "end_line": 1}))],
        "resolve_slice" => {
            let slice = json!({"start_line": 1, "end_line": 1, "line_count": 1, "content_hash": "0", "head": ["inside"], "tail": ["inside"]});
            vec![("resolve_slice", json!({"path": file, "slice": slice}))]
        }
        "get_git_diff" => {
            vec![("get_git_diff", json!({"path": file})), ("get_git_diff", json!({"path": folder}))]
        }
        "edit_file" => {
            vec![("edit_file", edit("inside", "indoors")), ("edit_file", edit("indoors", "inside"))]
        }
        "apply_edits" => vec![
            ("apply_edits", json!({"edits": [edit("inside", "indoors")]})),
            ("apply_edits", json!({"edits": [edit("indoors", "inside")]})),
        ],
        "set_file_slice" => {
            let line =
                |text: &str| json!({"path": file, "start_line": 1, "end_line": 1, "new_content": text});
            vec![("set_file_slice", line("indoors")), ("set_file_slice", line("inside"))]
        }
        "write_file" => vec![
            ("write_file", json!({"path": file, "content": "inside"})),
            ("write_file", json!({"path": format!("{folder}/new/made.txt"), "content": "inside"})),
        ],
        "move_file" => vec![
            ("move_file", json!({"source": file, "destination": other, "overwrite": true})),
            ("move_file", json!({"source": other, "destination": file, "overwrite": true})),
        ],
        "delete_file" => vec![
            ("write_file", json!({"path": format!("{other}/a/b"), "content": "inside"})),
            ("delete_file", json!({"path": other, "recursive": true})),
        ],
        "undo_edit" => vec![
            ("write_file", json!({"path": file, "content": "indoors"})),
            ("write_file", json!({"path": file, "content": "inside"})),
            ("undo_edit", json!({"call_id": UNDO})),
        ],
        "todo_write" => vec![("todo_write", json!({"todos": []}))],
        "handoff" => vec![("handoff", json!({"target_tier": "lead"}))],
        _ => return code_calls::calls(tool, folder),
    })
}

#[test]
fn heavy_no_tool_escapes_a_renaming_attacker() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let top = scratch.path().canonicalize().expect("its true name");
    let (root, outside) = (top.join("root"), top.join("outside"));
    let house = Arc::new({
        fs::create_dir(&root).expect("made");
        house(&root, Some(top.join("state")))
    });
    let tools: Vec<String> = house.registry().snapshot().tools().map(|tool| tool.name.to_string()).collect();
    plant(&root, &outside, &tools);
    house.replace_gate(open_gate(&root));
    let before = facts(&outside);
    let until = Instant::now() + LASTS;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let swaps = AtomicUsize::new(0);
    let counts = std::thread::scope(|scope| {
        scope.spawn(|| attack(&root, &outside, until, &swaps));
        let work = tools.iter().map(|tool| runtime.spawn(work(house.clone(), tool.clone(), until)));
        let work: Vec<_> = work.collect();
        work.into_iter().map(|work| runtime.block_on(work)).collect::<Vec<_>>()
    });
    println!("{} swaps", swaps.into_inner());
    for (tool, counts) in tools.iter().zip(counts) {
        let [failed, done] = counts.unwrap_or_else(|broken| panic!("{tool}: {broken}"));
        println!("{tool}: {done} done, {failed} refused or failed, 0 outside");
        let takes_paths = calls(tool, "sub").is_some_and(|calls| !calls.is_empty());
        assert!(done > 0 || !takes_paths, "{tool} must also succeed, or it proves nothing");
    }
    assert_eq!(facts(&outside), before);
}

/// A gate that asks nobody, not even before a program is started.
fn open_gate(root: &Path) -> Gate {
    let rules =
        Rules { default: Some((Judgement::Allow, Origin { file: None, line: 0 })), ..Rules::default() };
    let allowlist = Allowlist::builder().base(root).build().expect("opens");
    Gate::new(rules, Arc::new(allowlist))
}

/// Calls one tool until the attack is over; how often it failed, and how often it did not.
async fn work(house: Arc<Tectum>, tool: String, until: Instant) -> [usize; 2] {
    let mut counts = [0; 2];
    let mut undo = Value::Null;
    for folder in CALLED.iter().cycle().take_while(|_| Instant::now() < until) {
        let calls =
            calls(&tool, folder).unwrap_or_else(|| panic!("`{tool}` is new: say in `calls` how to work it"));
        if calls.is_empty() {
            return counts;
        }
        for (name, mut args) in calls {
            if args["call_id"] == UNDO {
                args["call_id"] = undo.take();
            }
            let given = match call(&house, name, args).await {
                Ok((text, data)) => {
                    counts[1] += usize::from(name == tool);
                    undo = data.get("undo").cloned().unwrap_or_default();
                    format!("{text}{data}")
                }
                Err(fault) => {
                    counts[0] += usize::from(name == tool);
                    format!("{} {fault:?}", fault.text())
                }
            };
            assert!(!given.contains(CANARY), "{name} in {folder} escaped: {given}");
            // A call that is answered at once never waits; the other tools want their turn too.
            tokio::task::yield_now().await;
        }
    }
    counts
}

/// The same names inside and outside, so that a swapped folder leads to a file either way.
#[expect(clippy::disallowed_methods, reason = "the test makes the trees it attacks")]
fn plant(root: &Path, outside: &Path, tools: &[String]) {
    for folder in SWAPPED {
        fs::create_dir_all(root.join(folder)).expect("made");
        fs::create_dir_all(outside.join(folder)).expect("made");
        for tool in tools {
            for (top, word) in [(root, "inside"), (outside, CANARY)] {
                let plain = (format!("{tool}.txt"), format!("{word}\n"));
                let (name, content) = code_calls::source(tool, word).unwrap_or(plain);
                fs::write(top.join(folder).join(name), content).expect("made");
            }
        }
        fs::write(outside.join(folder).join(CANARY), CANARY).expect("made");
    }
    // A repository whose files all changed since its commit, so that git has something to show.
    let git = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
    for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "planted"]] {
        run("git", &[&git[..], args].concat(), root);
    }
    for folder in SWAPPED {
        fs::write(root.join(folder).join("get_git_diff.txt"), "inside, and changed\n").expect("made");
    }
}

/// Puts a link where a folder was, and the folder back, again and again at every depth.
#[expect(clippy::disallowed_methods, reason = "this is the attacker; it knows no gate")]
fn attack(root: &Path, outside: &Path, until: Instant, swaps: &AtomicUsize) {
    for (turn, folder) in SWAPPED.iter().cycle().enumerate().take_while(|_| Instant::now() < until) {
        let (real, away) = (root.join(folder), root.join(folder).with_extension("away"));
        let up = PathBuf::from("../".repeat(folder.split('/').count()));
        let to = if turn % 2 == 0 { outside.join(folder) } else { up.join("outside").join(folder) };
        // The link is ready beforehand, so that the two renames follow each other at once.
        let link = real.with_extension("link");
        symlink(to, &link).expect("made");
        if fs::rename(&real, &away).is_ok() {
            if fs::rename(&link, &real).is_ok() {
                // Sometimes the link stands for long, mostly it is gone before anybody knows.
                if turn % 5 == 0 {
                    std::thread::yield_now();
                }
                let _ = fs::remove_file(&real);
                swaps.fetch_add(2, Ordering::Relaxed);
            }
            // A call may have made the folder anew in the meantime, and may be working in it.
            while fs::rename(&away, &real).is_err() && Instant::now() < until {
                let _ = fs::remove_dir_all(&real);
            }
        }
        let _ = fs::remove_file(&link);
        // Calls must also find the tree whole now and then, and be under way when it is not.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Everything outside: which file, when it was changed, what is in it.
#[expect(clippy::disallowed_methods, reason = "the test looks at what nobody may touch")]
fn facts(folder: &Path) -> BTreeMap<PathBuf, (u64, i64, Vec<u8>)> {
    let mut facts = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("an entry").path();
        let meta = fs::symlink_metadata(&path).expect("there");
        let content = if meta.is_file() { fs::read(&path).expect("readable") } else { Vec::new() };
        if meta.is_dir() {
            facts.extend(self::facts(&path));
        }
        facts.insert(path, (meta.ino(), meta.mtime_nsec(), content));
    }
    facts
}
