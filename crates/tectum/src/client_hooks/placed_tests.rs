//! What is written into each client's file and removed again.

use serde_json::Value;

use super::{super::news::NewsClient, *};

fn command(shape: HookShape) -> String {
    format!("/opt/tectum hook --client {} -C /p || exit 2", shape.name())
}

#[test]
fn a_file_that_was_made_is_removed_and_any_other_is_as_it_was() {
    let files = [
        None,
        Some("{}"),
        Some("{ }\n"),
        Some("{\n    \"model\": \"x\", // mine\n    \"hooks\": {\n        \"Stop\": []\n    }\n}\n"),
        Some(
            "{\"hooks\": {\"PreToolUse\": [{\"hooks\": []}], \"BeforeTool\": [], \"preToolUse\": [], \"beforeReadFile\": [{\"command\": \"x\"}]}}",
        ),
        Some("{\"version\": 1, \"hooks\": {}}\n"),
    ];
    for shape in HookShape::ALL {
        for before in files {
            let (after, placed) = shape.entries(&command(shape)).place(before).expect("placed");
            assert_eq!(shape.entries(&command(shape)).are_placed(&after), Ok(true), "{after}");
            assert_eq!(
                shape.entries(&command(shape)).remove(&after, &placed).expect("removed").as_deref(),
                before,
                "{shape:?}: {after}"
            );
            // Without the note it is found by its command, and the rest means the same.
            let left = shape
                .entries(&command(shape))
                .remove(&after, &PlacedHook::default())
                .expect("removed")
                .expect("a file");
            assert_eq!(shape.entries(&command(shape)).are_placed(&left), Ok(false), "{left}");
        }
    }
}

#[test]
fn a_made_file_is_plain_json_in_the_clients_shape() {
    let made = |shape: HookShape| -> Value {
        serde_json::from_str(&shape.entries(&command(shape)).place(None).expect("placed").0)
            .expect("plain JSON")
    };
    let nested = |shape: HookShape, event: &str| made(shape)["hooks"][event][0]["hooks"][0].clone();
    assert_eq!(nested(HookShape::Claude, "PreToolUse")["command"], command(HookShape::Claude));
    assert_eq!(nested(HookShape::Codex, "PreToolUse")["type"], "command");
    assert_eq!(nested(HookShape::Gemini, "BeforeTool")["timeout"], 60_000);
    let cursor = made(HookShape::Cursor);
    assert_eq!(cursor["version"], 1);
    for event in HookShape::Cursor.events() {
        assert_eq!(cursor["hooks"][event][0]["failClosed"], true, "{event}");
    }
}

#[test]
fn an_entry_that_others_share_is_left_to_people() {
    let (after, _) = HookShape::Claude.entries(&command(HookShape::Claude)).place(None).expect("placed");
    let mixed =
        after.replace("\"hooks\": [\n", "\"hooks\": [\n {\"type\": \"command\", \"command\": \"other\"},\n");
    let why = HookShape::Claude.entries("").remove(&mixed, &PlacedHook::default()).expect_err("left");
    assert!(why.contains("by hand"), "{why}");
}

#[test]
fn hooks_for_news_leave_no_trace_and_stand_beside_the_others() {
    let command =
        |client: NewsClient| format!("/opt/tectum attention hook --client {} -C /p || echo", client.name());
    let files =
        [None, Some("{}"), Some("{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n"), Some("{\"version\": 1}\n")];
    for client in NewsClient::ALL.into_iter().filter(|client| client.file(false).is_some()) {
        for before in files {
            let entries = client.entries(&command(client));
            let (after, placed) = entries.place(before).expect("placed");
            assert_eq!(entries.are_placed(&after), Ok(true), "{after}");
            assert_eq!(
                entries.remove(&after, &placed).expect("removed").as_deref(),
                before,
                "{client:?}: {after}"
            );
            let left = entries.remove(&after, &PlacedHook::default()).expect("removed").expect("a file");
            assert_eq!(entries.are_placed(&left), Ok(false), "{left}");
            // The hook before tools stays when this one goes, and the other way round.
            let gate = HookShape::Claude.entries("/opt/tectum hook --client claude -C /p || exit 2");
            let (both, judged) = gate.place(Some(&after)).expect("placed");
            let alone = entries.remove(&both, &placed).expect("removed").expect("a file");
            assert_eq!(
                (gate.are_placed(&alone), entries.are_placed(&alone)),
                (Ok(true), Ok(false)),
                "{alone}"
            );
            let other = gate.remove(&both, &judged).expect("removed").expect("a file");
            assert_eq!(other, after);
        }
    }
}
