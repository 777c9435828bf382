//! Pieces of text put into JSON and taken out again.

use serde_json::json;

use super::*;

const PATH: [&str; 2] = ["hooks", "PreToolUse"];

/// Puts an item, and takes it back: the text must be the one before, byte for byte.
fn check(before: &str, expect: &str) {
    let (after, piece) =
        put_item(before, &PATH, &json!({ "a": 1 })).unwrap_or_else(|why| panic!("{before}: {why}"));
    assert_eq!(after, expect);
    assert_eq!(items_at(&after, &PATH).expect("a list")[0], json!({ "a": 1 }), "{after}");
    assert_eq!(take_back(&after, &piece).as_deref(), Some(before), "{after}");
}

#[test]
fn an_item_is_put_with_what_leads_to_it_and_taken_back_to_the_byte() {
    check(
        "{}\n",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"a\": 1\n      }\n    ]\n  }\n}\n",
    );
    check(
        "{\n\t\"x\": true, // remark\n}",
        "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\n\t\t\t\t\"a\": 1\n\t\t\t}\n\t\t]\n\t},\n\t\"x\": true, // remark\n}",
    );
    check(
        "{ \"hooks\": { \"PreToolUse\": [ { \"b\": \"]}//\" }, ], /* { */ } }",
        "{ \"hooks\": { \"PreToolUse\": [\n      {\n        \"a\": 1\n      },\n       { \"b\": \"]}//\" }, ], /* { */ } }",
    );
    check(
        "{\"hooks\":{}}",
        "{\"hooks\":{\n    \"PreToolUse\": [\n      {\n        \"a\": 1\n      }\n    ]\n  }}",
    );
    check(
        "\u{feff}{\r\n \"hooks\": {\r\n  \"PreToolUse\": [\r\n  ]\r\n }\r\n}\r\n",
        "\u{feff}{\r\n \"hooks\": {\r\n  \"PreToolUse\": [\r\n   {\r\n    \"a\": 1\r\n   }\r\n  ]\r\n }\r\n}\r\n",
    );
}

#[test]
fn what_others_wrote_since_stays() {
    let (after, piece) = put_item("{}\n", &PATH, &json!({ "a": 1 })).expect("put");
    let added = after.replace("\n}\n", ",\n  \"mine\": 2\n}\n");
    assert_eq!(take_back(&added, &piece), None, "its end is written over");

    let (after, piece) = put_item("{\n}\n", &PATH, &json!({ "a": 1 })).expect("put");
    let added = after.replace("\n  }\n}", "\n  },\n  \"mine\": 2\n}");
    assert_eq!(take_back(&added, &piece).as_deref(), Some("{\n  \"mine\": 2\n}\n"));
}

#[test]
fn items_of_ours_are_cut_with_their_commas() {
    for (text, expect) in [
        (r#"{"hooks":{"PreToolUse":[ {"a":1} ]}}"#, r#"{"hooks":{"PreToolUse":[ ]}}"#),
        (r#"{"hooks":{"PreToolUse":[{"a":1}, {"b":2}]}}"#, r#"{"hooks":{"PreToolUse":[ {"b":2}]}}"#),
        (r#"{"hooks":{"PreToolUse":[{"b":2}, {"a":1}]}}"#, r#"{"hooks":{"PreToolUse":[{"b":2}]}}"#),
        (
            r#"{"hooks":{"PreToolUse":[{"b":2},{"a":1},{"c":3}]}}"#,
            r#"{"hooks":{"PreToolUse":[{"b":2},{"c":3}]}}"#,
        ),
        (r#"{"hooks":{}}"#, r#"{"hooks":{}}"#),
    ] {
        assert_eq!(take_items(text, &PATH, |item| item["a"] == 1).as_deref(), Ok(expect), "{text}");
    }
}

#[test]
fn what_stands_in_the_way_is_said() {
    for text in ["", "[]", "{\"hooks\": 1}", "{\"hooks\": {\"PreToolUse\": {}}}", "{\"a\": }", "{ /* "] {
        put_item(text, &PATH, &json!(1)).expect_err(text);
    }
}
