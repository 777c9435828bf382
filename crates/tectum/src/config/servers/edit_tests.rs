//! A change is only the change: what the author wrote around it stays.

use super::*;
use crate::config::servers::{Place, Source, foreign};

const FILE: &str = "\
# My settings.

# The first.
[servers.a]   # here
command = \"x\"  # why
env = { TOKEN = \"hunter2\" }

# The log.
[log]
level = \"warn\"

# The second.
[servers.b]
command = \"y\"
";

fn draft(text: &str) -> Draft {
    let document = text.parse().expect("TOML");
    Draft {
        path: "/p/tectum.toml".into(),
        name: "tectum.toml".into(),
        owner: Owner::Operator,
        before: text.into(),
        document,
    }
}

fn check(text: &str, change: impl FnOnce(&mut Draft), expect: &str) {
    let mut draft = draft(text);
    change(&mut draft);
    assert_eq!(draft.text(), expect);
    draft
        .check(Base { directory: Path::new("/p"), home: Some(Path::new("/h")) })
        .unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn a_server_goes_with_its_own_remark_and_no_other() {
    let rest = "\n# The log.\n[log]\nlevel = \"warn\"\n";
    let second = "\n# The second.\n[servers.b]\ncommand = \"y\"\n";
    check(FILE, |draft| assert!(draft.remove("a")), &format!("# My settings.\n{rest}{second}"));
    let first = FILE.strip_suffix(second).expect("the end");
    check(FILE, |draft| assert!(draft.remove("b")), first);
    check(FILE, |draft| assert!(!draft.remove("c")), FILE);
    check("[servers.a]\ncommand = \"x\"\n", |draft| assert!(draft.remove("a")), "");
    check(
        "servers = { a = { command = \"x\" }, b = { command = \"y\" } }\n",
        |draft| assert!(draft.remove("a")),
        "servers = { b = { command = \"y\" } }\n",
    );
}

#[test]
fn the_ends_of_lines_and_the_mark_before_them_stay() {
    let windows = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let off = FILE.replace("hunter2\" }\n", "hunter2\" }\nenabled = false\n");
    check(&windows(FILE), |draft| draft.enable("a", Some(false)), &windows(&off));
    check(&windows(&off), |draft| draft.enable("a", None), &windows(FILE));
    // A file that has both keeps each where it was.
    check(
        "# a\r\n[log]\nlevel = \"warn\"\n[servers.a]\r\ncommand = \"x\"\n",
        |draft| draft.enable("a", Some(false)),
        "# a\r\n[log]\nlevel = \"warn\"\n[servers.a]\r\ncommand = \"x\"\nenabled = false\n",
    );
    check(&windows("# only\n"), |_| {}, &windows("# only\n"));
}

#[test]
fn switching_touches_one_line() {
    let off = FILE.replace("hunter2\" }\n", "hunter2\" }\nenabled = false\n");
    check(FILE, |draft| draft.enable("a", Some(false)), &off);
    check(&off, |draft| draft.enable("a", None), FILE);
    check(
        "[servers.a]\nenabled = true # for now\n",
        |draft| draft.enable("a", Some(false)),
        "[servers.a]\nenabled = false # for now\n",
    );
    check("", |draft| draft.enable("a", Some(false)), "[servers.a]\nenabled = false\n");
    check("[servers.a]\nenabled = false\n", |draft| draft.enable("a", None), "");
}

#[test]
fn files_to_read_are_added_once_and_the_usual_ones_stay() {
    let usual = [".mcp.json".to_owned()];
    let read = "[federation]\nread = [\".mcp.json\", \"~/x.json\"]\n";
    check("", |draft| assert!(draft.read_also(&usual, "~/x.json")), read);
    check(read, |draft| assert!(!draft.read_also(&usual, "~/x.json")), read);
    check(
        "[federation]\nread = [\n  \"a\",\n  \"b\", # why\n]\n",
        |draft| assert!(draft.read_also(&usual, "c")),
        "[federation]\nread = [\n  \"a\",\n  \"b\", # why\n  \"c\",\n]\n",
    );
    check(
        "[federation]\nread = [\n  \"a\",\n  \"b\" # why\n]\n",
        |draft| assert!(draft.read_also(&usual, "c")),
        "[federation]\nread = [\n  \"a\",\n  \"b\", # why\n  \"c\"\n]\n",
    );
    check(
        "[federation]\nread = []\n",
        |draft| assert!(draft.read_also(&usual, "c")),
        "[federation]\nread = [\"c\"]\n",
    );
}

#[test]
fn what_is_copied_means_the_same() {
    let source = Arc::new(Source::foreign(Path::new("/h/.gemini/settings.json"), "f".into(), Place::Yours));
    let text = r#"{"mcpServers":{"a":{"command":"./run","args":["$A","$5"],"env":{"K":"${B}$C"},"timeout":90000,"disabled":true}}}"#;
    let entry = foreign::parse(&source, text, Path::new("/p")).expect("reads").entries.remove(0);
    check(
        "",
        |draft| draft.put(&entry),
        "[servers.a]\ncommand = \"/h/.gemini/run\"\nargs = [\"${A}\", \"$5\"]\nenv = { K = \"${B}${C}\" }\nenabled = false\ntimeout = \"90s\"\n",
    );
}

#[test]
fn secrets_are_not_in_the_difference() {
    let mut draft = draft(FILE);
    draft.enable("a", Some(false));
    let diff = draft.diff();
    assert!(diff.contains("+enabled = false") && !diff.contains("hunter2"), "{diff}");
}
