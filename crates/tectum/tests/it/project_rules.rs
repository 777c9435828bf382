//! Allow rules of a project's `tectum.toml` permit nothing that the user does not, until a person agreed
//! to exactly these rules.

use crate::{cli_said::Said, rig::Rig};

const RULES: &str = "[permissions]\nallow = [\"diagnostics\", \"read_*\"]\n";

fn rig() -> Rig {
    Rig::with(&[("tectum.toml", RULES), ("a.py", "x = 1\n")])
}

fn said(rig: &Rig, args: &[&str]) -> Said {
    rig.run(args).into()
}

fn asks(rig: &Rig) -> Said {
    said(rig, &["policy", "test", "diagnostics", "path=a.py"])
}

#[test]
fn an_allow_rule_for_what_reaches_beyond_the_project_waits_for_consent() {
    let rig = rig();
    let asked = asks(&rig);
    assert_eq!(asked.code, 3, "{}", asked.out);
    assert!(asked.out.starts_with("ASK"), "{}", asked.out);
    assert!(asked.out.contains("`diagnostics` (tectum.toml:2) has no effect until"), "{}", asked.out);
    assert!(
        asked.out.contains("→ to change: approve the project's rules with `tectum trust`"),
        "{}",
        asked.out
    );
    let refused = said(&rig, &["call", "diagnostics", "path=a.py"]);
    assert!(refused.code == 3 && refused.err.contains("`tectum trust`"), "{}", refused.err);
    let checked = said(&rig, &["config", "check"]);
    assert!(checked.code == 0 && checked.err.contains("have no effect until you approve"), "{}", checked.err);
    let shown = said(&rig, &["config", "show"]);
    assert!(shown.out.contains("have no effect until you approve them: `tectum trust`"), "{}", shown.out);
    // What the user's settings permit anyway needs nobody's consent.
    assert_eq!(said(&rig, &["call", "read_file", "path=a.py"]).code, 0);
}

#[test]
fn consent_is_to_exactly_these_rules() {
    let rig = rig();
    let unasked = said(&rig, &["trust"]);
    assert_eq!(unasked.code, 3, "{}", unasked.err);
    for rule in ["allows         \"diagnostics\"", "allows         \"read_*\""] {
        assert!(unasked.out.contains(rule), "{}", unasked.out);
    }
    assert!(unasked.err.contains("cannot ask for approval of permissions.allow"), "{}", unasked.err);
    assert_eq!(asks(&rig).code, 3);

    assert_eq!(said(&rig, &["trust", "--yes"]).code, 0);
    assert_eq!(asks(&rig).code, 0, "agreed");
    assert_eq!(said(&rig, &["trust"]).out.trim(), "nothing waits for your approval");
    assert!(said(&rig, &["trust", "--list"]).out.contains("permissions.allow  trusted"));

    rig.write("tectum.toml", "[permissions]\nallow = [\"diagnostics\", \"*\"]\n");
    assert_eq!(asks(&rig).code, 3, "changed");
    let changed = said(&rig, &["trust"]);
    assert!(changed.out.contains("rules: was diagnostics \"read_*\", is"), "{}", changed.out);

    rig.write("tectum.toml", RULES);
    assert_eq!(asks(&rig).code, 0, "as agreed to");
    assert_eq!(said(&rig, &["trust", "--revoke", "permissions.allow"]).code, 0);
    assert_eq!(asks(&rig).code, 3, "taken back");
}

#[test]
fn rules_that_permit_nothing_new_ask_nobody() {
    let rig = Rig::with(&[("tectum.toml", "[permissions]\nallow = [\"read_*\"]\n")]);
    assert_eq!(said(&rig, &["trust"]).out.trim(), "nothing waits for your approval");
    assert!(!said(&rig, &["config", "check"]).err.contains("warning"));
    // Where the user's own default is stricter they would permit something.
    rig.configure("[permissions]\ndefault = \"ask\"\n");
    assert_eq!(said(&rig, &["trust"]).code, 3);
}

#[test]
fn trusted_rules_lose_to_the_users_own() {
    let rig = rig();
    assert_eq!(said(&rig, &["trust", "--yes"]).code, 0);
    rig.configure("[permissions]\nask = [\"diagnostics\"]\n");
    assert_eq!(asks(&rig).code, 3);
    rig.configure("[permissions]\ndeny = [\"diagn*\"]\n");
    assert!(asks(&rig).out.starts_with("DENY"));
}

#[test]
fn a_broken_record_of_consent_counts_as_none() {
    let rig = rig();
    assert_eq!(said(&rig, &["trust", "--yes"]).code, 0);
    std::fs::write(rig.home().join("state/tectum/trust.json"), "{").expect("written");
    assert_eq!(asks(&rig).code, 3);
    let checked = said(&rig, &["config", "check"]);
    assert!(checked.err.contains("trust.json"), "{}", checked.err);
}
