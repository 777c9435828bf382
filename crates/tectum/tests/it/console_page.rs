//! The console in a real browser: a person decides about calls of a real MCP client at the real binary. The scenes are
//! in `tests/console/page.mjs`; this is what they need outside of the browser.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::rig::{Http, Rig, TOKEN, fixture};

fn tool(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run the tests with `cargo xtask test`"))
}

fn scripts() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/console"].iter().collect()
}

/// A program that answers lines of JSON with lines of JSON. It ends with its owner.
struct Lines {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Lines {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, input, output }
    }

    fn send(&mut self, line: &Value) {
        writeln!(self.input, "{line}").expect("written");
    }

    /// The next line; none at the end.
    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("readable");
        (!line.is_empty()).then(|| serde_json::from_str(&line).expect("JSON"))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What stands around the browser.
struct Stage {
    rig: Rig,
    house: Http,
    client: Lines,
    results: HashMap<String, Value>,
}

impl Stage {
    fn set() -> Self {
        let rig = Rig::with(&[("a.txt", "one\n")]);
        configure(&rig, "10m");
        let house = rig.http();
        let client = client(&rig, &house);
        Self { rig, house, client, results: HashMap::new() }
    }

    fn answer(&mut self, need: &Value) -> Value {
        let word = |name: &str| need[name].as_str().unwrap_or_else(|| panic!("{name} in {need}"));
        match word("need") {
            "link" => {
                let said = self.rig.run(&["console"]);
                json!({ "link": String::from_utf8_lossy(&said.stdout).trim() })
            }
            "call" => {
                self.client.send(need);
                json!({})
            }
            "result" => loop {
                if let Some(result) = self.results.remove(word("name")) {
                    return json!({ "result": result });
                }
                let told = self.client.next().expect("the client goes on");
                self.results
                    .insert(told["name"].as_str().expect("a name").to_owned(), told["result"].clone());
            },
            "file" => json!({ "text": std::fs::read_to_string(self.rig.project().join(word("path"))).ok() }),
            "write" => {
                self.rig.write(word("path"), word("text"));
                json!({})
            }
            "restart" => {
                self.house.child.kill().expect("killed");
                self.house.child.wait().expect("ended");
                configure(&self.rig, word("patience"));
                let address = format!("127.0.0.1:{}", self.house.port);
                self.house = self.rig.http_at(&address, &[], Some(TOKEN));
                self.client = client(&self.rig, &self.house);
                json!({})
            }
            other => panic!("nobody knows what {other} is"),
        }
    }
}

fn configure(rig: &Rig, patience: &str) {
    rig.configure(&format!(
        "[permissions]\nask = [\"edit_file\", \"write_file\"]\n[approval]\npatience = \"{patience}\"\nhold = \"10m\"\n"
    ));
}

/// A client of the official SDK.
fn client(rig: &Rig, house: &Http) -> Lines {
    let mut command = rig.command(tool("TECTUM_TOOLBOX_PYTHON"));
    command.arg(scripts().join("client.py")).args([&house.url(), TOKEN]);
    Lines::start(command)
}

#[test]
fn heavy_a_person_decides_in_a_browser() {
    let mut stage = Stage::set();
    let mut node = stage.rig.command(tool("TECTUM_TOOLBOX_NODE"));
    node.arg(scripts().join("page.mjs"))
        .env("TECTUM_TOOLBOX_MODULES", tool("TECTUM_TOOLBOX_MODULES"))
        .env("TECTUM_FIXTURE", fixture());
    let mut browser = Lines::start(node);
    while let Some(need) = browser.next() {
        let answer = stage.answer(&need);
        browser.send(&answer);
    }
    assert!(browser.child.wait().expect("ended").success(), "a scene failed; standard error names it");
}

/// Shapes that a real house is not brought into quickly: a hundred thousand calls, every kind of question and state.
#[test]
fn heavy_large_and_rare_shapes_are_shown() {
    node_runs(&[scripts().join("shapes.mjs")]);
}

#[test]
fn what_the_page_reads_it_loses_nothing_of() {
    node_runs(&[scripts().join("units.mjs")]);
}

#[test]
fn the_page_passes_its_type_check() {
    node_runs(&[
        PathBuf::from(tool("TECTUM_TOOLBOX_MODULES")).join("typescript/bin/tsc"),
        "-p".into(),
        scripts(),
    ]);
}

/// Runs a script to its end.
#[track_caller]
fn node_runs(args: &[PathBuf]) {
    let rig = Rig::new();
    let run = rig
        .command(tool("TECTUM_TOOLBOX_NODE"))
        .args(args)
        .env("TECTUM_TOOLBOX_MODULES", tool("TECTUM_TOOLBOX_MODULES"))
        .stdin(Stdio::null())
        .output()
        .expect("runs");
    let said = [run.stdout, run.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(run.status.success(), "{}{}", said[0], said[1]);
}
