//! Slices found again, case by case and for any text.

use proptest::prelude::*;

use super::*;

fn numbered(count: usize) -> String {
    (1..=count).map(|n| format!("line number {n} of the text\n")).collect()
}

/// A function of the kind that slices are made of.
const CODE: &str = "\
use std::fmt;

/// Counts things.
fn count(things: &[Thing]) -> usize {
    let mut total = 0;
    for thing in things {
        total += thing.size();
    }
    total
}

/// Prints things.
fn print(things: &[Thing]) {
    for thing in things {
        show(thing);
    }
}
";

fn check(text: &str, slice: &Slice, status: AnchorStatus, lines: Option<(usize, usize)>) -> f64 {
    let found = resolve(text, slice);
    assert_eq!((found.status, found.start.zip(found.end)), (status, lines), "{found:?} in {text:?}");
    assert!((0.0..=1.0).contains(&found.confidence), "{found:?}");
    found.confidence
}

#[test]
fn a_slice_keeps_its_ends_and_its_surroundings() {
    let slice = Slice::create(CODE, 4, 10).expect("a slice");
    let expect = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        slice.head,
        expect(&["fn count(things: &[Thing]) -> usize {", "let mut total = 0;", "for thing in things {"])
    );
    assert_eq!(slice.tail, expect(&["}", "total", "}"]));
    assert_eq!(slice.before, expect(&["use std::fmt;", "/// Counts things."]));
    assert_eq!(slice.after, expect(&["/// Prints things.", "fn print(things: &[Thing]) {"]));
    assert_eq!((slice.start_line, slice.end_line, slice.line_count), (4, 10, 7));
}

#[test]
fn a_slice_whose_middle_alone_changed_keeps_its_first_and_last_line() {
    let lines: String = (0..30).map(|n| format!("line {n}\n")).collect();
    let slice = Slice::create(&lines, 5, 8).expect("a slice");
    check(&lines.replace("line 5\n", "one\ntwo\n"), &slice, AnchorStatus::Fuzzy, Some((5, 9)));
    let all = Slice::create("first one\nsecond one\nlast one\n", 1, 3).expect("a slice");
    check("first one\nx\ny\nlast one\n", &all, AnchorStatus::Fuzzy, Some((1, 4)));
}

#[test]
fn the_hash_is_fnv_1a_over_lines_without_their_ends() {
    let hash = |text: &str| Slice::create(text, 1, 9).expect("a slice").content_hash;
    assert_eq!(hash("a"), "af63dc4c8601ec8c");
    assert_eq!(hash("foobar\n"), "85944171f73967e8");
    assert_eq!(hash("a\nb\n"), hash("a  \r\nb\t\r\n"));
    assert_eq!(hash("a\nb"), hash("a\rb\r"));
    assert_ne!(hash("a\nb"), hash("a\n b"));
    assert_ne!(hash("ab"), hash("a\nb"));
}

#[test]
fn lines_that_are_not_there_are_refused() {
    let check = |text: &str, first, last, expect| {
        assert_eq!(Slice::create(text, first, last).expect_err("refused"), expect, "{first}-{last}");
    };
    check("a\nb\n", 0, 1, Refused::Zero);
    check("a\nb\n", 2, 1, Refused::Reversed);
    check("a\nb\n", 3, 9, Refused::Beyond { total: 2 });
    check("", 1, 1, Refused::Beyond { total: 0 });
    let clamped = Slice::create("a\nb\n", 2, 99).expect("clamped");
    assert_eq!((clamped.start_line, clamped.end_line, clamped.line_count), (2, 2, 1));
}

#[test]
fn a_long_line_is_not_carried_along() {
    let giant = "é".repeat(1_000_000);
    let slice = Slice::create(&giant, 1, 1).expect("a slice");
    assert_eq!(slice.head[0].chars().count(), LINE_CHARS);
    check(&giant, &slice, AnchorStatus::Exact, Some((1, 1)));
    check(&format!("new\n{giant}"), &slice, AnchorStatus::Moved, Some((2, 2)));
}

#[test]
fn unchanged_lines_are_exact_or_moved() {
    let slice = Slice::create(CODE, 4, 10).expect("a slice");
    assert_eq!(check(CODE, &slice, AnchorStatus::Exact, Some((4, 10))), 1.0);
    check(&CODE.replace('\n', "\r\n"), &slice, AnchorStatus::Exact, Some((4, 10)));
    assert_eq!(check(&format!("// new\n{CODE}"), &slice, AnchorStatus::Moved, Some((5, 11))), 1.0);
    check(&CODE.replace("use std::fmt;\n\n", ""), &slice, AnchorStatus::Moved, Some((2, 8)));
}

#[test]
fn of_several_equal_places_the_nearest_is_taken() {
    let block = "begin\n  work\nend\n";
    let gap = "other\n".repeat(3);
    let text = format!("{block}{gap}{block}{gap}{block}");
    // Lines 1, 7 and 13 begin the same block.
    let slice = Slice::create(&text, 7, 9).expect("a slice");
    check(&format!("x\n{text}"), &slice, AnchorStatus::Moved, Some((8, 10)));
    check(&text.replacen("other\n", "", 2), &slice, AnchorStatus::Moved, Some((5, 7)));
    // Between two equally near places, the one above.
    let slice = Slice { start_line: 4, end_line: 6, ..slice };
    check(&text, &slice, AnchorStatus::Moved, Some((1, 3)));
}

#[test]
fn changed_lines_are_recognised_by_their_ends() {
    let slice = Slice::create(CODE, 4, 10).expect("a slice");
    let changed = CODE.replace("total += thing.size();", "total += thing.len() * 2;");
    assert!(check(&changed, &slice, AnchorStatus::Fuzzy, Some((4, 10))) > 0.95);
    let grown =
        CODE.replace("        total += thing.size();\n", "        a();\n        b();\n        c();\n");
    check(&grown, &slice, AnchorStatus::Fuzzy, Some((4, 12)));
    let renamed = CODE.replace("fn count(things", "fn count(items");
    check(&format!("// a\n// b\n{renamed}"), &slice, AnchorStatus::Fuzzy, Some((6, 12)));
}

#[test]
fn one_end_alone_is_a_guess_and_says_so() {
    // No two lines of it are alike.
    let scrambled = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17).wrapping_mul(n | 1);
    let text: String = (1..=40).map(|n| format!("{:016x}\n", scrambled(n))).collect();
    let slice = Slice::create(&text, 11, 20).expect("a slice");
    let keep = |range: std::ops::RangeInclusive<usize>| {
        let lines = text.lines().enumerate();
        let kept = lines.map(|(at, line)| if range.contains(&(at + 1)) { line } else { "#### gone ####" });
        kept.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert!(check(&keep(9..=14), &slice, AnchorStatus::Partial, Some((11, 20))) <= 0.6);
    assert!(check(&keep(17..=22), &slice, AnchorStatus::Partial, Some((11, 20))) <= 0.6);
    // A guess stays inside the file.
    let start: String = keep(9..=14).lines().take(15).map(|line| format!("{line}\n")).collect();
    check(&start, &slice, AnchorStatus::Partial, Some((11, 15)));
}

#[test]
fn what_is_gone_is_lost() {
    let slice = Slice::create(CODE, 4, 10).expect("a slice");
    for text in ["", "\n\n\n", "}\n}\n}\n", "nothing like it\n", "fn main() {\n    run();\n}\n"] {
        assert_eq!(check(text, &slice, AnchorStatus::Lost, None), 0.0);
    }
    check(&numbered(500), &slice, AnchorStatus::Lost, None);
}

#[test]
fn a_slice_is_believed_only_as_far_as_the_text_confirms_it() {
    let slice = Slice::create(CODE, 4, 10).expect("a slice");
    let odd = [
        Slice { line_count: 0, ..slice.clone() },
        Slice { line_count: usize::MAX, start_line: usize::MAX, ..slice.clone() },
        Slice { head: Vec::new(), tail: Vec::new(), content_hash: "no hash".into(), ..slice.clone() },
        Slice { head: vec!["  ".into(); 9], content_hash: String::new(), tail: Vec::new(), ..slice.clone() },
    ];
    for slice in odd {
        let found = resolve(CODE, &slice);
        assert_ne!(found.status, AnchorStatus::Exact, "{slice:?}");
        assert!(found.end.is_none_or(|end| end <= 17), "{found:?}");
    }
}

#[test]
fn blank_lines_can_be_a_slice() {
    let slice = Slice::create("a\n\n\nb\n", 2, 3).expect("a slice");
    assert!(slice.head.is_empty());
    check("a\n\n \nb\n", &slice, AnchorStatus::Exact, Some((2, 3)));
    check("a\nb\nc\n\n\nd", &slice, AnchorStatus::Moved, Some((4, 5)));
    check("a\nb\n", &slice, AnchorStatus::Lost, None);
}

#[test]
fn a_text_that_repeats_itself_stays_bounded() {
    let mut text = "}\n".repeat(200_000);
    let slice = Slice::create(&format!("{text}{{\n"), 50_000, 150_000).expect("a slice");
    let slice = Slice { content_hash: "0000000000000000".into(), ..slice };
    check(&text, &slice, AnchorStatus::Fuzzy, Some((50_000, 150_000)));
    text.clear();
    for n in 0..200_000 {
        text.push_str(&format!("the same words in every line, but for a number: {n:06}\n"));
    }
    let slice = Slice::create(&text, 100_000, 100_009).expect("a slice");
    check(&format!("new\n{text}"), &slice, AnchorStatus::Moved, Some((100_001, 100_010)));
    let changed = text.replace("number: 100", "figure: 100");
    let found = resolve(&changed, &slice);
    assert_eq!(found.status, AnchorStatus::Fuzzy, "{found:?}");
}

fn any_text() -> impl Strategy<Value = String> {
    let line = prop_oneof!["[a-c {}]{0,6}", "\\PC{0,20}", Just(String::new()), "[a-z]{3,10}"];
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    proptest::collection::vec((line, end), 0..40)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| format!("{line}{end}")).collect())
}

proptest! {
    #[test]
    fn a_slice_of_a_text_is_exact_in_it(text in any_text(), first in 1_usize..40, more in 0_usize..40) {
        if let Ok(slice) = Slice::create(&text, first, first + more) {
            let found = resolve(&text, &slice);
            prop_assert_eq!(found.status, AnchorStatus::Exact);
            prop_assert_eq!((found.start, found.end), (Some(slice.start_line), Some(slice.end_line)));
            let json = serde_json::to_string(&slice).expect("JSON");
            prop_assert_eq!(serde_json::from_str::<Slice>(&json).expect("a slice"), slice);
        }
    }

    #[test]
    fn lines_put_before_it_move_it_by_their_number(count in 2_usize..60, at in 0_usize..60, by in 1_usize..50) {
        let text = numbered(count);
        let first = at % count + 1;
        let slice = Slice::create(&text, first, first + 5).expect("a slice");
        let found = resolve(&format!("{}{text}", "put before\n".repeat(by)), &slice);
        prop_assert_eq!(found.status, AnchorStatus::Moved);
        prop_assert_eq!((found.start, found.end), (Some(first + by), Some(slice.end_line + by)));
    }

    #[test]
    fn an_inner_line_may_change(words in proptest::collection::vec("[a-z]{4,12} [a-z]{4,12}", 20), edit in 3_usize..5, at in 0_usize..12) {
        let text = words.join("\n");
        let slice = Slice::create(&text, at + 1, at + 8).expect("a slice");
        let mut changed = words.clone();
        changed[at + edit] = "1234567890".into();
        let found = resolve(&changed.join("\n"), &slice);
        prop_assert_eq!(found.status, AnchorStatus::Fuzzy);
        let (start, end) = (found.start.expect("found"), found.end.expect("found"));
        prop_assert!((start..=end).contains(&(at + edit + 1)), "{:?}", found);
    }

    #[test]
    fn any_text_and_any_slice_end_well(text in any_text(), other in any_text(), first in 1_usize..40, more in 0_usize..40) {
        if let Ok(slice) = Slice::create(&other, first, first + more) {
            let found = resolve(&text, &slice);
            let total = crate::text::split(&text).len();
            match (found.start, found.end) {
                (Some(start), Some(end)) => prop_assert!(1 <= start && start <= end && end <= total),
                none => prop_assert_eq!((none, found.status), ((None, None), AnchorStatus::Lost)),
            }
        }
    }
}
