//! The parts of a file that a change leaves alone, and lines that are no beads.

use super::*;

fn new(title: &str) -> NewBead {
    NewBead { title: title.into(), description: String::new(), parent: None, depends_on: Vec::new() }
}

#[test]
fn a_new_bead_is_one_line_more_and_reads_again() {
    let kept = "{\"id\":\"bd-aaaa\",\"title\":\"a\",\"colour\":\"red\"}\r\n<<<<<<< HEAD\r\n\r\n\u{feff}no";
    let store = Store::parse(kept.into());
    assert_eq!((store.beads.len(), store.broken.len()), (1, 2), "{:?}", store.broken);
    assert_eq!(store.beads[0].status, "open");
    let (bytes, bead) = store.with_new(&[], new("größer \"x\"\u{2028}🦀")).expect("made");
    let text = String::from_utf8(bytes).expect("UTF-8");
    let line = text.strip_prefix(kept).and_then(|rest| rest.strip_prefix("\r\n")).expect("all stays");
    assert!(line.ends_with("}\r\n") && line.lines().count() == 1, "{line:?}");
    assert_eq!((bead.title.as_str(), bead.status.as_str()), ("größer \"x\"\u{2028}🦀", "open"));
    assert!(bead.created.is_some() && bead.id.len() == 7 && bead.id.starts_with("bd-"), "{bead:?}");
}

#[test]
fn a_change_keeps_every_other_byte_and_field() {
    let before = "\u{feff}{\"title\":\"a\",\"id\":\"bd-aaaa\",\"colour\":\"red\"}\n{\"id\": \"bd-bbbb\",  \"title\":\"b\"}\n{broken\n";
    let store = Store::parse(before.into());
    let (bytes, bead) =
        store.with_changed(0, Some("closed"), &["bd-bbbb".into()]).expect("fits").expect("changes");
    let text = String::from_utf8(bytes).expect("UTF-8");
    let (line, rest) = text.split_once('\n').expect("two lines");
    assert_eq!(rest, "{\"id\": \"bd-bbbb\",  \"title\":\"b\"}\n{broken\n");
    let start = "\u{feff}{\"title\":\"a\",\"id\":\"bd-aaaa\",\"colour\":\"red\",\"status\":\"closed\",\"depends_on\":[\"bd-bbbb\"],";
    assert!(line.starts_with(start), "{line}");
    assert!(bead.is_closed());
    assert!(store.with_changed(0, Some("open"), &[]).expect("fits").is_none(), "nothing to change");
}

#[test]
fn broken_lines_are_named_and_a_repeated_one_does_not_count() {
    let text = "[]\n{\"id\":\"bd-a\"}\n{\"id\":\"-x\",\"title\":\"\"}\n{\"id\":\"a\",\"title\":\"1\"}\n{\"id\":\"a\",\"title\":\"2\"}\n\u{1}\n7\n";
    let store = Store::parse([text.as_bytes(), b"\xff\xfe\n"].concat());
    assert_eq!(store.beads.iter().map(|bead| bead.title.as_str()).collect::<Vec<_>>(), ["1"]);
    let said = told("f", &store.broken).expect("something is broken");
    for words in
        ["f: line 1 is no bead", "line 2 is", "line 3 is", "line 5 repeats a", "line 6 is", "and 2 more"]
    {
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(told("f", &[]), None);
}

#[test]
fn an_id_that_is_named_anywhere_is_not_given_again() {
    let bead =
        |id: &str, other: &str| Bead { id: id.into(), depends_on: vec![other.into()], ..Bead::default() };
    let beads = [bead("bd-0000", "bd-1000"), bead("bd-z000", "bd-zzzz")];
    let give = |numbers: &[u64]| first_free(beads.iter(), numbers.iter().copied());
    assert_eq!(give(&[0, 1, 35, 36_u64.pow(4) - 1, 36_u64.pow(4), 36]).as_deref(), Some("bd-0100"));
    assert_eq!(give(&[0, 1, 35]), None);
}
