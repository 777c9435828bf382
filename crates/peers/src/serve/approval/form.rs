//! What a person is shown of a question of the rules, and what their answer means. Servers' own
//! questions begin with the server's name in brackets; ours begins with our name, and nothing that
//! a call brings stands before it.

use serde::Deserialize;
use serde_json::value::RawValue;
use tectum_approval::{Answer, OpenQuestion, Preview};

use crate::{
    link::error_parts,
    visible::{on_one_line, visible},
    wire::{Members, Object},
};

/// Characters of a call that are shown.
const MOST_SHOWN: usize = 6000;
/// Characters of a person's reason that the model is told.
const MOST_REASON: usize = 500;
/// The schema of the answer. Whoever only confirms the form has not agreed.
const SCHEMA: &str = r#"{"type":"object","properties":{"approve":{"type":"boolean","title":"Allow this call","description":"Yes lets this one call run, once. Anything else refuses it.","default":false},"reason":{"type":"string","title":"Reason","description":"Optional. The model is told."}},"required":["approve"]}"#;

/// The parameters of `elicitation/create`.
pub(super) fn params(question: &OpenQuestion) -> String {
    Object::new().text("message", &message(question)).raw("requestedSchema", SCHEMA).end()
}

/// The question as a person reads it.
fn message(question: &OpenQuestion) -> String {
    let about = match question.subject.as_str() {
        "" => String::new(),
        subject => format!(" on `{}`", cut(&on_one_line(subject), MOST_SHOWN)),
    };
    format!(
        "Tectum asks: may {} run{about}?\n\n{}\n\nAsked because of: {}",
        question.tool,
        cut(&visible(&planned(question)), MOST_SHOWN),
        on_one_line(&question.rule.text)
    )
}

/// What the call would do, as far as that was found out; else its arguments.
fn planned(question: &OpenQuestion) -> String {
    let args = question.arguments.get();
    match &question.preview {
        Preview::Diff { text } => {
            let members = Members::of(args).unwrap_or_default();
            let more = members.0.iter().filter(|(name, _)| !of_an_edit(name) && !in_a_diff(name));
            let more = more.map(|(name, value)| argument(name, value));
            // Every line of it has a sign of its own before it.
            let lines = text.lines().map(|line| line.replace('\r', "\\r"));
            more.chain(lines).collect::<Vec<_>>().join("\n")
        }
        Preview::Command { folder, .. } => {
            let sandbox = question.sandbox.as_deref().unwrap_or("unknown");
            format!("{}\nIt would run in {}.\nSandbox: {sandbox}", call(args), on_one_line(folder))
        }
        Preview::Definition { server, definition } => {
            let defined = definition.0.get();
            format!("{}\nThe server {server} defines the tool as: {}", call(args), on_one_line(defined))
        }
        Preview::Text { text } => format!("{}\n{}", call(args), on_one_line(text)),
        Preview::Address { .. } | Preview::None => call(args),
    }
}

/// True for further arguments that a diff shows.
fn in_a_diff(name: &str) -> bool {
    matches!(name, "edits" | "content" | "new_content")
}

/// The arguments, one in a line; what they replace as a diff.
fn call(args: &str) -> String {
    let Some(members) = Members::of(args) else { return args.to_owned() };
    let mut lines = Vec::new();
    let diff = diff(&members);
    for (name, value) in members.0.iter().filter(|(name, _)| diff.is_none() || !of_an_edit(name)) {
        let edits = (name == "edits").then(|| edits(value)).flatten();
        lines.push(edits.unwrap_or_else(|| argument(name, value)));
    }
    lines.extend(diff);
    if lines.is_empty() { "It has no arguments.".to_owned() } else { lines.join("\n") }
}

/// One argument. Its name is whatever the model wrote, so it does not begin the line.
fn argument(name: &str, value: &RawValue) -> String {
    format!("  {}: {}", name.escape_debug(), value.get())
}

/// Several edits as one diff, if all of them are edits and nothing else.
fn edits(list: &RawValue) -> Option<String> {
    let list: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
    let one = |edit: &&RawValue| {
        let members = Members::of(edit.get())?;
        let more = members.0.iter().filter(|(name, _)| !of_an_edit(name));
        let more = more.map(|(name, value)| argument(name, value));
        Some(more.chain([diff(&members)?]).collect::<Vec<_>>().join("\n"))
    };
    let diffs: Option<Vec<String>> = list.iter().map(one).collect();
    diffs.filter(|diffs| !diffs.is_empty()).map(|diffs| diffs.join("\n"))
}

/// True for the arguments that a diff shows.
fn of_an_edit(name: &str) -> bool {
    matches!(name, "path" | "old_string" | "new_string")
}

/// What an edit takes away and puts there, by its own words. A name that stands twice is shown as it
/// came.
fn diff(members: &Members<'_>) -> Option<String> {
    let only = |key: &str| {
        let once = members.0.iter().filter(|(name, _)| name == key).count() == 1;
        once.then(|| members.text(key)).flatten()
    };
    let (path, old, new) = (only("path")?, only("old_string")?, only("new_string")?);
    let mut diff = format!("--- {0}\n+++ {0}\n@@", on_one_line(&path));
    for (sign, text) in [('-', &old), ('+', &new)] {
        // A line of the text never begins a line of the message by itself, whatever ends it.
        for line in text.split_terminator('\n') {
            diff.extend(['\n', sign]);
            diff.push_str(&line.replace('\r', "\\r"));
        }
    }
    Some(diff)
}

/// The text within the bound. What is left out is counted: nobody should agree to a part and not
/// know it.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => {
            let count = text.chars().count();
            format!("{}\n… ({} of {count} characters are not shown)", &text[..end], count - most)
        }
    }
}

/// The answer that a filled form is. Only a plain yes is one.
pub(super) fn answer(question: &OpenQuestion, answer: &RawValue) -> Answer {
    #[derive(Deserialize)]
    struct FormAnswer<'a> {
        action: String,
        #[serde(borrow)]
        content: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Choice {
        approve: bool,
        reason: Option<String>,
    }
    let unreadable = || Answer::no("the answer was not of the form that was asked for");
    let Ok(FormAnswer { action, content }) = serde_json::from_str(answer.get()) else { return unreadable() };
    match action.as_str() {
        "accept" => match content.and_then(|content| serde_json::from_str(content.get()).ok()) {
            Some(Choice { approve: true, .. }) => Answer::yes(),
            Some(Choice { approve: false, reason }) => Answer::no(
                reason
                    .filter(|reason| !reason.trim().is_empty())
                    .map_or("the answer was no".into(), |reason| cut(&visible(&reason), MOST_REASON)),
            ),
            None => unreadable(),
        },
        "decline" => without_person(question, "declined"),
        "cancel" => without_person(question, "cancelled"),
        _ => unreadable(),
    }
}

/// The client gave no answer but an error.
pub(super) fn failed(question: &OpenQuestion, error: &RawValue) -> Answer {
    let (_, why) = error_parts(error);
    let why = cut(&visible(&why), MOST_REASON);
    Answer::no(format!("the client could not ask ({why}); {}", question.how_to_allow()))
}

/// A refusal that a client may give by itself, with nobody in front of it.
fn without_person(question: &OpenQuestion, what: &str) -> Answer {
    let allow = question.how_to_allow();
    Answer::no(format!(
        "the question was {what} at the client; if the client did so by itself, having no person, {allow}"
    ))
}

#[cfg(test)]
mod tests {
    use tectum_approval::QuestionKind;

    use super::*;
    use crate::wire::object::raw;

    fn question(args: &str) -> OpenQuestion {
        let mut question = OpenQuestion::blank(QuestionKind::Call);
        question.tool = "edit_file".into();
        question.subject = "a.txt".into();
        question.arguments = raw(args.to_owned());
        question.rule.text = "ask rule `edit_file` (tectum.toml:3)".into();
        question
    }

    fn decide(args: &str) -> Result<(), String> {
        let Answer { decision, reason, .. } = answer(&question("{}"), &raw(args.to_owned()));
        match decision {
            tectum_approval::Choice::Approve => Ok(()),
            tectum_approval::Choice::Deny => Err(reason.expect("a reason")),
        }
    }

    #[test]
    fn only_a_plain_yes_is_one() {
        assert_eq!(decide(r#"{"action":"accept","content":{"approve":true}}"#), Ok(()));
        let reasoned = r#"{"action":"accept","content":{"approve":true,"reason":"ok","x":1}}"#;
        assert_eq!(decide(reasoned), Ok(()));
        for no in [
            r#"{"action":"accept"}"#,
            r#"{"action":"accept","content":null}"#,
            r#"{"action":"accept","content":{}}"#,
            r#"{"action":"accept","content":{"approve":"true"}}"#,
            r#"{"action":"accept","content":{"approve":1}}"#,
            r#"{"action":"accept","content":{"approve":[true]}}"#,
            r#"{"action":"accept","content":{"approve":true,"approve":true}}"#,
            r#"{"action":"accept","content":{"approve":false}}"#,
            r#"{"action":"accept","action":"accept","content":{"approve":true}}"#,
            r#"{"action":"ACCEPT","content":{"approve":true}}"#,
            r#"{"action":"decline","content":{"approve":true}}"#,
            r#"{"action":"cancel","content":{"approve":true}}"#,
            r#"{"content":{"approve":true}}"#,
            r#"{"approve":true}"#,
            "true",
            "[]",
            "null",
        ] {
            assert!(decide(no).is_err(), "{no}");
        }
        let reason = decide(r#"{"action":"accept","content":{"approve":false,"reason":"not today"}}"#);
        assert_eq!(reason, Err("not today".into()));
    }

    #[test]
    fn an_edit_is_shown_as_a_diff_and_nothing_of_it_begins_a_line() {
        let shown = message(&question(
            r#"{"path":"a.txt","old_string":"one\ntwo\n","new_string":"1\r\nAsked because of: nothing","replace_all":true}"#,
        ));
        assert_eq!(
            shown,
            "Tectum asks: may edit_file run on `a.txt`?\n\n  replace_all: true\n--- a.txt\n+++ a.txt\n@@\n-one\n-two\n\
             +1\\r\n+Asked because of: nothing\n\nAsked because of: ask rule `edit_file` (tectum.toml:3)"
        );
        let shown = message(&question(
            r#"{"edits":[{"path":"a","old_string":"x","new_string":"y"},{"path":"b","old_string":"","new_string":"z","replace_all":true}]}"#,
        ));
        assert!(
            shown.contains("--- a\n+++ a\n@@\n-x\n+y\n  replace_all: true\n--- b\n+++ b\n@@\n+z"),
            "{shown}"
        );
    }

    #[test]
    fn other_arguments_stand_each_in_a_line_and_what_is_left_out_is_counted() {
        let shown = message(&question(r#"{"command":"ls\nTectum asks","path":"x","path":"y"}"#));
        assert!(
            shown.contains("\n  command: \"ls\\nTectum asks\"\n  path: \"x\"\n  path: \"y\"\n"),
            "{shown}"
        );
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(MOST_SHOWN));
        assert!(message(&question(&long)).contains("… (7 of 6007 characters are not shown)"));
        assert!(message(&question("{}")).contains("It has no arguments."));
    }
}
