//! Tiers, ambiguity and near misses, case by case.

use tectum_core::FaultKind;

use super::*;

fn search<'a>(old: &'a str, new: &'a str) -> EditSearch<'a> {
    EditSearch { old, new, count: Count::One }
}

fn run(before: &str, search: &EditSearch<'_>) -> Result<(Tier, Vec<usize>, String), Fault> {
    let file = TextFile::decode(before.into()).expect("text");
    let found = find("a.txt", &file, search)?;
    let after = String::from_utf8(file.splice(&found.edits)?).expect("UTF-8");
    Ok((found.tier, found.lines, after))
}

#[track_caller]
fn check(before: &str, old: &str, new: &str, tier: Tier, after: &str) {
    let done = run(before, &search(old, new)).unwrap_or_else(|fault| panic!("{}", fault.message));
    assert_eq!((done.0, done.2.as_str()), (tier, after));
}

#[track_caller]
fn check_all(before: &str, old: &str, new: &str, lines: &[usize], after: &str) {
    let all = EditSearch { old, new, count: Count::All };
    let done = run(before, &all).unwrap_or_else(|fault| panic!("{}", fault.message));
    assert_eq!((done.1.as_slice(), done.2.as_str()), (lines, after));
}

#[track_caller]
fn check_refused(before: &str, search: &EditSearch<'_>, kind: FaultKind, parts: &[&str]) {
    let fault = run(before, search).expect_err("refused");
    assert_eq!(fault.kind, kind, "{}", fault.message);
    let text = fault.text();
    for part in parts {
        assert!(text.contains(part), "`{part}` not in `{text}`");
    }
}

#[test]
fn exact_comes_first() {
    check("a b c", "b", "x", Tier::Exact, "a x c");
    check("a\r\nb\r\n", "a\r\nb", "a\r\nx\r\ny", Tier::Exact, "a\r\nx\r\ny\r\n");
    // The tolerant look-alike on line 1 does not count once line 2 fits exactly.
    check("\tfoo();\n    foo();\n", "    foo();", "    bar();", Tier::Exact, "\tfoo();\n    bar();\n");
}

#[test]
fn a_quoted_byte_order_mark_is_no_text() {
    check("\u{feff}one\ntwo\n", "\u{feff}one\n", "\u{feff}1\n", Tier::Exact, "\u{feff}1\ntwo\n");
    check("\u{feff}one\ntwo\n", "\u{feff}one", "1", Tier::Exact, "\u{feff}1\ntwo\n");
}

#[test]
fn line_ends_are_forgiven_and_kept() {
    check("a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\ny\n", Tier::LineEnds, "a\r\nx\r\ny\r\nc\r\n");
    check("a\nb\nc\n", "a\r\nb", "a\r\nx", Tier::LineEnds, "a\nx\nc\n");
    check("a\rb\rc", "a\nb", "a\nx", Tier::LineEnds, "a\rx\rc");
    // Unchanged lines of the quoted text keep their own ends in a mixed file.
    check("a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nx\nc\nd", Tier::LineEnds, "a\r\nx\nc\r\nd\n");
    // A match never begins or ends inside a line end.
    check("a\r\nb\r\n", "\nb", "c", Tier::LineEnds, "ac\r\n");
}

#[test]
fn blanks_at_line_ends_are_forgiven() {
    check("a  \nb\n", "a\nb", "a\nx", Tier::TrailingSpace, "a  \nx\n");
    check("a\nb\n", "a \nb\t\n", "a \nx\n", Tier::TrailingSpace, "a\nx\n");
    check("foobar\nfoo\n", "foo  ", "x", Tier::TrailingSpace, "foobar\nx\n");
}

#[test]
fn a_shift_of_indentation_is_forgiven_and_followed() {
    check(
        "fn a() {\n        one();\n        two();\n}\n",
        "    one();\n    two();\n",
        "    one();\n    if x {\n        three();\n    }\n",
        Tier::Indentation,
        "fn a() {\n        one();\n        if x {\n            three();\n        }\n}\n",
    );
    check(
        "\tif a:\n\t\tb()\n",
        "    if a:\n        b()\n",
        "    if a:\n        for c in d:\n            b(c)\n",
        Tier::Indentation,
        "\tif a:\n\t\tfor c in d:\n\t\t\tb(c)\n",
    );
    check(
        "    x = 1\n    y = 2",
        "\tx = 1\n\ty = 2",
        "\tx = 3\n\ty = 2",
        Tier::Indentation,
        "    x = 3\n    y = 2",
    );
    // A different structure is not a shift.
    check_refused(
        "if a:\n    b()\n    c()\n",
        &search("if a:\n    b()\nc()\n", "x"),
        FaultKind::NotFound,
        &["line 1", "line 3"],
    );
}

#[test]
fn typography_is_forgiven_and_kept() {
    check(
        "say \u{201c}hello\u{201d} now",
        "say \"hello\" now",
        "say \"hello\" later",
        Tier::Punctuation,
        "say \u{201c}hello\u{201d} later",
    );
    check("a\u{a0}\u{2013} b", "a - b", "a + b", Tier::Punctuation, "a\u{a0}+ b");
}

#[test]
fn typography_is_never_mixed() {
    let before = "say \u{201c}hello\u{201d} \u{2014} it\u{2019}s";
    let old = "say \"hello\" - it's";
    let curly = "say \u{201c}bye\u{201d}";
    check(before, old, "say \"bye\"", Tier::Punctuation, curly);
    check(before, old, "say \u{201c}bye\u{201d}", Tier::Punctuation, curly);
    // Nothing here shows how a single quote opens, so all of it stands as it was given.
    check(before, old, "say \"hello\" 'x'", Tier::Punctuation, "say \"hello\" 'x'");
    check(
        "say \"hi\"\u{a0}!\n",
        "say \u{201c}hi\u{201d} !",
        "say \u{201c}yo\u{201d}, \u{201c}hi\u{201d} !",
        Tier::Punctuation,
        "say \"yo\", \"hi\"\u{a0}!\n",
    );
}

#[test]
fn a_missing_final_newline_stays_missing() {
    check("a\nfoo", "foo\n", "bar\n", Tier::LineEnds, "a\nbar");
    check("a\r\nfoo", "a\nfoo\n", "a\nbar\n", Tier::LineEnds, "a\r\nbar");
    check("a\nfoo", "foo\r\n", "bar\r\n", Tier::LineEnds, "a\nbar");
    check("a\nfoo", "foo\n", "foo\nbar\n", Tier::LineEnds, "a\nfoo\nbar");
    check("a\nfoo", "foo\n", "", Tier::LineEnds, "a\n");
    check("a\nfoo \t", "foo\n", "bar\n", Tier::TrailingSpace, "a\nbar");
    check("a\n\tfoo", "    foo\n", "    bar\n", Tier::Indentation, "a\n\tbar");
    check("a\n\u{201c}foo\u{201d}", "\"foo\"\n", "\"bar\"\n", Tier::Punctuation, "a\n\u{201c}bar\u{201d}");
    check("\u{e9}foo", "foo\n", "bar\n", Tier::LineEnds, "\u{e9}bar");
    // The newline that is there is found first, and the other place is only told of.
    check("foo\nfoo", "foo\n", "bar\n", Tier::Exact, "bar\nfoo");
    let file = TextFile::decode("foo\nfoo".into()).expect("text");
    let all = EditSearch { old: "foo\n", new: "bar\n", count: Count::All };
    assert_eq!(find("a", &file, &all).expect("found").further, Some((Tier::LineEnds, vec![2])));
    // Overlapping places are two when one is meant.
    let overlapping = search("a\r\na\r\n", "b\r\n");
    check_refused("a\na\na", &overlapping, FaultKind::Conflict, &["occurs 2 times"]);
    check_all("a\na\na", "a\r\na\r\n", "b\r\n", &[1], "b\na");
    check_refused("foo", &search("foo\n\n", "bar"), FaultKind::NotFound, &["not found"]);
}

#[test]
fn several_places_are_refused_with_their_lines() {
    let before = "x\ny\nx\nx\nx\nx\nx\nx\n";
    check_refused(
        before,
        &search("x", "z"),
        FaultKind::Conflict,
        &["occurs 7 times in a.txt (lines 1, 3, 4, 5, 6 and 2 more), not once", "replace_all=true"],
    );
    check_refused(
        "\tfoo()\n\tfoo()\n",
        &search("  foo()", "  bar()"),
        FaultKind::Conflict,
        &["occurs 2 times"],
    );
    check_refused(
        "x x",
        &EditSearch { old: "x", new: "y", count: Count::Exactly(3) },
        FaultKind::Conflict,
        &["2 times", "not 3 times", "expected_count"],
    );
    check_refused(
        "x",
        &EditSearch { old: "x", new: "y", count: Count::Exactly(2) },
        FaultKind::Conflict,
        &["occurs once in a.txt (line 1), not 2 times"],
    );
}

#[test]
fn places_that_overlap_are_two_places() {
    let check =
        |before, old| check_refused(before, &search(old, "x"), FaultKind::Conflict, &["occurs 2 times"]);
    check("one two one two one", "one two one");
    let fault = run("aaa", &search("aa", "x")).expect_err("refused");
    assert!(fault.message.contains("(lines 1, 1, overlapping)"), "{}", fault.message);
    assert!(!fault.text().contains("replace_all"), "it would replace one of them: {}", fault.text());
    check("a  \nb\na \nb\na\n", "a\nb\na\n");
    check("\ta();\n\tb();\n\ta();\n\tb();\n\ta();\n", "a();\nb();\na();\n");
    check("\u{201c}a\u{201d}a\u{201c}", "\"a\"");
    check_all("one two one two one", "one two one", "x", &[1], "x two one");
}

#[test]
fn all_places_are_replaced_left_to_right() {
    check_all("x\ny x\n", "x", "zz", &[1, 2], "zz\ny zz\n");
    check_all("aaaaa", "aa", "b", &[1, 1], "bba");
    check_all("a\r\nb\na\rb\n", "a\nb", "c", &[1, 3], "c\nc\n");
    assert!(run("x x", &EditSearch { old: "x", new: "y", count: Count::Exactly(2) }).is_ok());
}

#[test]
fn empty_and_idle_edits_are_refused() {
    check_refused("a", &search("", "b"), FaultKind::InvalidInput, &["old_string is empty"]);
    check_refused("a", &search("a", "a"), FaultKind::InvalidInput, &["the same"]);
}

#[test]
fn a_near_miss_names_the_first_differing_line() {
    let before = "fn main() {\n\tlet total = add(1, 2);\n\tprintln!(\"{total}\");  \n}\n";
    check_refused(
        before,
        &search("fn main() {\n\tlet total = sub(1, 2);\n\tprintln!(\"{total}\");\n}", "x"),
        FaultKind::NotFound,
        &[
            "nearest place is line 1",
            "first difference is at line 2",
            "expected: \\tlet total = sub",
            "found:    \\tlet total = add",
        ],
    );
    check_refused(
        "one two three four\n",
        &search("two three five", "x"),
        FaultKind::NotFound,
        &["line 1", "expected: two three five", "found:    two three four"],
    );
    check_refused(
        "a\u{a0}value  \nother line\n",
        &search("a value, \nother line\n", "x"),
        FaultKind::NotFound,
        &["found:    a\\u{a0}value··", "expected: a value,·"],
    );
    check_refused(
        "alpha\nbeta\n",
        &search("nothing like it", "x"),
        FaultKind::NotFound,
        &["Nothing in the file resembles it"],
    );
    check_refused(
        "let answer = 42;\n",
        &search("let answer = 41;", "let answer = 42;"),
        FaultKind::NotFound,
        &["already stands at line 1"],
    );
    check_refused(
        "alpha\nlast line\n",
        &search("last line\nand more\n", "x"),
        FaultKind::NotFound,
        &["line 3", "(end of file)"],
    );
}

#[test]
fn a_near_miss_in_a_large_file_costs_little() {
    let mut before = String::new();
    for number in 0..200_000 {
        before.push_str(&format!("    let value_{number} = compute({number}, \"some more words\");\n"));
    }
    let old: String = (0..200)
        .map(|number| format!("    let value_{} = compute({}, \"other words\");\n", number + 9_000, number))
        .collect();
    let started = std::time::Instant::now();
    check_refused(&before, &search(&old, "x"), FaultKind::NotFound, &["nearest place is line"]);
    // Generous, for a debug build on a busy machine; quadratic work would take minutes.
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn three_dots_are_one_sign() {
    check("wait\u{2026} done\n", "wait... done", "wait... ok", Tier::Punctuation, "wait\u{2026} ok\n");
    check("wait... done\n", "wait\u{2026} done", "wait\u{2026} ok", Tier::Punctuation, "wait... ok\n");
    check("a\u{2026}\n", "a...", "a..", Tier::Punctuation, "a..\n");
}

#[test]
fn a_missing_line_does_not_move_the_nearest_place() {
    let function = |n: usize| format!("def f{n}():\n    return {n}\n");
    let file: String = (0..60).map(|n| function(n + 100)).collect();
    let old: String = (110..130).map(function).collect::<String>().replace("def f115():\n", "");
    check_refused(
        &file,
        &search(&old, "x"),
        FaultKind::NotFound,
        &["nearest place is line 21", "first difference is at line 31", "found:    def f115():"],
    );
}
