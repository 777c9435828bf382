//! Command lines against permission rules: what no rule was meant for is not allowed by one, and
//! what a rule was meant for is.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use tectum_core::{
    Call, Effect, Fault, Gate, Judgement, Origin, Prepared, Rule, Rules, SessionId, Verdict, Wants, World,
    security::{Access, Allowlist},
};
use tectum_tools::shell::subject;

use crate::files_rig::Rig;

fn rule(pattern: &str) -> Rule {
    Rule::parse(&format!("run_shell({pattern})"), Origin { file: None, line: 0 }).expect("a rule")
}

fn rules(deny: &[&str], allow: &[&str]) -> Rules {
    let list = |patterns: &[&str]| patterns.iter().map(|pattern| rule(pattern)).collect();
    Rules { deny: list(deny), allow: list(allow), ..Rules::default() }
}

fn prepared(command: &str) -> Prepared {
    prepared_to(command, false)
}

fn prepared_to(command: &str, keep: bool) -> Prepared {
    Prepared {
        wants: Wants { subject: subject(command, keep), paths: vec![(".".into(), Access::Read)] },
        effect: Effect::Change,
        world: World::Open,
        deadline: Duration::from_secs(1),
        max_output: 1,
        work: Box::new(|_| Box::pin(async { Err(Fault::internal("never run")) })),
    }
}

fn gate(rig: &Rig, rules: Rules) -> Gate {
    Gate::new(rules, Arc::new(Allowlist::builder().base(rig.root()).build().expect("opens")))
}

fn call() -> Call {
    Call::new(SessionId::new("test"), "run_shell", RawValue::from_string("{}".into()).expect("JSON"))
}

/// The judgement, and how it was come by.
fn judged(gate: &Gate, command: &str) -> (Judgement, String) {
    let (judgement, steps) = gate.explain(&call(), &prepared(command));
    (judgement, steps[0].finding.clone())
}

/// The commands of a corpus, in sets with their patterns.
fn corpus(text: &str) -> Vec<(Vec<&str>, Vec<String>)> {
    let mut sets: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(set) = line.strip_prefix("== ") {
            sets.push((set.split(" | ").collect(), Vec::new()));
        } else if let Some((_, commands)) = sets.last_mut() {
            commands.push(meant(line));
        }
    }
    sets
}

/// A line of a corpus without its signs.
fn meant(line: &str) -> String {
    let signs = [("⏎", "\n"), ("␍", "\r"), ("␀", "\0"), ("⇥", "\t"), ("⎋", "\u{1b}")];
    let mut line = signs.iter().fold(line.to_owned(), |line, (sign, meant)| line.replace(sign, meant));
    while let Some((before, after)) = line.split_once('‹') {
        let (number, after) = after.split_once('›').expect("a number");
        let hidden = u32::from_str_radix(number, 16).ok().and_then(char::from_u32).expect("a character");
        line = format!("{before}{hidden}{after}");
    }
    line
}

#[test]
fn no_rule_allows_what_it_was_not_meant_for() {
    let (rig, mut count, mut passed) = (Rig::with(&[]), 0, Vec::new());
    for (patterns, commands) in corpus(include_str!("../../../shell/tests/corpus/evasions.txt")) {
        let gate = gate(&rig, rules(&[], &patterns));
        for command in commands {
            count += 1;
            let (judgement, why) = judged(&gate, &command);
            if judgement == Judgement::Allow {
                passed.push(format!("{command:?}: {why}"));
            }
        }
    }
    assert!(passed.is_empty(), "{} of {count} passed:\n{}", passed.len(), passed.join("\n"));
    assert!(count >= 200, "{count}");
}

#[test]
fn a_rule_allows_what_it_was_meant_for() {
    let (rig, mut count, mut stopped) = (Rig::with(&[]), 0, Vec::new());
    for (patterns, commands) in corpus(include_str!("../../../shell/tests/corpus/honest.txt")) {
        let gate = gate(&rig, rules(&[], &patterns));
        for command in commands {
            count += 1;
            let (judgement, why) = judged(&gate, &command);
            if judgement != Judgement::Allow {
                stopped.push(format!("{command:?}: {why}"));
            }
        }
    }
    assert!(stopped.is_empty(), "{} of {count} stopped:\n{}", stopped.len(), stopped.join("\n"));
    assert!(count >= 60, "{count}");
}

#[test]
fn a_deny_rule_binds_every_part_and_what_may_become_one() {
    let (rig, mut wrong) = (Rig::with(&[]), Vec::new());
    for (patterns, lines) in corpus(include_str!("../../../shell/tests/corpus/denied.txt")) {
        let gate = gate(&rig, rules(&patterns, &["*"]));
        for line in lines {
            let (expect, command) = line.split_once(' ').expect("a judgement and a command");
            let (judgement, why) = judged(&gate, command);
            if judgement.to_string() != expect {
                wrong.push(format!("{command:?} is {judgement}, not {expect}: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_question_is_about_the_part_that_no_rule_allows_and_its_rule_works() {
    let rig = Rig::with(&[]);
    for (command, part) in [
        ("git status && make 'a b' | head", "make 'a b'"),
        ("git status > out.txt", "> out.txt"),
        ("git status; timeout 5 ls *", "timeout 5 ls *"),
        ("git status; for x in [a]; do ls; done", "git status; for x in [a]; do ls; done"),
        (r"git status; grep 'a\.b*' {}", r"grep 'a\.b*' {}"),
    ] {
        let allow = ["git status*", "head"];
        let house = gate(&rig, rules(&[], &allow));
        let Verdict::Ask(question, _) = house.judge(&call(), &prepared(command)) else { panic!("{command}") };
        assert_eq!(question.subject, part);
        assert!(question.rule.contains(&format!("about `{part}`")), "{}", question.rule);
        // The line that the refusal advises, as TOML reads it.
        let advice = question.how_to_allow("run_shell");
        let line = &advice[advice.find("allow = ").expect("a line")..];
        let table: toml::Table = line.parse().expect("TOML");
        let written = table["allow"][0].as_str().expect("a rule").to_owned();
        let mut rules = rules(&[], &allow);
        rules.allow.push(Rule::parse(&written, Origin { file: None, line: 0 }).expect("a rule"));
        let (judgement, why) = judged(&gate(&rig, rules), command);
        assert_eq!(judgement, Judgement::Allow, "{written}: {why}");
    }
}

#[test]
fn a_rule_without_a_pattern_allows_all_but_what_another_denies() {
    let rig = Rig::with(&[]);
    let bare = || vec![Rule::parse("run_shell", Origin { file: None, line: 0 }).expect("a rule")];
    let all = gate(&rig, Rules { allow: bare(), ..Rules::default() });
    assert_eq!(judged(&all, "eval \"$x\" > y").0, Judgement::Allow);
    assert_eq!(judged(&all, "").0, Judgement::Allow);
    let but = gate(&rig, Rules { allow: bare(), ..rules(&["rm *"], &[]) });
    assert_eq!(judged(&but, "eval \"$x\" > y").0, Judgement::Ask);
    assert_eq!(judged(&but, "ls > y").0, Judgement::Allow);
    let none = gate(&rig, rules(&[], &["git *"]));
    for nothing in ["", " ", "# x", "\n"] {
        assert_eq!(judged(&none, nothing).0, Judgement::Ask, "{nothing:?}");
    }
}

#[test]
fn to_outlive_its_client_a_command_needs_a_rule_for_that() {
    let rig = Rig::with(&[]);
    let judged =
        |allow: &[&str]| gate(&rig, rules(&[], allow)).explain(&call(), &prepared_to("npm run dev", true)).0;
    assert_eq!(judged(&["npm *"]), Judgement::Ask);
    assert_eq!(judged(&["--keep"]), Judgement::Ask);
    assert_eq!(judged(&["npm *", "--keep"]), Judgement::Allow);
}
