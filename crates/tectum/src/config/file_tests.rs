//! The settings of a `tectum.toml`, and the messages about its mistakes.

use super::*;

fn problems(owner: Owner, text: &str) -> Vec<String> {
    let base = Base { directory: Path::new("/project"), home: None };
    let mut problems = Vec::new();
    let path = Path::new("/project/tectum.toml");
    File { name: "tectum.toml".into(), text, owner, path }.read(base, &mut problems);
    problems.iter().map(|p| format!("{p} ({})", p.hint.as_deref().unwrap_or_default())).collect()
}

fn check(text: &str, expect: &[&str]) {
    assert_eq!(problems(Owner::Project, text), expect, "{text}");
}

#[test]
fn an_empty_file_is_fine() {
    check("", &[]);
    check("\u{feff}# only a comment\n", &[]);
}

#[test]
fn unknown_names_are_placed_and_mended() {
    check(
        "[workspace]\nroot = [\".\"]\n",
        &["tectum.toml:2:1: unknown key in [workspace]: `root` (did you mean `roots`?)"],
    );
    check("[permision]\n", &["tectum.toml:1:2: unknown key `permision` (did you mean `permissions`?)"]);
    check(
        "roots = [\".\"]\n",
        &["tectum.toml:1:1: unknown key `roots` outside of any table (it belongs below [workspace])"],
    );
    check(
        "files = 3\n",
        &["tectum.toml:1:1: `files` is a table, got: integer (write [files] on a line of its own)"],
    );
}

#[test]
fn all_mistakes_are_told_at_once_and_in_order() {
    let found = problems(
        Owner::Project,
        "version = 2\n[workspace]\ndeny = []\nsymlinks = 1\n[files]\nmax_file = \"x\"\n[permissions]\ndeny = [\"a\", 3]\n",
    );
    let places: Vec<&str> = found.iter().filter_map(|p| p.split(": ").next()).collect();
    assert_eq!(
        places,
        ["tectum.toml:1:11", "tectum.toml:3:8", "tectum.toml:4:12", "tectum.toml:6:12", "tectum.toml:8:14"]
    );
}

#[test]
fn broken_toml_is_placed() {
    let found = problems(Owner::Project, "[files]\ndurability = \n");
    assert!(found[0].starts_with("tectum.toml:2:"), "{found:?}");
}

#[test]
fn a_project_cannot_open_a_listener() {
    let text = "[http]\nauth = \"none\"\n";
    assert!(problems(Owner::Operator, text).is_empty());
    let found = problems(Owner::Project, text);
    assert!(found[0].starts_with("tectum.toml:2:1: `http.auth` is ignored in a project's file"), "{found:?}");
    assert!(found[0].contains("TECTUM_HTTP_AUTH"), "{found:?}");
}

#[test]
fn a_project_can_tighten_and_not_loosen() {
    for (loose, tight) in [
        ("[permissions]\ndefault = \"allow\"", "[permissions]\ndefault = \"deny\""),
        ("[workspace]\nsymlinks = \"inside\"", "[workspace]\nsymlinks = \"never\""),
        ("[workspace]\nbreak_hard_links = true", "[workspace]\nbreak_hard_links = false"),
        ("[workspace]\nshow_roots = true", "[workspace]\nshow_roots = false"),
        ("[workspace]\ntracked_opens = \"directory\"", "[workspace]\ntracked_opens = \"file\""),
        ("[mcp]\nallow_symlinks = true", "[mcp]\nallow_symlinks = false"),
    ] {
        assert!(problems(Owner::Operator, loose).is_empty(), "{loose}");
        assert!(problems(Owner::Project, loose)[0].contains("would weaken your protection"), "{loose}");
        assert!(problems(Owner::Project, tight).is_empty(), "{tight}");
    }
}

#[test]
fn a_project_cannot_reach_out_of_itself() {
    for reach in [
        "roots = [\".\", \"/etc\"]",
        "roots = [\"..\"]",
        "tracked = [\"../notes\"]",
        "roots = [\"new/../../x\"]",
    ] {
        let text = format!("[workspace]\n{reach}\n");
        assert!(
            problems(Owner::Operator, &text).iter().all(|problem| !problem.contains("outside the project")),
            "{reach}"
        );
        let found = problems(Owner::Project, &text);
        assert!(
            found.iter().any(|problem| problem.contains("names a path outside the project")),
            "{reach}: {found:?}"
        );
    }
    check("[workspace]\nroots = [\".\", \"src\"]\n", &[]);
}

#[test]
fn a_link_that_leads_out_is_followed_also_to_what_is_not_there_yet() {
    let scratch = tempfile::tempdir().expect("a directory");
    let (project, outside) = (scratch.path().join("project"), scratch.path().join("outside"));
    for folder in [&project, &outside] {
        std::fs::create_dir(folder).expect("made");
    }
    std::os::unix::fs::symlink(&outside, project.join("out")).expect("linked");
    for (root, found) in [("out", 1), ("out/new", 1), ("new", 0)] {
        let (base, text) =
            (Base { directory: &project, home: None }, format!("[workspace]\nroots = [\"{root}\"]\n"));
        let (mut problems, path) = (Vec::new(), project.join("tectum.toml"));
        let file = File { name: "tectum.toml".into(), text: &text, owner: Owner::Project, path: &path };
        file.read(base, &mut problems);
        assert_eq!(problems.len(), found, "{root}: {problems:?}");
    }
}

#[test]
fn two_names_for_one_thing_are_a_contradiction() {
    check(
        "[mcp]\nallow_symlinks = false\n[workspace]\nsymlinks = \"never\"\n",
        &[
            "tectum.toml:4:12: `mcp.allow_symlinks` and `workspace.symlinks` are the same setting (keep `workspace.symlinks`)",
        ],
    );
    check("[mcp]\nblacklist = [\"a\"]\n[workspace]\ndeny = [\"b\"]\n", &[]);
}
