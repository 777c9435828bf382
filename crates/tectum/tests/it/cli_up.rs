//! `tectum up` and `tectum serve` as processes: what they print, how they stop, what they refuse.
#![allow(clippy::disallowed_methods, reason = "files of the test itself")]

use std::{
    io::{BufRead as _, BufReader, Read as _},
    os::unix::fs::PermissionsExt,
    process::{Child, Command, Stdio},
};

use crate::{
    cli_said::Said,
    rig::{Rig, TOKEN},
};

/// A server whose standard output was read up to the line that holds `until`.
fn started(mut command: Command, until: &str) -> (Child, BufReader<std::process::ChildStdout>, String) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped"));
    let mut shown = String::new();
    while !shown.contains(until) {
        assert!(lines.read_line(&mut shown).expect("readable") > 0, "`{until}` not in: {shown}");
    }
    (child, lines, shown)
}

fn signal(rig: &Rig, child: &Child, name: &str) {
    let sent = rig.command("kill").args([name, &child.id().to_string()]).status().expect("runs");
    assert!(sent.success());
}

fn ended(child: Child) -> Said {
    child.wait_with_output().expect("ends").into()
}

#[test]
fn up_shows_how_to_connect_and_never_the_token() {
    let rig = Rig::new();
    let mut command = rig.tectum();
    command.args(["up", "--port", "0"]);
    let (child, mut lines, mut shown) = started(command, "Ctrl-C stops");
    signal(&rig, &child, "-INT");
    lines.read_to_string(&mut shown).expect("readable");
    ended(child).gives("");

    let path = rig.home().join("state/tectum/token");
    let token = std::fs::read_to_string(&path).expect("made");
    assert!(!shown.contains(token.trim()), "{shown}");
    let project = rig.project().canonicalize().expect("there");
    for part in [
        &format!("serving {} with ", project.display()),
        &format!("token   in {}", path.display()),
        &format!("--header \"Authorization: Bearer $(cat {})\"", path.display()),
        "claude mcp add --transport http tectum http://127.0.0.1:",
        &format!("export TECTUM_TOKEN=\"$(cat {})\"", path.display()),
        "codex mcp add tectum --url http://127.0.0.1:",
        "--bearer-token-env-var TECTUM_TOKEN",
        "claude --allowedTools mcp__tectum",
        "default_tools_approval_mode = \"approve\"",
        "Other clients  claude-desktop, cursor, vscode, windsurf, zed, gemini; ",
        &format!(
            "{} connect NAME -C {} --url http://127.0.0.1:",
            env!("CARGO_BIN_EXE_tectum"),
            project.display()
        ),
    ] {
        assert!(shown.contains(part), "`{part}` not in:\n{shown}");
    }
    assert!(shown.lines().count() <= 24, "it fits a screen:\n{shown}");
}

#[test]
fn connect_names_this_very_program_and_the_folder() {
    let rig = Rig::new();
    let project = rig.project().canonicalize().expect("there").display().to_string();
    let program = env!("CARGO_BIN_EXE_tectum");
    let claude = Said::from(rig.run(&["connect", "claude"])).out;
    assert!(claude.contains(&format!("claude mcp add tectum -- {program} serve -C {project}\n")), "{claude}");
    let all = Said::from(rig.run(&["connect", "--json"])).json();
    let names: Vec<&str> =
        all["clients"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["claude", "claude-desktop", "cursor", "vscode", "windsurf", "codex", "zed", "gemini"]);
    let vscode = Said::from(rig.run(&["connect", "vscode", "--json"])).json();
    let entry: serde_json::Value =
        serde_json::from_str(vscode["stdio"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(entry["servers"]["tectum"]["command"], program);
    assert!(!rig.home().join("state/tectum/token").exists(), "nothing is made");
    // What it prints works: the program serves that folder.
    let words: Vec<&str> =
        claude.lines().find_map(|line| line.split_once(" -- ")).expect("a command").1.split(' ').collect();
    let mut command = rig.command(words[0]);
    command.current_dir("/").args(&words[1..]).stdin(Stdio::null());
    let served = Said::from(command.output().expect("runs"));
    assert_eq!((served.code, served.err.as_str()), (0, ""), "no warning: the folder is named");
    Said::from(rig.run(&["connect", "curser"]))
        .fails(4, "error: there is no client `curser`\nhint: did you mean `cursor`?\n");
}

#[test]
fn serving_a_home_or_everything_is_warned_of_first() {
    let rig = Rig::new();
    let home = rig.home().canonicalize().expect("there").display().to_string();
    let warning = |folder: &str| {
        format!(
            "warning: all of {folder} is served, including your personal files; to serve one project, name its directory with -C DIR\n"
        )
    };
    for folder in [home.as_str(), "/"] {
        let said = Said::from(rig.run(&["serve", "-C", folder]));
        assert_eq!((said.code, said.err), (0, warning(folder)));
    }
    let mut command = rig.tectum();
    command.args(["up", "--port", "0", "-C", &home]);
    let (child, _lines, _) = started(command, "Ctrl-C stops");
    signal(&rig, &child, "-INT");
    assert_eq!(ended(child).err, warning(&home));
    assert_eq!(Said::from(rig.run(&["serve"])).err, "", "a project is served without a word");
}

#[test]
fn a_port_that_another_tectum_has_is_said_so() {
    let rig = Rig::new();
    let house = rig.http();
    let said = Said::from(rig.run(&["up", "--port", &house.port.to_string()]));
    assert_eq!(said.code, 5);
    let taken = format!("error: another Tectum is already listening on 127.0.0.1:{}\n", house.port);
    assert!(said.err.starts_with(&taken), "{}", said.err);
}

#[test]
fn up_as_json_is_one_line_and_stops_on_sigterm() {
    let rig = Rig::new();
    let mut command = rig.tectum();
    command.env("TECTUM_TOKEN", TOKEN).args(["up", "--listen", "127.0.0.1:0", "--json"]);
    let (child, mut lines, mut shown) = started(command, "\n");
    signal(&rig, &child, "-TERM");
    lines.read_to_string(&mut shown).expect("readable");
    ended(child).gives("");
    let json: serde_json::Value = serde_json::from_str(&shown).expect("one line of JSON");
    assert!(json["url"].as_str().expect("a url").starts_with("http://127.0.0.1:"), "{json}");
    assert_eq!((&json["auth"], &json["token_file"]), (&"token".into(), &serde_json::Value::Null));
    assert!(!rig.home().join("state/tectum/token").exists(), "the one in TECTUM_TOKEN is enough");
}

#[test]
fn a_taken_port_is_named_with_the_way_out() {
    let rig = Rig::new();
    let held = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
    let address = held.local_addr().expect("bound");
    Said::from(rig.run(&["up", "--port", &address.port().to_string()])).fails(
        5,
        &format!(
            "error: {address} is taken by another program\n\
             hint: choose another port with --port N, or --port 0 for any free one\n"
        ),
    );
}

#[test]
fn without_a_token_it_is_loud_and_stays_on_loopback() {
    let rig = Rig::new();
    let mut command = rig.tectum();
    command.args(["up", "--port", "0", "--no-auth"]);
    let (child, mut lines, mut shown) = started(command, "Ctrl-C stops");
    signal(&rig, &child, "-INT");
    lines.read_to_string(&mut shown).expect("readable");
    let said = ended(child);
    assert!(said.code == 0 && said.err.starts_with("warning: no token is required"), "{}", said.err);
    assert!(shown.contains("token   not required") && !shown.contains("Bearer"), "{shown}");

    let remote = Said::from(rig.run(&["up", "--listen", "0.0.0.0:0", "--no-auth"]));
    assert!(remote.code == 2 && remote.err.contains("so a token is required"), "{}", remote.err);
    let remote = Said::from(rig.run(&["up", "--listen", "0.0.0.0:0"]));
    assert!(remote.code == 2 && remote.err.contains("allow_remote = true"), "{}", remote.err);
}

#[test]
fn a_token_others_can_read_or_a_weak_one_is_refused() {
    let rig = Rig::new();
    let state = rig.home().join("state/tectum");
    std::fs::create_dir_all(&state).expect("made");
    std::fs::write(state.join("token"), "0".repeat(64)).expect("written");
    std::fs::set_permissions(state.join("token"), PermissionsExt::from_mode(0o644)).expect("changed");
    let open = Said::from(rig.run(&["up", "--port", "0"]));
    assert!(open.code == 2 && open.err.contains("chmod 600"), "{}", open.err);

    let weak = rig.tectum().env("TECTUM_TOKEN", "short").args(["up", "--port", "0"]).output().expect("runs");
    Said::from(weak).fails(
        2,
        "error: TECTUM_TOKEN must be at least 32 hexadecimal characters\nhint: make one with: openssl rand -hex 32\n",
    );
}

#[test]
fn without_a_home_the_token_must_be_brought_along() {
    let rig = Rig::new();
    let mut command = rig.tectum();
    command.env_remove("HOME").env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME");
    let said = Said::from(command.args(["up", "--port", "0"]).output().expect("runs"));
    assert!(
        said.code == 2 && said.err.contains("neither XDG_STATE_HOME nor HOME is set to an absolute path"),
        "{}",
        said.err
    );
}

#[test]
fn a_state_that_cannot_be_written_is_told_with_what_to_do() {
    let rig = Rig::with(&[("a.txt", "")]);
    let mut command = rig.tectum();
    command.env("XDG_STATE_HOME", rig.project().join("a.txt")).args(["up", "--port", "0"]);
    let said = Said::from(command.output().expect("runs"));
    assert!(said.code == 2 && said.err.contains("hint: Tectum keeps its token there"), "{}", said.err);
}

#[test]
fn a_project_file_cannot_open_a_listener() {
    let rig = Rig::with(&[("tectum.toml", "[http]\nlisten = \"0.0.0.0:8999\"\n")]);
    let said = Said::from(rig.run(&["up"]));
    assert_eq!(said.code, 2);
    assert!(
        said.err.starts_with("error: tectum.toml:2:1: `http.listen` is ignored in a project's file"),
        "{}",
        said.err
    );
}

#[test]
fn serve_speaks_only_the_protocol_and_stops_on_a_signal() {
    for name in ["-INT", "-TERM"] {
        let rig = Rig::new();
        let mut client = rig.stdio();
        signal(&rig, &client.child, name);
        let status = client.child.wait().expect("ends");
        assert!(status.success(), "{name}: {status}");
    }
}

#[test]
fn our_own_state_stays_closed_when_a_home_is_served() {
    let rig = Rig::new();
    let state = rig.home().join("state/tectum");
    std::fs::create_dir_all(&state).expect("made");
    std::fs::write(state.join("token"), "0".repeat(64)).expect("written");
    let home = rig.home();
    let home = home.to_str().expect("UTF-8");
    for path in ["state/tectum/token", "state/tectum"] {
        assert_eq!(
            Said::from(rig.run(&["-C", home, "call", "read_file", &format!("path={path}")])).code,
            3,
            "{path}"
        );
    }
}
