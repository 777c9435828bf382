//! Beads in our own store, through the gate: what is kept, refused, ready and left alone.

use serde_json::{Value, json};
use tectum_core::{FaultKind, Gate, Origin, Rule, Rules, security::Allowlist};

use crate::{edit_rig::Desk, files_rig::call};

const STORE: &str = ".beads/beads.jsonl";
const NONE: &str = "ERROR: no active workspace to run beads tools.";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put(STORE, "");
    desk
}

async fn create(desk: &Desk, args: Value) -> String {
    let (text, data) = desk.works("bd_create", args).await;
    let id = data["id"].as_str().expect("an id").to_owned();
    assert!(text.starts_with(&format!("Created ID: {id}, Status: open, Title: ")), "{text}");
    id
}

async fn ids(desk: &Desk, tool: &str) -> Vec<String> {
    let (_, data) = desk.works(tool, json!({})).await;
    let rows = data["beads"].as_array().expect("rows");
    assert_eq!(data["total"], rows.len());
    rows.iter().map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn beads_are_made_listed_changed_and_become_ready() {
    let desk = desk();
    for tool in ["bd_list", "bd_ready"] {
        assert_eq!(desk.works(tool, json!({})).await.0, "No beads found");
    }
    let first = create(&desk, json!({"title": "Dig 🕳", "description": "deep\nand \"wide\""})).await;
    let second = create(&desk, json!({"title": "Build", "depends_on": [first], "parent": first})).await;
    let third = create(&desk, json!({"title": "Paint", "depends_on": [second, first, second]})).await;
    let expect = format!(
        "ID: {first}, Status: open, Title: Dig 🕳\nID: {second}, Status: open, Title: Build\n\
         ID: {third}, Status: open, Title: Paint\n3 beads (.beads/beads.jsonl)"
    );
    assert_eq!(desk.works("bd_list", json!({})).await.0, expect);
    assert_eq!(ids(&desk, "bd_ready").await, std::slice::from_ref(&first));
    let update = |id: &str, status: &str| json!({"bead_id": id, "status": status});
    let (text, _) = desk.works("bd_update", update(&first, "closed")).await;
    assert_eq!(text, format!("Updated ID: {first}, Status: closed, Title: Dig 🕳 (.beads/beads.jsonl)"));
    assert_eq!(ids(&desk, "bd_ready").await, std::slice::from_ref(&second));
    desk.works("bd_update", update(&second, "in_progress")).await;
    assert_eq!(desk.works("bd_ready", json!({})).await.0, "No beads found");
    let before = desk.get(STORE);
    assert!(desk.works("bd_update", update(&second, "in_progress")).await.0.starts_with("Unchanged"));
    assert_eq!(desk.get(STORE), before, "nothing is written for nothing");
    let (text, data) = desk.works("bd_list", json!({"status": "closed"})).await;
    assert_eq!((data["total"].as_u64(), text.lines().count()), (Some(1), 2), "{text}");
    let kept = String::from_utf8(desk.get(STORE).expect("kept")).expect("UTF-8");
    let line: Value = serde_json::from_str(kept.lines().next().expect("a line")).expect("JSON");
    assert_eq!(line["description"], "deep\nand \"wide\"");
    for name in [
        "id",
        "title",
        "description",
        "status",
        "created",
        "updated",
        "parent",
        "blocks",
        "relates_to",
        "depends_on",
    ] {
        assert!(line.get(name).is_some(), "{name}: {line}");
    }
}

#[tokio::test]
async fn circles_strangers_and_words_that_mean_nothing_are_refused() {
    let desk = desk();
    let a = create(&desk, json!({"title": "a"})).await;
    let b = create(&desk, json!({"title": "b", "depends_on": [a]})).await;
    let c = create(&desk, json!({"title": "c", "depends_on": [b]})).await;
    let before = desk.get(STORE);
    let add = |id: &str, other: &str| json!({"bead_id": id, "add_depends_on": [other]});
    let cases = [
        (add(&a, &c), FaultKind::Conflict, format!("a circle: {a} > {c} > {b} > {a}")),
        (add(&a, &a), FaultKind::Conflict, format!("{a} cannot depend on itself")),
        (add(&a, "bd-none"), FaultKind::NotFound, "there is no bead bd-none".to_owned()),
        (add("bd-none", &a), FaultKind::NotFound, "there is no bead bd-none".to_owned()),
        (add(&a, "--all"), FaultKind::InvalidInput, "`--all` is not the id of a bead".to_owned()),
        (
            json!({"bead_id": a, "remove_depends_on": [b]}),
            FaultKind::NotFound,
            format!("{a} does not depend on {b}"),
        ),
        (
            json!({"bead_id": a, "status": "done"}),
            FaultKind::InvalidInput,
            "`done` is not a status".to_owned(),
        ),
        (
            json!({"bead_id": a, "status": "Open"}),
            FaultKind::InvalidInput,
            "in_progress, blocked, closed".to_owned(),
        ),
        (json!({"bead_id": a}), FaultKind::InvalidInput, "nothing is to be changed".to_owned()),
    ];
    for (args, kind, words) in cases {
        let text = desk.fails("bd_update", args.clone(), kind).await;
        assert!(text.contains(&words) && text.contains("\nHint: "), "{args}: {text}");
    }
    for (args, kind) in [
        (json!({"title": "x", "depends_on": ["bd-none"]}), FaultKind::NotFound),
        (json!({"title": "x", "parent": "bd-none"}), FaultKind::NotFound),
        (json!({"title": " "}), FaultKind::InvalidInput),
        (json!({"title": "a\nb"}), FaultKind::InvalidInput),
        (json!({"title": "x".repeat(501)}), FaultKind::InvalidInput),
        (json!({"title": "x", "description": "\u{0}"}), FaultKind::InvalidInput),
    ] {
        desk.fails("bd_create", args, kind).await;
    }
    assert_eq!(desk.get(STORE), before);
    // What was in the way can be taken away, and then it is no circle.
    desk.works("bd_update", json!({"bead_id": c, "remove_depends_on": [b]})).await;
    desk.works("bd_update", add(&a, &c)).await;
    assert_eq!(ids(&desk, "bd_ready").await, [c]);
}

#[tokio::test]
async fn without_a_workspace_nothing_is_made() {
    let calls = [
        ("bd_list", json!({})),
        ("bd_ready", json!({})),
        ("bd_create", json!({"title": "x"})),
        ("bd_update", json!({"bead_id": "bd-aaaa", "status": "open"})),
    ];
    let desk = Desk::new();
    for (tool, args) in &calls {
        let text = desk.fails(tool, args.clone(), FaultKind::NotFound).await;
        assert!(text.starts_with(NONE) && text.contains("mkdir .beads"), "{text}");
    }
    assert!(!desk.path(".beads").exists());
    desk.put(".beads", "a file");
    for (tool, args) in &calls {
        assert!(desk.call(tool, args.clone()).await.is_err(), "{tool}");
    }
    assert_eq!(desk.get(".beads").as_deref(), Some(&b"a file"[..]));
}

#[tokio::test]
async fn a_workspace_that_is_closed_or_elsewhere_is_none() {
    let desk = desk();
    desk.put(STORE, "{\"id\":\"bd-aaaa\",\"title\":\"secret\"}\n");
    let gate = |rules: Rules, deny: &[&str]| {
        let allowlist =
            Allowlist::builder().base(desk.root()).deny(deny.iter().copied()).build().expect("opens");
        Gate::new(rules, std::sync::Arc::new(allowlist))
    };
    desk.house.replace_gate(gate(Rules::default(), &[".beads"]));
    assert!(desk.fails("bd_list", json!({}), FaultKind::NotFound).await.starts_with(NONE));
    let rule = Rule::parse("bd_*(.beads/**)", Origin { file: None, line: 0 }).expect("a rule");
    desk.house.replace_gate(gate(Rules { deny: vec![rule], ..Rules::default() }, &[]));
    assert!(desk.fails("bd_list", json!({}), FaultKind::NotFound).await.starts_with(NONE));
    desk.fails("bd_create", json!({"title": "x"}), FaultKind::Permission).await;
    let (elsewhere, inside) = (desk_elsewhere(), Desk::new());
    std::os::unix::fs::symlink(elsewhere.path(), inside.path(".beads")).expect("linked");
    let text = inside.fails("bd_list", json!({}), FaultKind::NotFound).await;
    assert!(text.starts_with(NONE) && !text.contains("secret"), "{text}");
    assert!(inside.call("bd_create", json!({"title": "x"})).await.is_err());
}

#[expect(clippy::disallowed_methods, reason = "the test makes what lies outside")]
fn desk_elsewhere() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("beads.jsonl"), "{\"id\":\"bd-aaaa\",\"title\":\"secret\"}\n")
        .expect("made");
    folder
}

#[tokio::test]
async fn an_export_is_read_and_never_written() {
    let desk = Desk::new();
    let export = "{\"id\":\"p-1\",\"title\":\"Epic\",\"status\":\"open\",\"created_at\":\"2026-01-03T00:00:00+01:00\",\"updated_at\":\"2026-01-04T00:00:00Z\",\"dependencies\":[{\"issue_id\":\"p-1\",\"depends_on_id\":\"p-3\",\"type\":\"blocks\"}]}\r\n\
        {\"id\":\"p-1.1\",\"title\":\"Child\",\"status\":\"open\",\"created_at\":\"2026-01-01T00:00:00Z\",\"dependencies\":[{\"depends_on_id\":\"p-1\",\"type\":\"parent-child\"}]}\n\
        {\"id\":\"p-2\",\"title\":\"Gone\",\"status\":\"tombstone\"}\n\
        {\"id\":\"p-3\",\"title\":\"First\",\"status\":\"open\",\"created_at\":\"2026-01-02T00:00:00Z\",\"dependencies\":[{\"depends_on_id\":\"p-2\",\"type\":\"blocks\"},{\"depends_on_id\":\"p-9\",\"type\":\"related\"}]}\n\
        {\"id\":\"p-4\",\"title\":\"Later\",\"status\":\"open\",\"defer_until\":\"2999-01-01T00:00:00Z\"}\n\
        >>>>>>> theirs\n";
    desk.put(".beads/issues.jsonl", export);
    let (text, data) = desk.works("bd_list", json!({})).await;
    assert_eq!(data["total"], 4, "{text}");
    for words in [
        "its newest change is ",
        "(2026-01-04T00:00:00.000Z)",
        "they are read only",
        "issues.jsonl: line 6 is no bead",
    ] {
        assert!(text.contains(words), "{text}");
    }
    // A child waits with its parent, and what was deleted holds nobody.
    assert_eq!(ids(&desk, "bd_ready").await, ["p-3"]);
    let text =
        desk.fails("bd_update", json!({"bead_id": "p-3", "status": "closed"}), FaultKind::Conflict).await;
    assert!(text.contains("install bd or br"), "{text}");
    let own = create(&desk, json!({"title": "Ours", "depends_on": ["p-3"], "parent": "p-1"})).await;
    assert_eq!(ids(&desk, "bd_ready").await, ["p-3"]);
    desk.works("bd_update", json!({"bead_id": own, "remove_depends_on": ["p-3"]})).await;
    assert_eq!(ids(&desk, "bd_ready").await, ["p-3".to_owned(), own]);
    assert_eq!(desk.get(".beads/issues.jsonl").as_deref(), Some(export.as_bytes()));
    // A database that nobody here reads is named.
    let desk = self::desk();
    desk.put(".beads/beads.db", "SQLite format 3");
    assert!(desk.works("bd_list", json!({})).await.0.contains("only bd or br reads"));
    assert_eq!(desk.get(".beads/beads.db").as_deref(), Some(&b"SQLite format 3"[..]));
}

#[tokio::test]
async fn what_is_no_bead_is_named_and_stays() {
    let desk = Desk::new();
    let kept = "{\"id\":\"bd-aaaa\",\"title\":\"a\",\"x\":1}\r\n<<<<<<< ours\r\n{\"id\":\"bd-aaaa\",\"title\":\"twice\"}\r\n{\"id\":\"bd-b";
    desk.put(STORE, kept);
    let (text, data) = desk.works("bd_list", json!({})).await;
    assert_eq!(data["total"], 1);
    for words in ["line 2 is no bead", "line 3 repeats bd-aaaa", "line 4 is no bead"] {
        assert!(text.contains(words), "{text}");
    }
    create(&desk, json!({"title": "b"})).await;
    let now = String::from_utf8(desk.get(STORE).expect("kept")).expect("UTF-8");
    assert!(now.starts_with(&format!("{kept}\r\n{{")) && now.ends_with("}\r\n"), "{now}");
    desk.works("bd_update", json!({"bead_id": "bd-aaaa", "status": "deferred"})).await;
    let now = String::from_utf8(desk.get(STORE).expect("kept")).expect("UTF-8");
    let (line, rest) = now.split_once("\r\n").expect("lines");
    assert!(
        line.starts_with("{\"id\":\"bd-aaaa\",\"title\":\"a\",\"x\":1,\"status\":\"deferred\""),
        "{line}"
    );
    assert!(kept.split_once("\r\n").is_some_and(|(_, before)| rest.starts_with(before)), "{rest}");
}

#[tokio::test]
async fn those_that_others_block_wait_and_the_oldest_come_first() {
    let desk = Desk::new();
    let line = |id: &str, created: &str, more: &str| {
        format!("{{\"id\":\"{id}\",\"title\":\"{id}\",\"created\":\"{created}\"{more}}}\n")
    };
    let lines = [
        line("bd-new", "2026-03-01T00:00:00Z", ",\"blocks\":[\"bd-held\"]"),
        line("bd-held", "2026-01-01T00:00:00Z", ""),
        line("bd-none", "", ""),
        line("bd-old", "2026-02-01T00:00:00.5Z", ""),
        line("bd-lost", "2026-01-01T00:00:00Z", ",\"depends_on\":[\"bd-gone\"]"),
        line("bd-odd", "2026-01-01T00:00:00Z", ",\"status\":\"parked\""),
    ];
    desk.put(STORE, lines.concat());
    assert_eq!(ids(&desk, "bd_ready").await, ["bd-old", "bd-new", "bd-none"]);
}

#[tokio::test]
async fn ten_thousand_beads_have_an_exact_total_and_pages_that_end() {
    let desk = Desk::new();
    let lines = (0..10_000).map(|n| {
        let after = if n % 2 == 1 { format!("\"p{}\"", n - 1) } else { String::new() };
        format!("{{\"id\":\"p{n}\",\"title\":\"{}\",\"depends_on\":[{after}]}}\n", "wörd ".repeat(n % 20))
    });
    desk.put(STORE, lines.collect::<String>());
    for (tool, expect) in [("bd_list", 10_000), ("bd_ready", 5_000)] {
        let (mut from, mut seen, mut pages) = (json!(1), Vec::new(), 0);
        while !from.is_null() {
            let (text, data) = desk.works(tool, json!({"from": from})).await;
            assert_eq!(data["total"], expect);
            assert_eq!(data["truncated"], !data["next"].is_null());
            assert!(text.len() <= 256 * 1024 && text.contains(&format!("{expect} beads")), "{}", text.len());
            let rows = data["beads"].as_array().expect("rows");
            seen.extend(rows.iter().map(|row| row["id"].as_str().expect("an id").to_owned()));
            (from, pages) = (data["next"].clone(), pages + 1);
        }
        assert!(pages > 1, "{pages}");
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), expect);
        desk.fails(tool, json!({"from": expect + 1}), FaultKind::InvalidInput).await;
        desk.fails(tool, json!({"from": 0}), FaultKind::InvalidInput).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_calls_lose_nothing() {
    let desk = desk();
    let before = create(&desk, json!({"title": "before"})).await;
    let calls = (0..50).map(|n| {
        let (house, before) = (desk.house.clone(), before.clone());
        tokio::spawn(async move {
            if n % 5 == 0 {
                let status = if n % 10 == 0 { "closed" } else { "open" };
                call(&house, "bd_update", json!({"bead_id": before, "status": status})).await.expect("works");
            } else {
                call(&house, "bd_create", json!({"title": n.to_string()})).await.expect("works");
            }
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("no panic");
    }
    let (_, data) = desk.works("bd_list", json!({})).await;
    assert_eq!((data["total"].as_u64(), data["notes"].as_array().map(Vec::len)), (Some(41), Some(0)));
}
