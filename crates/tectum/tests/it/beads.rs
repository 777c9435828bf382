//! Beads and figures behind the binary: two processes lose nothing of each other, and a program that
//! owns the data is asked for, given only words that it cannot misunderstand, and read as it prints.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::rig::{Rig, TOKEN, text};

const NONE: &str = "ERROR: no active workspace to run beads tools.";
/// Prints what `replies/WORD` holds, WORD being its first argument, and writes down how it was called.
const STAND_IN: &str = r#"#!/bin/sh
here=$(dirname "$0")
{ printf '<%s>' "$@"; echo; } >> "$here/calls"
env > "$here/env"
pwd > "$here/folder"
cat "$here/replies/$1.err" >&2 2>/dev/null
cat "$here/replies/$1" 2>/dev/null
if [ -e "$here/replies/$1.fails" ]; then exit 1; fi
"#;

/// A project with `.beads`, and a stand-in for `bd` or `br` on the search path.
struct Stand {
    rig: Rig,
    name: &'static str,
}

impl Stand {
    fn new(name: &'static str) -> Self {
        let mut rig = Rig::with(&[(".beads/metadata.json", "{}")]);
        let bin = rig.outside().join("bin");
        std::fs::create_dir_all(bin.join("replies")).expect("made");
        program(&bin.join(name));
        rig.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        rig.set("TECTUM_TOKEN", TOKEN);
        rig.set("LD_LIBRARY_PATH", "/nowhere");
        rig.configure("[permissions]\nallow = [\"bd_*\"]\n");
        Self { rig, name }
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.rig.outside().join("bin").join(name)
    }

    fn replies(&self, word: &str, reply: &str) {
        std::fs::write(self.file("replies").join(word), reply).expect("written");
    }

    /// The reply to one call, and the arguments that the program was called with for it.
    fn call(&self, tool: &str, args: Value) -> (Value, Vec<String>) {
        let _ = std::fs::remove_file(self.file("calls"));
        let result = self.rig.stdio().call(tool, args);
        let calls = std::fs::read_to_string(self.file("calls")).unwrap_or_default();
        (result, calls.lines().map(str::to_owned).collect())
    }
}

fn program(file: &std::path::Path) {
    std::fs::write(file, STAND_IN).expect("written");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("set");
}

#[test]
fn two_processes_lose_nothing_of_each_other() {
    let rig = Rig::with(&[(".beads/beads.jsonl", "{\"id\":\"bd-0000\",\"title\":\"shared\"}\n")]);
    rig.configure("[beads]\nprogram = \"none\"\n[files]\ndurability = \"rename\"\n");
    let (mut one, mut other) = (rig.stdio(), rig.stdio());
    std::thread::scope(|scope| {
        for (name, client) in [("one", &mut one), ("other", &mut other)] {
            scope.spawn(move || {
                for n in 0..40 {
                    let args = json!({"title": format!("{name} {n}"), "depends_on": ["bd-0000"]});
                    let result = client.call("bd_create", args);
                    assert_ne!(result["isError"], true, "{result}");
                    let status = if n % 2 == 0 { "closed" } else { "in_progress" };
                    let result = client.call("bd_update", json!({"bead_id": "bd-0000", "status": status}));
                    assert_ne!(result["isError"], true, "{result}");
                }
            });
        }
    });
    for client in [&mut one, &mut other] {
        let result = client.call("bd_list", json!({}));
        let data = &result["structuredContent"];
        assert_eq!((&data["total"], &data["notes"]), (&json!(81), &json!([])), "{result}");
        let rows = data["beads"].as_array().expect("rows");
        for name in ["one", "other"] {
            for n in 0..40 {
                let title = format!("{name} {n}");
                assert_eq!(rows.iter().filter(|row| row["title"] == title.as_str()).count(), 1, "{title}");
            }
        }
        let mut ids: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 81);
    }
}

#[test]
fn without_a_workspace_the_promised_words_are_said_and_nothing_is_made() {
    let rig = Rig::new();
    rig.configure("[beads]\nprogram = \"none\"\n");
    let mut client = rig.stdio();
    for (tool, args) in [
        ("bd_list", json!({})),
        ("bd_ready", json!({})),
        ("bd_create", json!({"title": "x", "description": "y"})),
        ("bd_update", json!({"bead_id": "bd-aaaa", "status": "closed"})),
    ] {
        let result = client.call(tool, args);
        assert_eq!(result["isError"], true);
        assert_eq!(text(&result).lines().next(), Some(NONE), "{result}");
    }
    assert_eq!(std::fs::read_dir(rig.project()).expect("readable").count(), 0);
    rig.write(".beads/beads.jsonl", "");
    let made = client.call("bd_create", json!({"title": "Größe 🧱", "description": "y"}));
    let id = made["structuredContent"]["id"].as_str().expect("an id").to_owned();
    let listed = client.call("bd_ready", json!({}));
    let expect = format!("ID: {id}, Status: open, Title: Größe 🧱\n1 bead ready (.beads/beads.jsonl)");
    assert_eq!(text(&listed), expect);
}

#[test]
fn a_program_is_asked_for_and_a_project_may_only_do_without() {
    let stand = Stand::new("bd");
    stand.rig.configure("[approval]\nvia = \"client\"\n");
    stand.replies("list", "[]");
    let (result, calls) = stand.call("bd_list", json!({}));
    assert_eq!((&result["isError"], calls.len()), (&json!(true), 0), "{result}");
    assert!(text(&result).contains("bd_list"), "{result}");
    // Neither a rule of the project nor its settings let it run.
    stand.rig.write("tectum.toml", "[permissions]\nallow = [\"bd_*\"]\n");
    let (result, calls) = stand.call("bd_list", json!({}));
    assert_eq!((&result["isError"], calls.len()), (&json!(true), 0), "{result}");
    stand.rig.write("tectum.toml", "[beads]\nprogram = \"none\"\n");
    let (result, calls) = stand.call("bd_list", json!({}));
    assert_eq!((text(&result), calls.len()), ("No beads found", 0), "our own store is a file of the project");
    // A program that the project brings is none.
    let bin = stand.rig.project().join("bin");
    std::fs::create_dir(&bin).expect("made");
    program(&bin.join("bd"));
    let mut rig = Rig::with(&[(".beads/beads.jsonl", "")]);
    rig.set("PATH", format!("{}:/usr/bin:/bin", rig.project().join("bin").display()));
    std::fs::create_dir(rig.project().join("bin")).expect("made");
    program(&rig.project().join("bin/bd"));
    assert_eq!(text(&rig.stdio().call("bd_list", json!({}))), "No beads found");
    assert!(!rig.project().join("bin/calls").exists());
}

#[test]
fn what_it_prints_is_read_and_its_words_are_no_options() {
    for name in ["bd", "br"] {
        let stand = Stand::new(name);
        let rows = r#"[{"id":"p-1","title":"Eins","status":"open"},{"id":"p-2","title":"Zwei\nx","status":"hooked"}]"#;
        stand.replies("list", &format!("Warning: x\n{{\"schema_version\":1,\"data\":{rows}}}\n"));
        stand.replies("list.err", "WARN old\n");
        let (result, calls) = stand.call("bd_list", json!({}));
        let rows = format!(
            "ID: p-1, Status: open, Title: Eins\nID: p-2, Status: hooked, Title: Zwei x\n2 beads ({name})"
        );
        assert_eq!(
            (text(&result), calls),
            (rows.as_str(), vec!["<list><--json><--all><--limit=0>".to_owned()])
        );
        stand.replies("ready", "No issues found.\n");
        let (result, calls) = stand.call("bd_ready", json!({}));
        assert_eq!((text(&result), calls), ("No beads found", vec!["<ready><--json><--limit=0>".to_owned()]));
        let made = r#"{"schema_version":1,"data":{"id":"p-3","title":"--help","status":"open"}}"#;
        stand.replies("create", made);
        let args = json!({"title": "--help", "description": "-rf; $(touch gone)\n--x", "depends_on": ["p-1", "p-2"], "parent": "p-1"});
        let (result, calls) = stand.call("bd_create", args);
        assert_eq!(text(&result), format!("Created ID: p-3, Status: open, Title: --help ({name})"));
        let words = "<create><--json><--title=--help><--description=-rf; $(touch gone)";
        assert_eq!(calls, [words, "--x><--parent=p-1><--deps=p-1,p-2>"]);
        assert!(!stand.rig.project().join("gone").exists());
        stand.replies("update", r#"[{"id":"p-2","title":"Zwei","status":"closed"}]"#);
        stand.replies("dep", "{\"status\":\"added\"}");
        let args = json!({"bead_id": "p-2", "status": "closed", "add_depends_on": ["p-1"], "remove_depends_on": ["p-3"]});
        let (result, calls) = stand.call("bd_update", args);
        assert_eq!(text(&result), format!("Updated ID: p-2, Status: closed, Title: Zwei ({name})"));
        let runs = [
            "<dep><remove><--json><--><p-2><p-3>",
            "<dep><add><--json><--><p-2><p-1>",
            "<update><--json><--status=closed><--><p-2>",
        ];
        assert_eq!(calls, runs);
        for args in
            [json!({"bead_id": "--db=/x", "status": "open"}), json!({"bead_id": "p-1", "status": "--all"})]
        {
            let (result, calls) = stand.call("bd_update", args);
            assert_eq!((&result["isError"], calls.len()), (&json!(true), 0), "{result}");
        }
        let env = std::fs::read_to_string(stand.file("env")).expect("written");
        let beads = stand.rig.project().canonicalize().expect("there").join(".beads");
        assert!(
            env.contains("BD_JSON_ENVELOPE=1\n") && env.contains(&format!("BEADS_DIR={}\n", beads.display())),
            "{env}"
        );
        assert!(!env.contains(TOKEN) && !env.contains("LD_LIBRARY_PATH"), "{env}");
        assert_eq!(stand.name, name);
    }
}

#[test]
fn what_it_refuses_is_told() {
    let stand = Stand::new("bd");
    stand.replies("update.fails", "");
    stand.replies(
        "update.err",
        "{\"schema_version\":1,\"data\":{\"error\":\"issue not found: p-9\",\"code\":\"x\"}}\n",
    );
    let (result, _) = stand.call("bd_update", json!({"bead_id": "p-9", "status": "closed"}));
    assert!(text(&result).starts_with("ERROR: bd refused: issue not found: p-9\nHint: bd_list"), "{result}");
    stand.replies("list.fails", "");
    stand.replies("list.err", "Error: no beads database found\nHint: run bd init\n");
    let (result, _) = stand.call("bd_list", json!({}));
    assert!(text(&result).contains("no beads database found\nHint: run `bd init`"), "{result}");
    stand.replies("ready", "a panic");
    let (result, _) = stand.call("bd_ready", json!({}));
    assert!(text(&result).contains("bd gave no list of beads: a panic"), "{result}");
    assert_eq!(std::fs::read_dir(stand.rig.project().join(".beads")).expect("readable").count(), 1);
}

#[test]
fn our_own_store_stays_ours_and_is_named_where_it_is_not_read() {
    let stand = Stand::new("bd");
    stand.replies("list", "[]");
    stand.rig.write(".beads/beads.jsonl", "{\"id\":\"bd-aaaa\",\"title\":\"ours\"}\n");
    let (result, calls) = stand.call("bd_list", json!({}));
    assert!(
        text(&result).contains("1 more beads are in .beads/beads.jsonl, which bd does not read"),
        "{result}"
    );
    assert_eq!(calls.len(), 1);
    std::fs::remove_file(stand.rig.project().join(".beads/metadata.json")).expect("removed");
    let (result, calls) = stand.call("bd_list", json!({}));
    assert!(text(&result).starts_with("ID: bd-aaaa, Status: open, Title: ours\n"), "{result}");
    assert_eq!(calls.len(), 0);
}

#[test]
fn figures_are_our_own_while_no_host_is_attached() {
    let rig = Rig::with(&[("a.py", "def f():\n    pass\n")]);
    let mut client = rig.stdio();
    for _ in 0..3 {
        client.call("py_get_skeleton", json!({"path": "a.py"}));
    }
    client.call("read_file", json!({"path": "none"}));
    let result = client.call("get_ui_performance", json!({}));
    let data = &result["structuredContent"];
    assert_eq!((&data["source"], &data["calls"]), (&json!("Tectum"), &json!(4)), "{result}");
    for name in ["calls_per_second", "p50_ms", "p99_ms", "cpu_percent", "memory_mb"] {
        assert!(data[name].as_f64().is_some_and(|figure| figure >= 0.0), "{name}: {result}");
    }
    let (hits, lookups) = (data["cache_hits"].as_u64(), data["cache_lookups"].as_u64());
    assert!(hits <= lookups && lookups > Some(0), "{result}");
    let said = text(&result);
    for words in
        ["figures of Tectum itself", "Calls: 4 so far", "Latency: p50 ", "CPU: ", "Memory: ", "Cache hits: "]
    {
        assert!(said.contains(words), "{said}");
    }
}

#[tokio::test]
async fn figures_are_the_hosts_where_one_is_attached() {
    use tectum::tools::runtime::{Runtime, UiFigures};
    let rig = Rig::new();
    let config = tectum::Config::built_in(rig.project()).expect("settings");
    let runtime = Runtime::default();
    let house = tectum::build_hosted(&config, &runtime).expect("built");
    let ask = || async {
        let args = serde_json::value::to_raw_value(&json!({})).expect("JSON");
        let call = tectum::Call::new(tectum::SessionId::new("test"), "get_ui_performance", args);
        match house.call(call).await.result.expect("works") {
            tectum::Payload::Native(reply) => reply.text,
            other => panic!("{other:?}"),
        }
    };
    assert!(ask().await.starts_with("No host"));
    runtime.attach(|| {
        Some(UiFigures { fps: 59.94, frame_time_ms: 16.683, cpu_percent: 12.0, input_lag_ms: 8.25 })
    });
    let expect =
        "Figures of the attached host:\nFPS: 59.9\nFrame Time: 16.7 ms\nCPU: 12.0 %\nInput Lag: 8.3 ms";
    assert_eq!(ask().await, expect);
    runtime.attach(|| {
        Some(UiFigures { fps: f64::NAN, frame_time_ms: 1.0, cpu_percent: 1.0, input_lag_ms: 1.0 })
    });
    assert!(ask().await.starts_with("No host"), "a figure that is no number is none");
    runtime.attach(|| None);
    assert!(ask().await.starts_with("No host"));
    runtime.detach();
    assert!(ask().await.contains("Calls: 4 so far"));
}
