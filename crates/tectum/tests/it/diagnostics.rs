//! Language servers that others wrote, behind the binary: what they find is true for the text after
//! each edit, they stay within their bounds, and nothing of them is left. `cargo xtask test`
//! installs them; without them these tests fail.

use serde_json::{Value, json};

use crate::{
    federated::{lives, until},
    rig::{Rig, Stdin, text},
};

/// The memory a server may take, unless somebody says otherwise.
const MEMORY: u64 = 2 << 30;

fn tool(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run the tests with `cargo xtask test`"))
}

/// A project whose user has both servers and allows them.
fn rig(files: &[(&str, &str)]) -> Rig {
    let rig = Rig::with(files);
    let python = json!([tool("TECTUM_TOOLBOX_NODE"), tool("TECTUM_TOOLBOX_PYRIGHT"), "--stdio"]);
    let c = json!([tool("TECTUM_TOOLBOX_CLANGD")]);
    rig.configure(&format!(
        "[permissions]\nallow = [\"check_errors\", \"diagnostics\"]\n\
         [diagnostics]\npython = {python}\nc = {c}\nwait = \"30s\"\n"
    ));
    rig
}

struct Client(Stdin);

impl Client {
    fn call(&mut self, tool: &str, args: Value) -> Value {
        self.0.call(tool, args)
    }

    /// The text of a check, and the anchor it asks for.
    fn check(&mut self, file: &str) -> (String, String) {
        let result = self.call("check_errors", json!({ "path": file }));
        let asked = &result["_meta"]["tectum/directives"][0];
        assert_eq!(asked["type"], "context_anchor", "{result}");
        assert_eq!(asked["params"]["key"], format!("diagnostics:{file}"), "{result}");
        let anchor = asked["params"]["content"].as_str().expect("content").to_owned();
        (text(&result).to_owned(), anchor)
    }

    #[track_caller]
    fn clean(&mut self, file: &str) {
        assert_eq!(self.check(file), (format!("No errors in {file}."), String::new()));
    }

    #[track_caller]
    fn wrong(&mut self, file: &str, words: &str) {
        let (said, anchor) = self.check(file);
        assert!(said.contains("[error]") && said.contains(words), "{said}");
        assert!(anchor.contains(words) && anchor.starts_with("[DIAGNOSTICS of "), "{anchor}");
    }

    #[track_caller]
    fn edit(&mut self, file: &str, from: &str, to: &str) {
        let args = json!({ "path": file, "old_string": from, "new_string": to });
        let result = self.call("edit_file", args);
        assert_ne!(result["isError"], true, "{result}");
    }

    fn all(&mut self) -> String {
        text(&self.call("diagnostics", json!({ "path": "all" }))).to_owned()
    }
}

/// Every process below another, with its own number first in `/proc/PID/stat`.
fn descendants(of: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .expect("readable")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    let mut found = vec![of];
    let mut next = 0;
    while next < found.len() {
        let parent = found[next];
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

fn data_limit(pid: u32) -> Option<String> {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits.lines().find(|line| line.starts_with("Max data size"))?;
    line.split_whitespace().nth(3).map(str::to_owned)
}

/// Looks at the bounds of all that was started, ends the binary, and waits until all is gone.
fn bounded_and_gone(client: Client, programs: &[&str]) {
    let started = descendants(client.0.child.id());
    let commands: Vec<String> = started
        .iter()
        .map(|pid| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default())
        .collect();
    for program in programs {
        assert!(commands.iter().any(|command| command.contains(program)), "{program}: {commands:?}");
    }
    for pid in &started {
        assert_eq!(data_limit(*pid), Some(MEMORY.to_string()), "{commands:?}");
    }
    let (status, log) = client.0.close();
    assert!(status.success(), "{log}");
    until("the end of every server", || started.iter().all(|pid| !lives(*pid)));
}

#[test]
fn heavy_python_errors_are_those_of_the_text_after_each_edit() {
    let rig = rig(&[
        ("app.py", "from util import double\n\nanswer: int = double(21)\n"),
        ("util.py", "def double(n: int) -> str:\n    return n * 2\n"),
    ]);
    let mut client = Client(rig.stdio());
    client.wrong("util.py", "\"int\" is not assignable to \"str\"");
    client.wrong("app.py", "Line 3: [error]");
    // The mended file is asked about right after the edit, and so is one that imports it.
    client.edit("util.py", "-> str", "-> int");
    client.clean("app.py");
    client.clean("util.py");
    for _ in 0..5 {
        client.edit("util.py", "n * 2", "n * 2 + missing");
        client.wrong("util.py", "\"missing\" is not defined");
        client.edit("util.py", " + missing", "");
        client.clean("util.py");
    }
    client.edit("app.py", "double(21)", "double('21')");
    let all = client.all();
    assert!(
        all.starts_with("app.py:\nLine 3: [error]") && all.ends_with("util.py: nothing wrong\n"),
        "{all}"
    );
    client.edit("app.py", "'21'", "21");
    assert_eq!(client.all(), "app.py: nothing wrong\nutil.py: nothing wrong\n");
    bounded_and_gone(client, &["langserver"]);
}

#[test]
fn heavy_c_errors_are_those_of_the_text_after_each_edit() {
    let rig = rig(&[
        ("main.c", "#include \"util.h\"\nint main(void) { return twice(2, 3); }\n"),
        ("util.h", "int twice(int n);\n"),
        ("other.cpp", "int f() { return undeclared; }\n"),
    ]);
    let mut client = Client(rig.stdio());
    client.wrong("main.c", "Line 2: [error]");
    client.edit("main.c", "twice(2, 3)", "twice(2)");
    client.clean("main.c");
    // The text of main.c stays, but what it includes does not.
    client.edit("util.h", "int twice(int n);", "int thrice(int n);");
    client.wrong("main.c", "twice");
    client.edit("util.h", "thrice", "twice");
    client.clean("main.c");
    client.wrong("other.cpp", "undeclared");
    for _ in 0..5 {
        client.edit("other.cpp", "undeclared", "1");
        client.clean("other.cpp");
        client.edit("other.cpp", "return 1", "return undeclared");
        client.wrong("other.cpp", "undeclared");
    }
    let all = client.all();
    assert!(all.contains("main.c: nothing wrong\n") && all.contains("other.cpp:\nLine 1: [error]"), "{all}");
    assert!(all.contains("util.h: nothing wrong\n"), "{all}");
    bounded_and_gone(client, &["clangd"]);
}

#[test]
fn heavy_a_killed_language_server_costs_one_answer() {
    let rig = rig(&[("a.c", "int f(void) { return x; }\n"), ("b.py", "y: int = ''\n")]);
    let mut client = Client(rig.stdio());
    client.wrong("a.c", "'x'");
    client.wrong("b.py", "Line 1: [error]");
    let is_clangd = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "clangd")
    };
    let clangd: Vec<u32> = descendants(client.0.child.id()).into_iter().filter(is_clangd).collect();
    assert!(!clangd.is_empty());
    for pid in clangd {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).expect("a number")).expect("a number");
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    client.wrong("b.py", "Line 1: [error]");
    until("another server", || text(&client.call("check_errors", json!({ "path": "a.c" }))).contains("'x'"));
    bounded_and_gone(client, &["clangd", "langserver"]);
}

#[test]
fn without_a_server_the_answer_says_what_to_install() {
    let rig = Rig::with(&[("a.go", "package a\n"), ("a.py", "x\n")]);
    rig.configure("[permissions]\nallow = [\"check_errors\"]\n");
    let run = |file: &str| {
        let mut command = rig.tectum();
        command.env("PATH", "/nowhere").args(["call", "check_errors", &format!("path={file}")]);
        let output = command.output().expect("runs");
        assert_eq!(output.status.code(), Some(7));
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
    };
    let said = run("a.go");
    assert!(said.contains("gopls is not in PATH") && said.contains("go install"), "{said}");
    let said = run("a.py");
    assert!(said.contains("npm install -g pyright"), "{said}");
}

#[test]
fn a_project_does_not_choose_what_is_started() {
    let rig = Rig::with(&[("tectum.toml", "[diagnostics]\npython = [\"./evil\"]\n")]);
    let output = rig.run(&["config", "check"]);
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && said.contains("must not choose a program that is started"), "{said}");
}
