//! `tectum config check`: right, or every mistake with its place and what to write.

#![expect(clippy::disallowed_methods, reason = "the documentation is read as it stands")]

use crate::{cli_said::Said, rig::Rig};

fn check(toml: &str, expect: &str) {
    let rig = Rig::with(&[("tectum.toml", toml)]);
    Said::from(rig.run(&["config", "check"])).fails(2, expect);
}

#[test]
fn no_file_and_an_empty_file_are_right() {
    for rig in [Rig::new(), Rig::with(&[("tectum.toml", "")])] {
        let project = rig.project().canonicalize().expect("there");
        let expect = format!("ok: the settings for {} are valid\n", project.display());
        Said::from(rig.run(&["config", "check"])).gives(&expect);
        Said::from(rig.run(&["-q", "config", "check"])).gives("");
    }
}

#[test]
fn a_wrong_key_gets_its_place_and_the_right_one() {
    check(
        "[permissions]\ndefualt = \"ask\"\n",
        "error: tectum.toml:2:1: unknown key in [permissions]: `defualt`\nhint: did you mean `default`?\n",
    );
    check(
        "[workspaces]\nroots = [\".\"]\n",
        "error: tectum.toml:1:2: unknown key `workspaces`\nhint: did you mean `workspace`?\n",
    );
}

#[test]
fn a_wrong_type_is_told_what_to_write() {
    check(
        "[workspace]\nroots = \"src\"\n",
        "error: tectum.toml:2:9: `workspace.roots` must be a list, got the text \"src\"\nhint: write roots = [\"src\"]\n",
    );
    check(
        "[tools]\nnative = 1\n",
        "error: tectum.toml:2:10: `tools.native` must be true or false, got the number 1\n\
         hint: write native = true or native = false\n",
    );
}

#[test]
fn lists_that_would_mean_nothing_are_refused() {
    check(
        "[workspace]\nread_only = []\n",
        "error: tectum.toml:2:13: `workspace.read_only` is an empty list\n\
         hint: an empty list protects nothing and lifts nothing; remove the line\n",
    );
    check(
        "[workspace]\ndeny = []\n",
        "error: tectum.toml:2:8: `workspace.deny` is an empty list\n\
         hint: an empty list lifts no protection: the built-in names stay closed; remove the line\n",
    );
}

#[test]
fn a_rule_or_pattern_that_is_none_is_told_where() {
    check(
        "[permissions]\nallow = [\n  \"read_*\",\n  \"edit_file(src\",\n]\n",
        "error: tectum.toml:4:3: in `permissions.allow`: `edit_file(src` is not a rule: the `(` is not closed at the end; \
         write `tool` or `tool(pattern)`\nhint: for example edit_file(src/**)\n",
    );
    let rig = Rig::with(&[("tectum.toml", "[workspace]\ndeny = [\"a[\"]\n")]);
    let said = Said::from(rig.run(&["config", "check"]));
    assert!(
        said.err.starts_with("error: tectum.toml:2:9: in `workspace.deny`: `a[` is not a pattern"),
        "{}",
        said.err
    );
}

#[test]
fn a_root_that_is_not_there_is_told_where_it_was_written() {
    let rig = Rig::with(&[("tectum.toml", "[workspace]\nroots = [\".\", \"gone\"]\n")]);
    let said = Said::from(rig.run(&["config", "check"]));
    assert_eq!(said.code, 2);
    assert!(said.err.starts_with("error: tectum.toml:2:15: cannot open "), "{}", said.err);
}

#[test]
fn all_mistakes_of_all_sources_come_at_once() {
    let rig = Rig::with(&[("tectum.toml", "version = 9\n[http]\nauth = \"none\"\n[log]\nlevel = 3\n")]);
    let mut command = rig.tectum();
    command.env("TECTUM_FILES_DURABILTY", "full").args(["config", "check", "--json"]);
    let said = Said::from(command.output().expect("runs"));
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    let error = said.error();
    let places: Vec<(u64, u64)> = error["problems"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|problem| Some((problem["line"].as_u64()?, problem["column"].as_u64()?)))
        .collect();
    assert_eq!(places, [(1, 11), (3, 1), (5, 9)]);
    assert_eq!(error["problems"][3]["hint"], "did you mean `TECTUM_FILES_DURABILITY`?");
    assert_eq!(error["kind"], "config");
}

#[test]
fn every_command_refuses_to_run_with_wrong_settings() {
    let rig = Rig::with(&[("tectum.toml", "x = 1\n"), ("a.txt", "one\n")]);
    for args in [
        &["tools"] as &[&str],
        &["call", "read_file", "path=a.txt"],
        &["policy", "test", "read_file", "path=a.txt"],
        &["config", "show"],
        &["serve"],
        &["up", "--port", "0"],
    ] {
        let said = Said::from(rig.run(args));
        assert!(said.code == 2 && said.out.is_empty(), "{args:?}: {}", said.out);
        assert!(said.err.starts_with("error: tectum.toml:1:1: unknown key `x`"), "{args:?}: {}", said.err);
    }
}

#[test]
fn a_file_named_on_the_command_line_must_exist() {
    let rig = Rig::new();
    Said::from(rig.run(&["--config", "gone.toml", "config", "check"]))
        .fails(2, "error: flag --config: there is no file gone.toml\nhint: correct the path; a relative path starts at the current directory\n");
    Said::from(rig.run(&["--config", ".", "config", "check"])).fails(
        2,
        "error: .:1:1: cannot read it: it is not a file\n\
         hint: replace it with a readable file, or remove it\n",
    );
    Said::from(rig.run(&["-C", "gone", "config", "check"])).fails(
        2,
        "error: flag --dir: cannot serve gone: No such file or directory (os error 2)\n\
             hint: name an existing directory with -C DIR, or change to one\n",
    );
}

#[test]
fn a_file_that_cannot_be_read_says_why_and_what_to_do() {
    let rig = Rig::new();
    rig.write("tectum.toml", b"version = 1 # \xff\n");
    let expect = "error: tectum.toml:1:1: cannot read it: it is not text in UTF-8\nhint: save it as UTF-8\n";
    Said::from(rig.run(&["config", "check"])).fails(2, expect);
    Said::from(rig.run(&["add", "a", "--project", "--", "x"])).fails(2, expect);
    std::fs::remove_file(rig.project().join("tectum.toml")).expect("removed");
    std::fs::create_dir(rig.project().join(".mcp.json")).expect("made");
    let said = Said::from(rig.run(&["list"]));
    assert!(said.out.contains(".mcp.json:1:1: cannot read it: it is not a file"), "{}", said.out);
    assert!(said.out.contains("replace it with a readable file, or remove it"), "{}", said.out);
}

#[test]
fn a_place_that_cannot_be_written_says_where_else_to_go() {
    let mut rig = Rig::new();
    rig.write("in the way", "");
    rig.set("XDG_CONFIG_HOME", rig.project().join("in the way"));
    let said = Said::from(rig.run(&["add", "a", "--", "x"]));
    assert!(said.code == 5 && said.err.starts_with("error: cannot write "), "{}", said.err);
    assert!(said.err.contains("hint: let this user write there, or set XDG_CONFIG_HOME"), "{}", said.err);
}

#[test]
fn an_address_that_is_none_is_told_how_one_is_written() {
    let said = Said::from(Rig::new().run(&["up", "--listen", "localhost"]));
    assert!(said.code == 2 && said.err.contains("such as 127.0.0.1:8999"), "{}", said.err);
}

#[test]
fn a_rule_for_no_tool_is_told_and_stops_nothing() {
    let rig = Rig::with(&[("tectum.toml", "[permissions]\ndeny = [\"read_fil\"]\n")]);
    let ran = rig.run(&["config", "check"]);
    assert!(ran.status.success(), "{ran:?}");
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(told.contains("`read_fil` (tectum.toml:2) matches no tool; did you mean `read_file`?"), "{told}");
}

#[test]
fn every_mistake_is_told_at_once() {
    let rig = Rig::new();
    rig.configure(
        "[observers]\nredact_texts = [\"(\"]\nexclude = [\"[\"]\n[permissions]\ndeny = [\"a(\", \"b)(\"]\n\
         [servers.a]\ncomand = \"x\"\n[servers.b]\nurl = \"not a url\"\n[servers.c]\ncommand = [\"x\", \"${OPEN\"]\n",
    );
    let said = Said::from(rig.run(&["config", "check"]));
    assert_eq!(said.code, 2);
    for (line, words) in [
        (2, "is no regular expression"),
        (3, "is not a valid pattern"),
        (5, "`a(`"),
        (5, "`b)(`"),
        (7, "did you mean `command`?"),
        (9, "`servers.b` has a `url` that is not a URL"),
        (11, "`servers.c` has a `${` that is not closed"),
    ] {
        let place = format!("tectum.toml:{line}:");
        let mut found = said.err.split("error: ").filter(|one| one.contains(&place));
        assert!(found.any(|one| one.contains(words)), "{line} {words}: {}", said.err);
    }
}

#[test]
fn a_key_that_stands_twice_is_named() {
    check(
        "[log]\nlevel = \"info\"\n[log]\n",
        "error: tectum.toml:3:2: duplicate key `log`\nhint: keep one of them\n",
    );
    check(
        "[log]\nlevel = \"info\"\n[log]\nlevel = \"warn\"\n",
        "error: tectum.toml:3:2: duplicate key `log`\nhint: keep one of them\n\
         error: tectum.toml:4:1: duplicate key `level`\nhint: keep one of them\n",
    );
    check(
        "[log]\nlevel = \"info\"\nlevel = \"warn\"\n",
        "error: tectum.toml:3:1: duplicate key `level`\nhint: keep one of them\n",
    );
}

#[test]
fn what_is_not_quite_right_is_said_in_the_end_and_to_programs() {
    let rig = Rig::with(&[(".mcp.json", r#"{"mcpServers":{"web":{"url":"not a url"}}}"#)]);
    let said = Said::from(rig.run(&["config", "check"]));
    assert!(
        said.code == 0 && said.err.contains("`servers.web` has a `url` that is not a URL"),
        "{}",
        said.err
    );
    assert!(said.out.ends_with("are valid, except for the warning above\n"), "{}", said.out);
    let json = Said::from(rig.run(&["config", "check", "--json"])).json();
    assert_eq!((&json["ok"], json["warnings"].as_array().map(Vec::len)), (&true.into(), Some(1)), "{json}");
    rig.write(".mcp.json", "{");
    let json = Said::from(rig.run(&["config", "check", "--json"])).json();
    assert!(json["warnings"][0].as_str().is_some_and(|told| told.contains(".mcp.json")), "{json}");
}

/// The pages for users, from the top of the repository.
fn pages() -> Vec<(String, String)> {
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(top.join("docs")).expect("there").flatten().map(|entry| entry.path());
    let pages = docs.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let page = |path: std::path::PathBuf| {
        (path.display().to_string(), std::fs::read_to_string(path).expect("readable"))
    };
    pages.chain([top.join("README.md")]).map(page).collect()
}

#[test]
fn every_example_of_the_documentation_is_right() {
    let mut seen = 0;
    for (page, text) in pages() {
        for example in text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            // An example of another file says so first.
            let first = example.lines().next().unwrap_or_default();
            if first.starts_with('#') && !first.ends_with("/tectum.toml") {
                continue;
            }
            let mut rig = Rig::new();
            for name in ["GITHUB_TOKEN", "TEAM", "DOCS_SECRET"] {
                rig.set(name, "x");
            }
            rig.configure(example);
            let said = Said::from(rig.run(&["config", "check"]));
            assert_eq!((said.code, said.err.as_str()), (0, ""), "{page}: {example}");
            seen += 1;
        }
    }
    assert!(seen >= 6, "{seen}");
}

#[test]
fn every_key_is_in_the_documentation() {
    let pages = pages();
    let (_, page) = pages.iter().find(|(page, _)| page.ends_with("configuration.md")).expect("there");
    let words: Vec<&str> = page.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let ours = tectum::config::keys::KEYS.iter().chain(tectum::config::servers::keys::KEYS);
    for key in ours {
        assert!(words.contains(&key.name), "{} is not in docs/configuration.md", key.path());
    }
}
