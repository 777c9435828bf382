//! Consent is to exactly what was shown: a change in any one field asks again.

use std::{path::Path, sync::Arc};

use tectum_state::Lasts;

use super::*;
use crate::config::servers::{Source, foreign};

fn entry(path: &str, text: &str) -> Entry {
    let source = Arc::new(Source::foreign(Path::new(path), "f".into(), Place::Project));
    foreign::parse(&source, text, Path::new("/p")).expect("reads").entries.remove(0)
}

fn stdio(with: &str) -> String {
    format!(r#"{{"mcpServers":{{"a":{{{with}}}}}}}"#)
}

const WHOLE: &str = r#""command":"npx","args":["-y","x"],"env":{"K":"v"},"cwd":"w","env_vars":["T"]"#;

#[test]
fn a_change_in_any_field_asks_again_and_is_named() {
    let mut ledger = Ledger::default();
    let held = entry("/p/.mcp.json", &stdio(WHOLE));
    assert_eq!(ledger.judge(&held), Trust::Asked);
    ledger.agree(&held);
    assert_eq!(ledger.judge(&held), Trust::Given);
    for (from, to, expect) in [
        ("npx", "node", "command: was npx -y x, is node -y x"),
        (r#""-y","x""#, r#""-y","z""#, "command: was npx -y x, is npx -y z"),
        (r#""-y","x""#, r#""-y x""#, "command: was npx -y x, is npx \"-y x\""),
        (
            r#""command":"npx","args":["-y","x"]"#,
            r#""command":["npx","-y"],"args":["x"]"#,
            "how the command is split into words",
        ),
        (r#""K":"v""#, r#""K":"w""#, "variable K: another value"),
        (r#""K":"v""#, r#""L":"v""#, "variable L: new; variable K: gone"),
        (r#""K":"v""#, r#""K":"v","L":"""#, "variable L: new"),
        (r#""cwd":"w""#, r#""cwd":"/""#, "directory: was \"w\", is \"/\""),
        (r#"["T"]"#, r#"["T","U"]"#, "forwarded: was T, is T U"),
    ] {
        let changed = WHOLE.replace(from, to);
        assert_ne!(changed, WHOLE, "{from}");
        match ledger.judge(&entry("/p/.mcp.json", &stdio(&changed))) {
            Trust::Changed(told) => assert_eq!(told.join("; "), expect),
            other => panic!("{from} -> {to}: {other:?}"),
        }
    }
    let moved = entry("/p/sub/.mcp.json", &stdio(WHOLE));
    assert_eq!(ledger.judge(&moved), Trust::Asked, "another file");
    let renamed = entry("/p/.mcp.json", &stdio(WHOLE).replace("\"a\"", "\"b\""));
    assert_eq!(ledger.judge(&renamed), Trust::Asked, "another name");
    let ignored = entry("/p/.mcp.json", &stdio(&format!("{WHOLE},\"disabled\":true")));
    assert_eq!(ledger.judge(&ignored), Trust::Given, "how it is treated is not what it is");
}

#[test]
fn addresses_and_headers_are_covered_too() {
    let mut ledger = Ledger::default();
    let whole = r#""url":"https://a","headers":{"K":"v"}"#;
    ledger.agree(&entry("/p/.mcp.json", &stdio(whole)));
    for (from, to, expect) in [
        ("https://a", "https://b", "url: was \"https://a\", is \"https://b\""),
        (r#""K":"v""#, r#""K":"w""#, "header K: another value"),
        (r#""K":"v""#, "", "header K: gone"),
        (r#""url""#, r#""type":"sse","url""#, "type: was \"http\", is \"sse\""),
        (
            r#""url":"https://a","headers":{"K":"v"}"#,
            r#""command":"x""#,
            "type: was \"http\", is \"stdio\"; command: was , is x; url: was \"https://a\", is nothing; header K: gone",
        ),
    ] {
        match ledger.judge(&entry("/p/.mcp.json", &stdio(&whole.replace(from, to)))) {
            Trust::Changed(told) => assert_eq!(told.join("; "), expect),
            other => panic!("{from} -> {to}: {other:?}"),
        }
    }
}

#[test]
fn what_is_the_users_own_needs_nobody() {
    let mut own = entry("/h/.claude.json", &stdio(WHOLE));
    own.source = Arc::new(Source { place: Place::Yours, ..(*own.source).clone() });
    assert_eq!(Ledger::default().judge(&own), Trust::Own);
}

#[test]
fn it_is_kept_without_secrets_and_can_be_taken_back() {
    let state = tempfile::tempdir().expect("a directory");
    let held = entry("/p/.mcp.json", &stdio(&WHOLE.replace("\"v\"", "\"hunter2\"")));
    let mut ledger = Ledger::load(state.path()).expect("none yet");
    ledger.agree(&held);
    ledger.save().expect("kept");
    #[expect(clippy::disallowed_methods, reason = "a file of the test itself")]
    let text = std::fs::read_to_string(Ledger::path(state.path())).expect("there");
    assert!(!text.contains("hunter2"), "{text}");

    let mut ledger = Ledger::load(state.path()).expect("reads");
    assert_eq!(ledger.judge(&held), Trust::Given);
    assert_eq!(ledger.files_of("a", Path::new("/p")), [Path::new("/p/.mcp.json")]);
    assert!(ledger.files_of("a", Path::new("/q")).is_empty());
    assert!(ledger.revoke(Path::new("/p/.mcp.json"), "a"));
    assert!(!ledger.revoke(Path::new("/p/.mcp.json"), "a"));
    assert_eq!(ledger.judge(&held), Trust::Asked);
}

#[test]
fn a_ledger_that_cannot_be_believed_is_an_error() {
    let state = tempfile::tempdir().expect("a directory");
    for text in ["", "{", "[]", "{}", "{\"trusted\":{}}"] {
        tectum_state::replace(&Ledger::path(state.path()), text.as_bytes(), Lasts::PowerCut)
            .expect("written");
        assert!(Ledger::load(state.path()).expect_err(text).contains("delete it"), "{text}");
    }
}
