//! Secrets are hidden in copies, and nowhere else; what is hidden besides is checked where it is
//! written.

use serde_json::json;

use crate::{
    cli_said::Said,
    federated::{Client, Era, echo},
    rig::{Rig, text},
    watched::{ON, after, observer, until_copies},
};

/// Put together here, so that nobody takes this file for a leak.
fn token() -> String {
    format!("ghp_{}", "abcdefghijklmnopqrstuvwxyz0123456789")
}

fn rig(settings: &str) -> Rig {
    let rig = Rig::with(&[("a.txt", "")]);
    rig.write("a.txt", format!("first\nkey {} of badge X-4711\n", token()));
    let servers = format!("{}{}", echo("one", &[], ""), observer(&rig, "eye", &[]));
    rig.configure(&format!("{ON}{settings}\n{servers}"));
    rig
}

/// Calls that hold secrets; returns everything the observer was told, as one text.
fn told(rig: &Rig) -> String {
    let mut client = Client::new(rig, Era::Legacy);
    client.until_listed("one__echo");
    let read = client.call("read_file", json!({"path": "a.txt"}));
    assert_eq!(text(&read), format!("first\nkey {} of badge X-4711\n", token()), "nothing is hidden here");
    assert!(read.to_string().matches(&token()).count() >= 1);
    let args = json!({"text": "said", "password": "hunter2", "pin": 471_200_004_712_u64, "nested": [{"api_key": "hunter3"}]});
    let echoed = client.call("one__echo", args);
    assert_eq!(text(&echoed), "said");
    let seen = client.say("one__seen", json!({"password": "hunter2"}));
    assert!(seen.contains("\"calls\":2"), "the server was called with what it was given: {seen}");
    let said = client.say("one__echo", json!({"text": format!("Authorization: Bearer {}", token())}));
    assert!(said.ends_with(&token()), "{said}");
    let copies = until_copies(rig, "eye", 8);
    assert_eq!(after(&copies, "one__echo")["content"][0]["type"], "text", "what is no secret stays");
    copies.iter().map(|copy| copy["params"].to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn secrets_are_hidden_in_copies_only() {
    let told = told(&rig(""));
    for secret in ["hunter2", "hunter3", &token()] {
        assert!(!told.contains(secret), "{secret} is in {told}");
    }
    assert!(
        told.contains("[redacted]") && told.contains("X-4711") && told.contains("471200004712"),
        "{told}"
    );
}

#[test]
fn settings_hide_more() {
    let told = told(&rig("redact_names = [\"PIN\"]\nredact_texts = [\"X-[0-9]+\"]"));
    for secret in ["hunter2", "hunter3", &token(), "X-4711", "471200004712"] {
        assert!(!told.contains(secret), "{secret} is in {told}");
    }
    assert!(told.contains("badge [redacted]"), "{told}");
}

#[test]
fn settings_can_hide_nothing() {
    let told = told(&rig("redact = false"));
    for secret in ["hunter2", "hunter3", &token(), "X-4711", "471200004712"] {
        assert!(told.contains(secret), "{secret} is not in {told}");
    }
}

#[test]
fn a_projects_own_file_hides_more_and_never_less() {
    let own = rig("");
    own.write("tectum.toml", "[observers]\nredact_texts = [\"X-[0-9]+\"]\n");
    assert!(!told(&own).contains("X-4711"));

    let own = rig("");
    own.write("tectum.toml", "[observers]\nredact = false\n");
    for args in [&["config", "check"][..], &["serve"], &["observe", "list"]] {
        let said = Said::from(own.run(args));
        assert_eq!(said.code, 2, "{args:?}: {}{}", said.out, said.err);
        assert!(said.err.contains("tectum.toml:2:"), "{args:?}: {}", said.err);
        assert!(said.err.contains("redact"), "{args:?}: {}", said.err);
    }
    own.write("tectum.toml", "[observers]\nredact = true\n");
    assert_eq!(Said::from(own.run(&["config", "check"])).code, 0);
}

#[test]
fn a_pattern_that_is_none_is_a_mistake_with_its_place() {
    for (line, word) in [
        ("redact_names = [\"fine\", \"[\"]", "pattern"),
        ("redact_texts = [\"fine\", \"(\"]", "regular expression"),
        ("redact_texts = [\"x*\"]", "matches every text"),
        ("exclude = [\"[\"]", "pattern"),
        ("redact = \"no\"", "redact"),
        ("discovers = true", "discover"),
    ] {
        let rig = Rig::new();
        rig.write("tectum.toml", format!("[observers]\ndiscover = true\n{line}\n"));
        for args in [&["config", "check"][..], &["serve"]] {
            let said = Said::from(rig.run(args));
            assert_eq!(said.code, 2, "{line}: {}{}", said.out, said.err);
            assert!(said.err.contains("tectum.toml:3:") && said.err.contains(word), "{line}: {}", said.err);
        }
    }
}
