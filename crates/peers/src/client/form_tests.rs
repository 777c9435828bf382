//! Each form of a result, as a table.

use globset::{Glob, GlobSetBuilder};

use super::*;

fn form(data: bool, reply: usize) -> Form {
    Form { data, reply, declared: None, renamed: &[] }
}

fn globs(pattern: &str) -> GlobSet {
    GlobSetBuilder::new().add(Glob::new(pattern).expect("a glob")).build().expect("a set")
}

#[test]
fn who_gets_data_is_decided_by_the_request_then_the_settings_then_what_is_known() {
    let claude = ClientFacts::find("claude-code", "2.1.325");
    let auto = ClientForms::default();
    let always = ClientForms { structured: Structured::Always, ..ClientForms::default() };
    let never = ClientForms { structured: Structured::Never, ..ClientForms::default() };
    let named = ClientForms { text: globs("*"), data: globs("claude*"), ..ClientForms::default() };
    for (forms, name, asked, expect) in [
        (&auto, "claude-code", None, false),
        (&auto, "claude-code", Some(true), true),
        (&auto, "rig", None, true),
        (&auto, "rig", Some(false), false),
        (&always, "claude-code", None, true),
        (&never, "rig", None, false),
        (&named, "claude-code", None, true),
        (&named, "rig", None, false),
    ] {
        let facts = if name == "rig" { ClientFacts::unknown() } else { claude };
        assert_eq!(forms.form(name, facts, asked).data, expect, "{name} {asked:?} {:?}", forms.structured);
    }
}

#[test]
fn the_longest_reply_is_the_clients_unless_it_is_a_program() {
    let claude = ClientFacts::find("claude-code", "2.1.325");
    let set = Glob::new("c*").expect("a glob").compile_matcher();
    let more = ClientForms { reply_chars: vec![(set, 90_000)], ..ClientForms::default() };
    let auto = ClientForms::default();
    let replies = |forms: &ClientForms, name: &str, facts, asked| {
        let form = forms.form(name, facts, asked);
        (form.reply, form.declared)
    };
    assert_eq!(replies(&auto, "claude-code", claude, None), (49_000, None));
    assert_eq!(replies(&auto, "claude-code", claude, Some(true)), (49_000, None));
    assert_eq!(replies(&more, "claude-code", claude, None), (90_000, Some(90_000)));
    assert_eq!(replies(&auto, "rig", ClientFacts::unknown(), None), (usize::MAX, None));
    assert_eq!(replies(&auto, "rig", ClientFacts::unknown(), Some(false)), (24_000, None));
    assert_eq!(replies(&more, "cat", ClientFacts::unknown(), None), (90_000, None));
    assert!(form(false, 16_000).room() == 15_000 && form(true, usize::MAX).room() == usize::MAX);
}

#[test]
fn a_long_text_is_cut_behind_a_line_and_says_so_first_and_last() {
    let text = "a line of words\n".repeat(100);
    assert_eq!(form(false, 1600).fitted(&text), text);
    let cut = form(false, 1599).fitted(&text).into_owned();
    assert!(cut.len() <= 1599, "{}", cut.len());
    let lines: Vec<&str> = cut.lines().collect();
    assert_eq!(lines.first(), lines.last());
    assert!(lines[0].starts_with("[cut: the first ") && lines[0].contains(" of 1600 bytes"), "{}", lines[0]);
    assert!(lines[1..lines.len() - 1].iter().all(|line| *line == "a line of words"));
    let one_line = "ü".repeat(1000);
    assert!(form(false, 999).fitted(&one_line).len() <= 999);
}

#[test]
fn results_of_servers_as_text_alone() {
    for (result, expect) in [
        (
            r#"{"content":[{"type":"text","text":"x"}],"n":1.0}"#,
            r#"{"content":[{"type":"text","text":"x"}],"n":1.0}"#,
        ),
        (
            r#"{"structuredContent":{"a":1.0},"content":[{"type":"text","text":"x","n":1.0}]}"#,
            r#"{"content":[{"type":"text","text":"x","n":1.0}]}"#,
        ),
        (
            r#"{"content":[{"type":"text","text":" "},{"type":"image","data":"AA"}],"structuredContent":{"a":1.0}}"#,
            r#"{"content":[{"type":"image","data":"AA"},{"type":"text","text":"{\"a\":1.0}"}]}"#,
        ),
        (r#"{"structuredContent":[1,2]}"#, r#"{"content":[{"type":"text","text":"[1,2]"}]}"#),
        (r#"{"content":[],"structuredContent":null}"#, r#"{"content":[]}"#),
        (
            r#"{"resultType":"input_required","requestState":"s"}"#,
            r#"{"resultType":"input_required","requestState":"s"}"#,
        ),
        (
            r#"{"content":[],"isError":true,"_meta":{"tectum/fault":"x","v":1e2}}"#,
            r#"{"content":[],"isError":true,"_meta":{"v":1e2}}"#,
        ),
        (r#"{"content":[],"isError":true,"_meta":{"tectum/call":"x"}}"#, r#"{"content":[],"isError":true}"#),
        (r#"{"content":[],"_meta":{"tectum/call":"x"}}"#, r#"{"content":[],"_meta":{"tectum/call":"x"}}"#),
    ] {
        assert_eq!(form(false, 100).passed(result, Era::Modern), expect);
    }
}

#[test]
fn data_that_is_no_object_is_wrapped_for_the_older_era_alone() {
    let both = form(true, usize::MAX);
    let list = r#"{"content":[],"structuredContent":[1.0]}"#;
    assert_eq!(both.passed(list, Era::Modern), list);
    assert_eq!(both.passed(list, Era::Legacy), r#"{"content":[],"structuredContent":{"result":[1.0]}}"#);
    let nothing = r#"{"content":[],"structuredContent":null}"#;
    assert_eq!(both.passed(nothing, Era::Legacy), r#"{"content":[]}"#);
    let object = r#"{ "structuredContent" : {"a":1.0} }"#;
    assert_eq!(both.passed(object, Era::Legacy), object);
}

#[test]
fn definitions_lose_their_output_schema_and_nothing_else() {
    let own = r#"{"name":"x","outputSchema":{},"n":1.0,"_meta":{"v":1e2}}"#;
    assert_eq!(form(true, 9).definition(own), own);
    assert_eq!(form(false, 9).definition(own), r#"{"name":"x","n":1.0,"_meta":{"v":1e2}}"#);
    let declared = Form { declared: Some(7), ..form(true, 9) };
    let expect =
        r#"{"name":"x","outputSchema":{},"n":1.0,"_meta":{"v":1e2,"anthropic/maxResultSizeChars":7}}"#;
    assert_eq!(declared.definition(own), expect);
}

#[test]
fn the_size_of_a_result_is_what_a_model_would_read_of_it() {
    for (result, expect) in [
        (r#"{"content":[{"type":"text","text":"abc"}],"structuredContent":{"a":"long"}}"#, 3),
        (r#"{"content":[{"type":"image","data":"AAAAAAAA"}],"structuredContent":[1]}"#, 3),
        (r#"{"content":[{"type":"text","text":"a\nb"}]}"#, 3),
    ] {
        assert_eq!(text_size(result), expect, "{result}");
    }
}
