//! A house that is named to itself does not start itself, call itself or watch itself: by program,
//! by wrapper, by address, and in a circle of two. Real processes are counted.

use std::{
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, address, command, echo, until},
    rig::{Http, Rig},
    watched::{ON, copies, observer, until_copies, until_status},
};

const TECTUM: &str = env!("CARGO_BIN_EXE_tectum");

fn rig() -> Rig {
    let mut rig = Rig::with(&[("a.txt", "hello\n")]);
    // What is skipped as ourselves is no mistake, so it is told only to who asks for more.
    rig.set("TECTUM_LOG", "tectum=info");
    rig
}

/// Longer than a storm needs to show itself: about thirty starts a minute were seen once, and
/// ours would be faster.
pub(crate) fn a_while() {
    std::thread::sleep(Duration::from_secs(3));
}

/// Every process that has this rig's home, whatever it is.
pub(crate) fn processes(rig: &Rig) -> Vec<String> {
    let home = format!("HOME={}\0", rig.home().display());
    let named = |entry: std::fs::DirEntry| {
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let ours = String::from_utf8_lossy(&environment).contains(&home);
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        (ours && !line.is_empty()).then(|| String::from_utf8_lossy(&line).replace('\0', " "))
    };
    let entries = std::fs::read_dir("/proc").expect("readable");
    entries.flatten().filter_map(named).collect()
}

/// A script that counts its starts and becomes the binary.
fn wrapper(path: &Path, marker_line: &str, starts: &Path) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    let text =
        format!("#!/bin/sh\n{marker_line}\necho $$ >> '{}'\nexec '{TECTUM}' \"$@\"\n", starts.display());
    std::fs::write(path, text).expect("written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("set");
}

/// Calls for a while, and returns what was said to standard error.
fn live(rig: &Rig) -> String {
    let mut client = Client::new(rig, Era::Legacy);
    client.call("read_file", json!({"path": "a.txt"}));
    a_while();
    client.call("read_file", json!({"path": "a.txt"}));
    let running = processes(rig);
    assert_eq!(running.len(), 1, "only the one that was started: {running:#?}");
    assert!(client.tools().iter().all(|tool| !tool.contains("__")));
    client.pipe.close().1
}

#[test]
fn a_server_that_lists_itself_does_not_start_itself() {
    let mut rig = rig();
    let bin = rig.outside().join("bin");
    std::fs::create_dir(&bin).expect("made");
    symlink(TECTUM, bin.join("linked")).expect("linked");
    // Another file with the same content is known by it, and by its name and what it is told to do.
    std::fs::create_dir(rig.outside().join("path")).expect("made");
    std::fs::copy(TECTUM, rig.outside().join("path/tectum")).expect("copied");
    symlink(rig.outside().join("path/tectum"), bin.join("gateway")).expect("linked");
    let mut names = vec!["path", "link", "copy", "argument", "renamed"];
    let mut tables = vec![
        command("path", TECTUM, &["serve"], ""),
        command("link", bin.join("linked"), &["serve"], ""),
        command("copy", "tectum", &["serve"], ""),
        command("argument", TECTUM, &["-C", ".", "serve"], ""),
        command("renamed", bin.join("gateway"), &["serve"], ""),
    ];
    let hard = Path::new(TECTUM).with_file_name(format!("hard-{}", std::process::id()));
    if std::fs::hard_link(TECTUM, &hard).is_ok() {
        names.push("hard");
        tables.push(command("hard", &hard, &["serve"], ""));
    }
    rig.configure(&format!("{ON}{}", tables.concat()));
    let path = std::env::join_paths([rig.outside().join("path"), "/usr/bin".into(), "/bin".into()]);
    rig.set("PATH", path.expect("a path"));
    let said = live(&rig);
    let _ = std::fs::remove_file(hard);
    for name in names {
        assert!(said.contains(&format!("`{name}` is skipped")), "{name}: {said}");
    }
}

#[test]
fn a_projects_file_that_lists_us_without_a_type_is_no_exception() {
    let rig = rig();
    rig.configure(ON);
    let me = json!({"command": TECTUM, "args": ["serve"]});
    rig.write(".mcp.json", json!({"mcpServers": {"me": me}}).to_string());
    assert!(rig.run(&["trust", "--yes"]).status.success());
    assert!(live(&rig).contains("`me` is skipped"));
}

#[test]
fn a_wrapper_that_says_what_it_starts_is_ourselves() {
    let rig = rig();
    let outside = rig.outside().to_owned();
    std::fs::create_dir(outside.join("real")).expect("made");
    symlink(TECTUM, outside.join("real/tectum")).expect("linked");
    let marks: [(&str, String); 5] = [
        ("ours", format!("# tectum-self-ref-target: {TECTUM}")),
        ("older", format!("# entrabot-self-ref-target: {TECTUM}")),
        ("oldest", format!("# entraclaw-self-ref-target: {TECTUM}")),
        ("relative", "# tectum-self-ref-target: ../real/tectum".into()),
        ("indented", format!("   #tectum-self-ref-target:   {TECTUM}   ")),
    ];
    let script = |name: &str| -> PathBuf { outside.join(format!("bin/{name}.sh")) };
    let mut tables = String::new();
    for (name, mark) in &marks {
        wrapper(&script(name), mark, &outside.join("starts"));
        tables.push_str(&command(name, script(name), &["serve"], ""));
    }
    // A relative target starts where the script itself lies, not where a link to it does.
    symlink(script("relative"), outside.join("elsewhere.sh")).expect("linked");
    tables.push_str(&command("elsewhere", outside.join("elsewhere.sh"), &["serve"], ""));
    rig.configure(&format!("{ON}{tables}"));
    let said = live(&rig);
    for name in marks.iter().map(|(name, _)| *name).chain(["elsewhere"]) {
        assert!(said.contains(&format!("`{name}` is skipped")), "{name}: {said}");
    }
    assert!(!outside.join("starts").exists(), "no wrapper was ever started");
}

/// The names of a listener's tools.
fn tools(house: &Http) -> Vec<String> {
    let (mut names, mut params) = (Vec::new(), json!({}));
    loop {
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
        let listed = house.post(&asked).json()["result"].clone();
        let tools = listed["tools"].as_array().unwrap_or_else(|| panic!("{listed}")).iter();
        names.extend(tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()));
        match listed.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return names,
        }
    }
}

#[test]
fn our_own_address_is_ourselves_whenever_and_however_it_is_written() {
    let rig = rig();
    rig.configure(ON);
    // Any free port: nobody can know the address before.
    let mut house = rig.http_with(&["--no-auth"], None);
    house.handshake();
    let port = house.port;
    let hosts = ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "LOCALHOST"];
    let own: String = hosts
        .iter()
        .enumerate()
        .map(|(i, host)| address(&format!("me{i}"), &format!("http://{host}:{port}/mcp"), ""))
        .collect();
    rig.configure(&format!("{ON}{own}{}", echo("one", &[], "")));
    until("the change", || tools(&house).iter().any(|tool| tool == "one__echo"));
    house.call("read_file", json!({"path": "a.txt"}));
    a_while();
    let ours: Vec<String> = tools(&house).into_iter().filter(|tool| tool.starts_with("me")).collect();
    assert!(ours.is_empty(), "{ours:?}");

    // An address that was somebody else's when it was written, and is ours now.
    let second = Rig::with(&[("a.txt", "hello\n")]);
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    let url = format!("http://{free}/mcp");
    second.configure(&format!("{ON}{}{}", address("me", &url, ""), echo("one", &[], "")));
    let mut house = second.http_at(&free.to_string(), &["--no-auth"], None);
    house.handshake();
    until("its server", || tools(&house).iter().any(|tool| tool == "one__echo"));
    a_while();
    assert!(tools(&house).iter().all(|tool| !tool.starts_with("me__")));
}

#[test]
fn two_that_watch_each_other_do_not_call_in_circles() {
    let (left, right) = (rig(), rig());
    let eye = |rig: &Rig| {
        format!("[federation]\nexposure = \"all\"\n{}prefix = false\n", observer(rig, "eye", &[]))
    };
    left.configure(&format!("{ON}{}", eye(&left)));
    right.configure(&format!("{ON}{}", eye(&right)));
    let mut one = left.http_with(&["--no-auth"], None);
    let mut two = right.http_with(&["--no-auth"], None);
    left.configure(&format!("{ON}{}{}", eye(&left), address("right", &two.url(), "")));
    right.configure(&format!("{ON}{}{}", eye(&right), address("left", &one.url(), "")));
    one.handshake();
    two.handshake();
    // Both offer `observe` to the other, so both are observers of each other.
    for (house, rig, other) in [(&one, &left, "right"), (&two, &right, "left")] {
        until("the other's tools", || tools(house).iter().any(|tool| *tool == format!("{other}__observe")));
        until_status(rig, other, "watching", |status| status["state"] == "watching");
    }
    one.call("read_file", json!({"path": "a.txt"}));
    for rig in [&left, &right] {
        assert_eq!(numbered(&until_copies(rig, "eye", 2)), 2);
    }
    two.call("read_file", json!({"path": "a.txt"}));
    one.call("right__read_file", json!({"path": "a.txt"}));
    // The last is a call at both: each tells itself and the other.
    for rig in [&left, &right] {
        until("its copies", || copies(rig, "eye").len() >= 8);
    }
    a_while();
    for rig in [&left, &right] {
        assert_eq!(copies(rig, "eye").len(), 8, "{:#?}", copies(rig, "eye"));
    }
    let counts = [tools(&one).len(), tools(&two).len()];
    a_while();
    assert_eq!([tools(&one).len(), tools(&two).len()], counts, "what they offer each other does not grow");
}

/// The number of these that have a number of their own house.
fn numbered(copies: &[Value]) -> usize {
    copies.iter().filter(|copy| copy["params"]["_meta"].get("tectum/sequence").is_some()).count()
}
