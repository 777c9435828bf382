//! The forms in which `bd` and `br` print.

use super::*;

#[track_caller]
fn check(out: &str, expect: Result<&[&str], &str>) {
    let found =
        beads(out).map(|beads| beads.iter().map(|bead| format!("{} {}", bead.id, bead.status)).collect());
    let expect = expect.map(|rows| rows.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(found, expect.map_err(str::to_owned), "{out}");
}

#[test]
fn every_form_is_read() {
    let two = "[\n  {\"id\": \"p-1\", \"title\": \"a\", \"status\": \"open\", \"priority\": 1},\n  {\"id\": \"p-2\"}\n]";
    check(two, Ok(&["p-1 open", "p-2 open"]));
    check(&format!("{{\"schema_version\": 1, \"data\": {two}}}"), Ok(&["p-1 open", "p-2 open"]));
    check(
        &format!("{{\"issues\": {two}, \"total\": 2, \"has_more\": false}}"),
        Ok(&["p-1 open", "p-2 open"]),
    );
    check(&format!("{{\"data\": {{\"issues\": {two}}}}}\n"), Ok(&["p-1 open", "p-2 open"]));
    check(&format!("Warning: old database\n[warn] x\n{two}\nNote: done\n"), Ok(&["p-1 open", "p-2 open"]));
    check("{\"schema_version\":1,\"id\":\"p-3\",\"title\":\"t\",\"status\":\"closed\"}", Ok(&["p-3 closed"]));
    for none in [
        "[]",
        "{\"schema_version\":1,\"data\":[]}",
        "{\"schema_version\":1,\"data\":null}",
        "{\"schema_version\":1}",
        "",
        "\n",
        "No issues found.\n",
        "\n○ No ready work found (all issues have blocking dependencies)\n\n",
    ] {
        check(none, Ok(&[]));
    }
    check("Segmentation fault", Err("Segmentation fault"));
    check("{\"error\": \"locked\"}", Err("locked"));
    check("[{\"title\": \"without an id\"}]", Err("[{\"title\": \"without an id\"}]"));
}

#[test]
fn a_complaint_is_told_without_its_warnings() {
    for (err, expect) in [
        ("⚠ Warning: old\nError: issue not found: p-9\nUsage:", "issue not found: p-9"),
        (
            "{\n  \"schema_version\": 1,\n  \"data\": {\"error\": \"no such id\", \"code\": \"x\"}\n}",
            "no such id",
        ),
        ("{\"error\":{\"code\":\"E\",\"message\":\"bad status\"}}", "bad status"),
        ("Warning: only this", "Warning: only this"),
    ] {
        assert_eq!(complaint(err).as_deref(), Some(expect));
    }
    assert_eq!(complaint(" \n"), None);
}
