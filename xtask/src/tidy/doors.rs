//! The methods that `clippy.toml` forbids (opening files, starting processes) are used only with a
//! recorded reason, and without one only in the places made for them.

use super::rust_text::{attributes, code_only, find_words};
use super::violation::Violation;
use crate::checkout::Source;

/// The places where files are opened for an agent, and where processes are started.
const ROOMS: [&str; 4] =
    ["crates/security/src/", "crates/tools/src/shell/", "crates/tools/src/shell.rs", "crates/child/src/"];

pub fn judge(sources: &[Source]) -> Vec<Violation> {
    let ours =
        sources.iter().filter(|source| source.path.starts_with("crates/") && source.path.contains("/src/"));
    ours.flat_map(judge_one).collect()
}

fn judge_one(source: &Source) -> Vec<Violation> {
    let is_room = ROOMS.iter().any(|room| source.path.starts_with(room));
    let code = code_only(&source.text);
    let mut violations = Vec::new();
    for (line, attribute) in attributes(&code) {
        if find_words(attribute, "clippy::disallowed_methods").is_none() {
            continue;
        }
        let says = |word: &str| find_words(attribute, word).is_some();
        let place = format!("{}:{line}", source.path);
        let expect = "#[expect(clippy::disallowed_methods, reason = \"...\")]";
        if says("expect") && !says("reason") {
            violations.push(Violation {
                place,
                wrong: "a closed door is passed without a reason.".to_owned(),
                remedy: format!("Write `{expect}`."),
            });
        } else if says("allow") && !is_room {
            violations.push(Violation {
                place,
                wrong: "a closed door is held open with `allow`.".to_owned(),
                remedy: format!(
                    "Ask the room that owns it (see clippy.toml), or write `{expect}` on the one use."
                ),
            });
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{places, source};

    #[track_caller]
    fn check(path: &str, text: &str, expect: &[&str]) {
        assert_eq!(places(&judge(&[source(path, text)])), expect);
    }

    #[test]
    fn a_reason_on_record_passes() {
        let text = "#[expect(clippy::disallowed_methods, reason = \"our own journal\")]\nfn f() {}";
        check("crates/tectum/src/journal.rs", text, &[]);
        let text =
            "#[expect(\n    clippy::disallowed_methods,\n    reason = \"our own [journal]\"\n)]\nfn f() {}";
        check("crates/tectum/src/journal.rs", text, &[]);
    }

    #[test]
    fn allow_is_for_the_rooms() {
        let text = "//! Spawns.\n#![allow(clippy::disallowed_methods)]";
        check("crates/core/src/gate.rs", text, &["crates/core/src/gate.rs:2"]);
        check("crates/tools/src/shell/run.rs", text, &[]);
        check("crates/security/src/resolve.rs", text, &[]);
        check("crates/core/tests/it.rs", text, &[]);
        check("xtask/src/main.rs", text, &[]);
    }

    #[test]
    fn allow_is_found_inside_other_attributes() {
        let text = "#![cfg_attr(test, allow(clippy::disallowed_methods, reason = \"tests\"))]";
        check("crates/core/src/lib.rs", text, &["crates/core/src/lib.rs:1"]);
    }

    #[test]
    fn expect_without_a_reason_is_named_in_rooms_too() {
        let text = "#[expect(clippy::disallowed_methods)]\nfn f() {}";
        check("crates/peers/src/peer.rs", text, &["crates/peers/src/peer.rs:1"]);
    }

    #[test]
    fn words_about_it_and_other_lints_pass() {
        check("crates/core/src/lib.rs", "// #[allow(clippy::disallowed_methods)]", &[]);
        check("crates/core/src/lib.rs", "#[allow(clippy::too_many_lines)]\nfn f() {}", &[]);
        check("crates/core/src/lib.rs", "#![deny(clippy::disallowed_methods)]", &[]);
    }
}
