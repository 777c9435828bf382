//! Files as people write them, right and wrong.

use proptest::prelude::*;

use super::*;

const TIERS: [&str; 4] = ["orchestrator", "qa", "tech_lead", "worker"];

const WHOLE: &str = r#"id = "release"
description = "Ship it"

[[tickets]]
id = "lex"
description = "Write the lexer"
target_file = "src/lex.rs"
context_requirements = ["docs/grammar.md"]

[[tickets]]
id = "parse"
description = "Write the parser"
depends_on = ["lex"]
assigned_to = "tech_lead"
step_mode = true
"#;

#[track_caller]
fn refuse(text: &str, expect: &[(usize, &str)]) {
    let mistakes = parse(text, TIERS).expect_err(text);
    let told: Vec<String> = mistakes.iter().map(|one| format!("{}: {}", one.line, one.message)).collect();
    assert_eq!(mistakes.len(), expect.len(), "{told:#?}");
    for (mistake, (line, part)) in mistakes.iter().zip(expect) {
        assert!(
            mistake.line == *line && mistake.message.contains(part),
            "{line}: {part} is not in {told:#?}"
        );
    }
}

#[test]
fn both_forms_give_the_same_track() {
    let track = parse(WHOLE, TIERS).expect("whole");
    let [lex, parser] = track.tickets.as_slice() else { panic!("{track:?}") };
    assert_eq!((track.id.as_str(), track.description.as_str()), ("release", "Ship it"));
    assert_eq!((lex.assigned_to.as_str(), lex.target_file.as_deref()), ("worker", Some("src/lex.rs")));
    assert_eq!(lex.context_requirements, ["docs/grammar.md"]);
    assert_eq!((parser.assigned_to.as_str(), parser.step_mode), ("tech_lead", true));
    assert_eq!(parser.depends_on, ["lex"]);

    let json = r#"{"id": "release", "description": "Ship it", "tickets": [
        {"id": "lex", "description": "Write the lexer", "target_file": "src/lex.rs",
         "context_requirements": ["docs/grammar.md"]},
        {"id": "parse", "description": "Write the parser", "depends_on": ["lex"],
         "assigned_to": "tech_lead", "step_mode": true}]}"#;
    assert_eq!(parse(json, TIERS).expect("whole"), track);

    let mut worked_on = track.clone();
    worked_on.tickets[0].status = TicketStatus::Completed;
    for json in [true, false] {
        let text = written(&worked_on, json).expect("text");
        assert_eq!(parse(&text, TIERS).expect("whole"), track, "{text}");
    }
}

#[test]
fn all_mistakes_are_told_at_once_with_their_lines() {
    let toml = r#"id = "a b"
goal = "x"
[[tickets]]
id = "one"
description = "x"
depend_on = ["two"]
[[tickets]]
id = "one"
description = ""
depends_on = ["tow", 3]
step_mode = "yes"
[[tickets]]
description = "x"
assigned_to = "boss"
"#;
    refuse(
        toml,
        &[
            (1, "the id \"a b\" must be"),
            (2, "a track has no `goal`"),
            (6, "did you mean `depends_on`?"),
            (7, "`one` has no description"),
            (7, "also that of the ticket in line 3"),
            (7, "depends on `tow`, which is not there"),
            (10, "`depends_on` must be a list of texts"),
            (11, "`step_mode` must be true or false"),
            (12, "the ticket has no id"),
            (14, "there is no tier `boss`; there are: orchestrator, qa, tech_lead, worker"),
        ],
    );
    let json = "{\"id\": \"t\",\n\"tickets\": [\n{\"id\": \"a\", \"description\": \"x\",\n\"depends_on\": \"b\"},\n7,\n{\"id\": \"c\",\"id\": \"d\",\"description\":1}]}";
    refuse(
        json,
        &[
            (4, "`depends_on` must be a list"),
            (5, "a ticket must be a table"),
            (5, "the ticket has no id"),
            (6, "`id` is given twice"),
            (6, "`description` must be text"),
            (6, "`d` has no description"),
        ],
    );
}

#[test]
fn circles_are_named_each_once() {
    let ticket =
        |id: &str, on: &str| format!("[[tickets]]\nid = {id:?}\ndescription = \"x\"\ndepends_on = {on}\n");
    let text = [
        "id = \"t\"\n".to_owned(),
        ticket("a", "[\"c\"]"),
        ticket("b", "[\"a\"]"),
        ticket("c", "[\"b\"]"),
        ticket("d", "[\"d\"]"),
        ticket("e", "[\"a\"]"),
        ticket("f", "[]"),
    ]
    .concat();
    refuse(
        &text,
        &[
            (2, "wait for each other: `a` waits for `c` waits for `b` waits for `a`"),
            (14, "wait for each other: `d` waits for `d`"),
        ],
    );
}

#[test]
fn what_is_no_file_of_this_kind_is_told_where() {
    refuse("id = \"t\"\nid = \"u\"\n[[tickets\n", &[(2, "duplicate key"), (3, "")]);
    refuse("{\"id\": \"t\",\n \"tickets\": [}", &[(2, "expected value")]);
    refuse("", &[(1, "the track has no id"), (1, "there are no tickets")]);
    refuse("id = \"t\"\ntickets = []", &[(2, "there are no tickets")]);
    let many = "[[tickets]]\nid = \"a\"\ndescription = \"x\"\n".repeat(MOST_TICKETS + 1);
    let mistakes = parse(&format!("id = \"t\"\n{many}"), TIERS).expect_err("too many");
    assert!(mistakes.iter().any(|one| one.message.contains("501 tickets; 500 are the most")));
}

#[test]
fn deep_files_end() {
    let deep = format!("{{\"id\": {}{}}}", "[".repeat(100), "]".repeat(100));
    refuse(&deep, &[(1, "`id` must be text"), (1, "there are no tickets")]);
}

proptest! {
    #[test]
    fn any_text_is_a_track_or_has_mistakes(
        at in any::<prop::sample::Index>(),
        with in "[\\PC\n\\[\\]{}\"=,:ü]{0,12}",
        json in any::<bool>(),
    ) {
        let whole = parse(WHOLE, TIERS).expect("whole");
        let mut text = written(&whole, json).expect("text");
        let from = text.floor_char_boundary(at.index(text.len()));
        let to = text.floor_char_boundary((from + with.len() / 2).min(text.len()));
        text.replace_range(from..to, &with);
        if let Err(mistakes) = parse(&text, TIERS) {
            let lines = text.lines().count() + 1;
            prop_assert!(mistakes.iter().all(|one| (1..=lines).contains(&one.line)), "{:?}", mistakes);
        }
    }
}
