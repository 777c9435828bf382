//! A process beside the house that swaps folders, files and the root itself for links, pipes and
//! other names, while every tool works beneath them: nothing is given from outside, nothing is
//! changed outside.

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
use tectum_core::{Effect, Gate, Judgement, Origin, Rules, Tectum, security::Allowlist};

use crate::{
    code_calls,
    edit_rig::house,
    files_rig::{call, mkfifo, run},
};

/// The duration of the attack, for all tools together, in its short form.
const LASTS: Duration = Duration::from_secs(6);
/// The number of calls of its long form.
const MOST_CALLS: usize = 1_000_000;
/// Stands in every file outside, and in the name of some.
const CANARY: &str = "canary-5b1f0c";
/// Folders that change places with a link to the like-named folder outside.
const SWAPPED: &[&str] = &["sub", "sub/deep", "sub/deep/down", ".beads"];
/// The spellings of them in the calls.
const CALLED: &[&str] = &["sub", "sub/deep", "sub/deep/down", "sub/../sub/deep", "./sub/deep/down/.."];
/// A line of the store of beads.
pub(crate) const BEAD: &str = "{\"id\":\"bd-aaaa\",\"title\":\"inside\"}";
/// Takes the place of the newest undo id.
pub(crate) const UNDO: &str = "(undo)";

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
        "bd_list" => vec![("bd_list", json!({}))],
        "bd_ready" => vec![("bd_ready", json!({}))],
        "bd_create" => vec![
            ("bd_create", json!({"title": "inside", "depends_on": ["bd-aaaa"]})),
            // Else the store would grow with every call.
            ("write_file", json!({"path": ".beads/beads.jsonl", "content": BEAD})),
        ],
        "bd_update" => vec![
            ("bd_update", json!({"bead_id": "bd-aaaa", "status": "closed"})),
            ("bd_update", json!({"bead_id": "bd-aaaa", "status": "open"})),
        ],
        "get_ui_performance" => vec![("get_ui_performance", json!({}))],
        "todo_write" => vec![("todo_write", json!({"todos": []}))],
        "handoff" => vec![("handoff", json!({"target_tier": "lead"}))],
        "fetch_url" | "web_search" | "search_history" => Vec::new(),
        // A command goes wherever its user may; the sandbox's own tests attack it.
        "run_shell" | "run_powershell" | "shell_poll" | "shell_write" | "shell_list" | "shell_kill" => vec![],
        _ => return code_calls::calls(tool, folder),
    })
}

/// When the attack ends: after a time, or after so many calls.
struct Course {
    until: Option<Instant>,
    calls: AtomicUsize,
    swaps: AtomicUsize,
}

impl Course {
    fn begin() -> Self {
        let soak = std::env::var_os("TECTUM_SOAK").is_some();
        let until = (!soak).then(|| Instant::now() + LASTS);
        Self { until, calls: AtomicUsize::new(0), swaps: AtomicUsize::new(0) }
    }

    fn goes_on(&self) -> bool {
        match self.until {
            Some(until) => Instant::now() < until,
            None => self.calls.load(Ordering::Relaxed) < MOST_CALLS,
        }
    }
}

#[test]
fn soak_no_tool_escapes_a_renaming_attacker() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let top = scratch.path().canonicalize().expect("its true name");
    let (root, outside) = (top.join("root"), top.join("outside"));
    let house = Arc::new({
        fs::create_dir(&root).expect("made");
        house(&root, Some(top.join("state")))
    });
    let snapshot = house.registry().snapshot();
    let tools: Vec<(String, Effect)> =
        snapshot.tools().map(|tool| (tool.name.to_string(), tool.effect)).collect();
    let names: Vec<String> = tools.iter().map(|(name, _)| name.clone()).collect();
    let files = plant(&root, &outside, &names);
    house.replace_gate(open_gate(&root));
    let before = facts(&outside);
    let course = Arc::new(Course::begin());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let counts = std::thread::scope(|scope| {
        scope.spawn(|| attack(&root, &outside, &files, &course));
        let work = names.iter().map(|tool| runtime.spawn(work(house.clone(), tool.clone(), course.clone())));
        let work: Vec<_> = work.collect();
        work.into_iter().map(|work| runtime.block_on(work)).collect::<Vec<_>>()
    });
    let (mut reads, mut writes) = (0, 0);
    for ((tool, effect), counts) in tools.iter().zip(counts) {
        let [failed, done] = counts.unwrap_or_else(|broken| panic!("{tool}: {broken}"));
        println!("{tool}: {done} done, {failed} refused or failed, 0 outside");
        let takes_paths = calls(tool, "sub").is_some_and(|calls| !calls.is_empty());
        assert!(done > 0 || !takes_paths, "{tool} must also succeed, or it proves nothing");
        *(if *effect == Effect::Change { &mut writes } else { &mut reads }) += done + failed;
    }
    assert_eq!(facts(&outside), before);
    let swaps = course.swaps.load(Ordering::Relaxed);
    println!(
        "soak: no tool reads or changes anything outside the root beside a renaming process | \
         {reads} reads, {writes} writes, {swaps} swaps, 0 escapes"
    );
}

/// A gate that asks nobody, not even before a program is started.
pub(crate) fn open_gate(root: &Path) -> Gate {
    let rules =
        Rules { default: Some((Judgement::Allow, Origin { file: None, line: 0 })), ..Rules::default() };
    let allowlist = Allowlist::builder().base(root).build().expect("opens");
    Gate::new(rules, Arc::new(allowlist))
}

/// Calls one tool until the attack is over; how often it failed, and how often it did not.
async fn work(house: Arc<Tectum>, tool: String, course: Arc<Course>) -> [usize; 2] {
    let mut counts = [0; 2];
    let mut undo = Value::Null;
    for folder in CALLED.iter().cycle().take_while(|_| course.goes_on()) {
        let calls =
            calls(&tool, folder).unwrap_or_else(|| panic!("`{tool}` is new: say in `calls` how to work it"));
        if calls.is_empty() {
            return counts;
        }
        for (name, mut args) in calls {
            if args["call_id"] == UNDO {
                args["call_id"] = undo.take();
            }
            course.calls.fetch_add(1, Ordering::Relaxed);
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

/// The same names inside and outside, so that a swapped folder leads to a file either way. Gives the
/// files inside with what they hold.
#[expect(clippy::disallowed_methods, reason = "the test makes the trees it attacks")]
pub(crate) fn plant(root: &Path, outside: &Path, tools: &[String]) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for folder in SWAPPED {
        fs::create_dir_all(root.join(folder)).expect("made");
        fs::create_dir_all(outside.join(folder)).expect("made");
        for tool in tools {
            for (top, word) in [(root, "inside"), (outside, CANARY)] {
                let plain = (format!("{tool}.txt"), format!("{word}\n"));
                let (name, content) = code_calls::source(tool, word).unwrap_or(plain);
                fs::write(top.join(folder).join(&name), &content).expect("made");
                if top == root {
                    files.push((Path::new(folder).join(name), content));
                }
            }
        }
        fs::write(outside.join(folder).join(CANARY), CANARY).expect("made");
    }
    for (top, word) in [(root, "inside"), (outside, CANARY)] {
        fs::write(top.join(".beads/beads.jsonl"), BEAD.replace("inside", word)).expect("made");
    }
    // A repository whose files all changed since its commit, so that git has something to show.
    let git = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
    for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "planted"]] {
        run("git", &[&git[..], args].concat(), root);
    }
    for folder in SWAPPED {
        fs::write(root.join(folder).join("get_git_diff.txt"), "inside, and changed\n").expect("made");
    }
    // What a hard link leads to may be read, and is not to be changed.
    fs::write(outside.join("shared"), "inside\n").expect("made");
    files
}

/// Every kind of swap in turn, each put back at once.
fn attack(root: &Path, outside: &Path, files: &[(PathBuf, String)], course: &Course) {
    let mut files = files.iter().cycle();
    for (turn, folder) in SWAPPED.iter().cycle().enumerate().take_while(|_| course.goes_on()) {
        let up = PathBuf::from("../".repeat(folder.split('/').count()));
        let target = if turn % 2 == 0 { outside.join(folder) } else { up.join("outside").join(folder) };
        swap_folder(&root.join(folder), &target, turn, course);
        if let Some((file, content)) = files.next() {
            swap_file(&root.join(file), content, &outside.join(file), turn, course);
        }
        match turn % 4 {
            // The whole root, and then its place is taken by a link to the outside.
            0 => swap_folder(root, outside, turn, course),
            // A folder that goes elsewhere inside, with what is opened in it.
            1 => rename_and_back(&root.join(folder), &root.join("elsewhere"), course),
            _ => {}
        }
        // Calls must also find the tree whole now and then, and be under way when it is not.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Puts a link where a folder was, and the folder back.
#[expect(clippy::disallowed_methods, reason = "this is the attacker; it knows no gate")]
fn swap_folder(real: &Path, target: &Path, turn: usize, course: &Course) {
    let away = real.with_extension("away");
    // The link is ready beforehand, so that the two renames follow each other at once.
    let link = real.with_extension("link");
    symlink(target, &link).expect("made");
    if fs::rename(real, &away).is_ok() {
        if fs::rename(&link, real).is_ok() {
            // Sometimes the link stands for long, mostly it is gone before anybody knows.
            if turn.is_multiple_of(5) {
                std::thread::yield_now();
            }
            let _ = fs::remove_file(real);
            course.swaps.fetch_add(2, Ordering::Relaxed);
        }
        put_back(&away, real);
    }
    let _ = fs::remove_file(&link);
}

/// Puts a link, a second name of a file outside or a pipe where a file was, and the file back.
#[expect(clippy::disallowed_methods, reason = "this is the attacker; it knows no gate")]
fn swap_file(file: &Path, content: &str, target: &Path, turn: usize, course: &Course) {
    let (decoy, fresh) = (file.with_extension("decoy"), file.with_extension("fresh"));
    let made = match turn % 3 {
        0 => symlink(target, &decoy).is_ok(),
        1 => {
            let shared = target.ancestors().find_map(|folder| folder.join("shared").canonicalize().ok());
            shared.is_some_and(|shared| fs::hard_link(shared, &decoy).is_ok())
        }
        _ => {
            mkfifo(&decoy);
            true
        }
    };
    if made && fs::write(&fresh, content).is_ok() {
        let _ = fs::rename(&decoy, file);
        std::thread::yield_now();
        let _ = fs::rename(&fresh, file);
        course.swaps.fetch_add(2, Ordering::Relaxed);
    }
    let _ = fs::remove_file(&decoy);
    let _ = fs::remove_file(&fresh);
}

#[expect(clippy::disallowed_methods, reason = "this is the attacker; it knows no gate")]
fn rename_and_back(real: &Path, other: &Path, course: &Course) {
    if fs::rename(real, other).is_ok() {
        std::thread::yield_now();
        put_back(other, real);
        course.swaps.fetch_add(2, Ordering::Relaxed);
    }
}

/// A call may have made the folder anew in the meantime, and may be working in it.
#[expect(clippy::disallowed_methods, reason = "this is the attacker; it knows no gate")]
fn put_back(away: &Path, real: &Path) {
    for _ in 0..1_000_000 {
        if fs::rename(away, real).is_ok() {
            return;
        }
        let _ = fs::remove_dir_all(real);
    }
    panic!("{} cannot be put back", real.display());
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
