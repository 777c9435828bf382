//! What the reader says against tables, and against what real shells run.
#![expect(clippy::disallowed_methods, reason = "shells, stand-ins and records of the test itself")]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use proptest::{prelude::*, test_runner::TestRunner};

use super::{Part, parts, word::Word};

fn texts(command: &str) -> Vec<String> {
    parts(command).into_iter().map(|part| part.text).collect()
}

fn check(command: &str, expect: &[&str]) {
    let found = parts(command);
    assert!(found.iter().all(|part| part.doubt.is_none()), "{command:?}: {found:?}");
    assert_eq!(texts(command), expect, "{command:?}");
}

#[test]
fn parts_have_one_spelling() {
    check("git  'status'\t\"-s\"", &["git status -s"]);
    check("a && b || c; d | e & f\ng", &["a", "b", "c", "d", "e", "f", "g"]);
    check("grep \"a b\" 'c' d\\ e ''", &["grep 'a b' c 'd e' ''"]);
    check("echo 'it'\\''s' \"\\$x \\y\"", &[r"echo 'it'\''s' '$x \y'"]);
    check("a \\\n  b # c\nd", &["a b", "d"]);
    check("(a; (b)) | c", &["a", "b", "c"]);
    check("echo $(a \"$(b)\") `c`", &["b", "a \"$(b)\"", "c", "echo $(a \"$(b)\") `c`"]);
    check("a >x 2>>'y z' <in 2>&1 >/dev/null", &["> x", ">> 'y z'", "a < in"]);
    check("a <<'X' b\n$(not run)\nX\nc", &["a b <<", "c"]);
}

#[test]
fn what_may_become_something_else_is_not_certain() {
    let certain = |command: &str| {
        let [part] = &parts(command)[..] else { panic!("{command}") };
        part.text[..part.certain].to_owned()
    };
    assert_eq!(certain("ls -l *.rs x"), "ls -l ");
    assert_eq!(certain("ls 'a*' \"$x\""), "ls 'a*' ");
    assert_eq!(certain("ls ~/x"), "ls ");
    assert_eq!(certain("ls {a,b}"), "ls ");
    assert_eq!(certain("ls x"), "ls x");
    assert_eq!(certain("eval x"), "");
}

#[test]
fn what_is_in_doubt_says_why() {
    for (command, why) in [
        ("$x y", "the name of a command is not known"),
        ("X=1 a", "sets a variable"),
        ("sudo a", "`sudo` runs what it is given"),
        ("a \u{a0}b", "U+00A0"),
        ("a <<X\n$x\nX", "expanded"),
        ("find . -delete", "`-delete`"),
        ("git -c x=y z", "`-c`"),
    ] {
        let found = parts(command);
        let doubt = found.iter().find_map(|part| part.doubt.as_deref()).expect("in doubt");
        assert!(doubt.contains(why), "{command:?}: {doubt}");
    }
    assert!(parts(&"a;".repeat(40_000))[0].doubt.is_some());
    assert!(parts(&"(".repeat(9_000))[0].doubt.is_some());
}

/// Shells with nothing on their path but stand-ins, which record how they were called.
struct Shells {
    home: tempfile::TempDir,
    programs: Vec<PathBuf>,
}

impl Shells {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        fs::create_dir(home.path().join("bin")).expect("made");
        let known = ["/bin/bash", "/bin/dash"].map(PathBuf::from);
        Self { home, programs: known.into_iter().filter(|shell| shell.exists()).collect() }
    }

    /// A stand-in for each word that could be taken for a program's name.
    fn stand_in(&self, command: &str) {
        let script = "#!/bin/sh\ncalled=\"${0##*/}\"\nfor word in \"$@\"; do called=\"$called\u{1f}$word\"; done\n\
                      printf '%s\u{1e}' \"$called\" >> \"$RECORD\"\n";
        let plain = command.replace(['\'', '"', '\\'], "");
        for name in command
            .split(|c: char| !c.is_ascii_alphanumeric())
            .chain(plain.split(|c: char| !c.is_ascii_alphanumeric()))
        {
            let file = self.home.path().join("bin").join(name);
            if !name.is_empty() && name.len() < 100 && !file.exists() {
                fs::write(&file, script).expect("written");
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("executable");
            }
        }
    }

    /// What a shell really ran, each in the spelling of parts, and the files that it made.
    fn run(&self, shell: &Path, command: &str) -> (Vec<String>, BTreeSet<String>) {
        // What goes on in the background belongs to its own run.
        let own = tempfile::tempdir_in(self.home.path()).expect("a directory").keep();
        let (work, log) = (own.join("work"), own.join("log"));
        fs::create_dir(&work).expect("made");
        let before = ["-q", "a b", "in"];
        before.iter().for_each(|name| fs::write(work.join(name), "").expect("written"));
        fs::write(&log, "").expect("written");
        let _ = Command::new(shell)
            .args(["-c", command])
            .env_clear()
            .env("PATH", self.home.path().join("bin"))
            .env("HOME", &work)
            .env("RECORD", &log)
            .env("x", "v w")
            .current_dir(&work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("a shell runs");
        let log = fs::read_to_string(&log).expect("a record");
        let spelled = |call: &str| {
            let word = |text: &str| Word { text: text.to_owned(), ..Word::default() }.spelled();
            call.split('\u{1f}').map(word).collect::<Vec<_>>().join(" ")
        };
        let calls = log.split_terminator('\u{1e}').map(spelled).collect();
        let files = fs::read_dir(&work).expect("a directory");
        let made = files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
        (calls, made.filter(|name| !before.contains(&name.as_str())).collect())
    }

    /// Whether shells run only what the parts say; false where nothing was said.
    fn agree(&self, command: &str) -> bool {
        let found = parts(command);
        let away = |part: &Part| {
            let name = part.text.trim_start_matches(['>', ' ']);
            part.doubt.is_some() || name.split(' ').next().is_some_and(|name| name.contains('/'))
        };
        if found.iter().any(away) {
            return false;
        }
        self.stand_in(command);
        for shell in &self.programs {
            let (calls, files) = self.run(shell, command);
            for call in calls {
                let is = |part: &Part| match part.certain < part.text.len() {
                    true => format!("{call} ").starts_with(&part.text[..part.certain]),
                    false => part.text == call || part.text.starts_with(&format!("{call} <")),
                };
                assert!(found.iter().any(is), "{} ran {call:?} of {command:?}: {found:?}", shell.display());
            }
            for file in files {
                let file = Word { text: file, ..Word::default() }.spelled();
                let is = |part: &Part| {
                    part.text.strip_prefix('>').is_some_and(|to| to.trim_start_matches(['>', ' ']) == file)
                };
                assert!(found.iter().any(is), "{} wrote {file:?} by {command:?}: {found:?}", shell.display());
            }
        }
        true
    }
}

fn corpus(text: &str) -> impl Iterator<Item = String> {
    let commands =
        text.lines().filter(|line| !line.starts_with("==") && !line.contains(['‹', '␀', '␍', '⎋']));
    commands.map(|line| line.replace('⏎', "\n").replace('⇥', "\t"))
}

#[test]
fn shells_run_what_is_said_of_the_corpus() {
    let shells = Shells::new();
    let honest =
        corpus(include_str!("../../tests/corpus/honest.txt")).filter(|line| shells.agree(line)).count();
    let evasions =
        corpus(include_str!("../../tests/corpus/evasions.txt")).filter(|line| shells.agree(line)).count();
    assert!(honest >= 60 && evasions >= 60, "{honest} {evasions}");
}

/// Lines of pieces that mean something to a shell.
fn lines() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "a", "b", "c", "a", "b", "in", "1", "2", "if", "x=1", "-q", "a b", "é", "EOF", "f",
    ]);
    let signs = prop::sample::select(vec![
        " ",
        " ",
        " ",
        " ",
        "'",
        "\"",
        "'",
        "\"",
        "\\",
        "\\\n",
        "\n",
        "\n",
        ";",
        "&",
        "&&",
        "|",
        "||",
        "(",
        ")",
        "$(",
        ")",
        "`",
        "`",
        "$x",
        "${x}",
        "\"$x\"",
        "$?",
        "$",
        "#",
        " #",
        "<",
        ">",
        ">>",
        "2>",
        ">&1",
        "2>&1",
        "<<EOF\n",
        "\nEOF\n",
        "<<'EOF'\n",
        "*",
        "?",
        "[",
        "]",
        "{",
        "}",
        ",",
        "~",
        "!",
        "=",
        "'b c'",
        "\"d e\"",
        "\t",
        "{b,c}",
        "$'",
        "<(",
        "[[",
        "((",
    ]);
    prop::collection::vec(
        prop_oneof![2 => words.prop_map(str::to_owned), 3 => signs.prop_map(str::to_owned)],
        1..14,
    )
    .prop_map(|pieces| pieces.concat())
}

#[test]
fn shells_run_what_is_said_of_any_line() {
    let shells = Shells::new();
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 4_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let said = std::cell::Cell::new(0_u32);
    let property = |line: String| {
        // The first word is a command, so that most lines have something to run.
        said.set(said.get() + u32::from(shells.agree(&format!("a {line}"))));
        Ok(())
    };
    runner.run(&lines(), property).expect("shells agree");
    assert!(said.get() >= 300, "{}", said.get());
}
