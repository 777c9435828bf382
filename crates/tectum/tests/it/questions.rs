//! Questions of running Tectums, answered from a terminal.

use std::io::{Read as _, Write as _};

use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::{Client, Era, echo, until},
    rig::{Rig, Stdin, terminal, text},
};

fn rig() -> Rig {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    rig.configure("[permissions]\nask = [\"write_file\"]\n");
    rig
}

/// Begins a call that a rule asks about.
fn ask(client: &mut Stdin, id: u64, path: &str) {
    let arguments = json!({"path": path, "content": format!("text of {path}\n")});
    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "write_file", "arguments": arguments}}));
}

fn pending(rig: &Rig) -> Vec<Value> {
    let told = Said::from(rig.run(&["pending", "--json"]));
    assert_eq!(told.code, 0, "{}", told.err);
    let told: Value = serde_json::from_str(&told.out).expect("JSON");
    told["questions"].as_array().expect("a list").clone()
}

/// The ids of this many questions, by the file they are about.
fn ids(rig: &Rig, count: usize) -> Vec<String> {
    until("the questions are there", || pending(rig).len() == count);
    let mut all = pending(rig);
    all.sort_by_key(|question| question["subject"].as_str().map(str::to_owned));
    all.iter().map(|question| question["id"].as_str().expect("an id").to_owned()).collect()
}

/// The answer to a call; what else comes meanwhile is passed over.
fn answer(client: &mut Stdin, id: u64) -> Value {
    loop {
        let message = client.receive();
        if message["id"] == id && message.get("method").is_none() {
            return message["result"].clone();
        }
    }
}

#[test]
fn questions_of_all_houses_are_listed_and_answered_where_they_were_asked() {
    let (mut rig, other) = (rig(), rig());
    // Two projects of one user.
    rig.set("XDG_RUNTIME_DIR", other.outside().join("run"));
    rig.set("XDG_STATE_HOME", other.home().join("state"));
    assert!(Said::from(rig.run(&["pending"])).out.contains("no question waits"));
    let (mut one, mut two) = (rig.stdio(), other.stdio());
    ask(&mut one, 71, "b.txt");
    ask(&mut two, 72, "c.txt");
    let ids = ids(&rig, 2);
    let shown = Said::from(other.run(&["pending"]));
    let project = rig.project().display().to_string();
    for word in [ids[0].as_str(), ids[1].as_str(), "write_file", "Would create b.txt", project.as_str()] {
        assert!(shown.out.contains(word), "{word} is not in {}", shown.out);
    }
    let status: Value = serde_json::from_str(&Said::from(rig.run(&["status", "--json"])).out).expect("JSON");
    assert!(status["houses"].as_array().expect("a list").iter().all(|house| house["questions"] == 1));

    // From any directory, with the beginning of the id.
    let denied = Said::from(other.run(&["deny", &ids[0], "--reason", "not there"]));
    assert_eq!((denied.code, denied.out.contains("denied")), (0, true), "{}", denied.err);
    let refused = answer(&mut one, 71);
    assert!(refused["isError"] == true && text(&refused).contains("not there"), "{refused}");
    let approved = Said::from(rig.run(&["approve", &ids[1]]));
    assert_eq!(approved.code, 0, "{}", approved.err);
    assert_ne!(answer(&mut two, 72)["isError"], true);
    assert_eq!(other.read("c.txt"), "text of c.txt\n");
    assert!(!rig.project().join("b.txt").exists() && pending(&rig).is_empty());

    let late = Said::from(rig.run(&["approve", &ids[0]]));
    assert_eq!(late.code, 5, "it is settled: {}", late.err);
    let unknown = Said::from(rig.run(&["approve", "q-nothing"]));
    assert_eq!((unknown.code, unknown.err.contains("tectum pending")), (4, true), "{}", unknown.err);
    let broken = Said::from(rig.run(&["approve", &ids[0], "--args", "{"]));
    assert_eq!(broken.code, 2, "{}", broken.err);
}

#[test]
fn arguments_can_be_changed_and_a_yes_remembered() {
    let rig = rig();
    let mut client = rig.stdio();
    ask(&mut client, 71, "b.txt");
    let first = ids(&rig, 1).remove(0);
    let changed = json!({"path": "b.txt", "content": "of a person\n"}).to_string();
    let approved = Said::from(rig.run(&["approve", &first, "--args", &changed]));
    assert_eq!(approved.code, 0, "{}", approved.err);
    assert_ne!(answer(&mut client, 71)["isError"], true);
    assert_eq!(rig.read("b.txt"), "of a person\n");

    ask(&mut client, 72, "c.txt");
    let second = ids(&rig, 1).remove(0);
    let approved = Said::from(rig.run(&["approve", &second, "--session"]));
    assert_eq!(approved.code, 0, "{}", approved.err);
    assert_ne!(answer(&mut client, 72)["isError"], true);
    ask(&mut client, 73, "c.txt");
    assert_ne!(answer(&mut client, 73)["isError"], true, "the same is not asked again");
    assert!(pending(&rig).is_empty());
}

#[test]
fn a_call_that_nobody_looks_at_ends_and_its_answer_waits_for_the_repeated_call() {
    // With signs of life, and without.
    for meta in [json!({}), json!({"progressToken": "t"})] {
        let rig = rig();
        rig.configure("[permissions]\nask = [\"write_file\"]\n[approval]\nhold = \"1s\"\n");
        let mut client = rig.stdio();
        let params =
            json!({"name": "write_file", "arguments": {"path": "b.txt", "content": "x\n"}, "_meta": meta});
        let call = |client: &mut Stdin, id: u64| {
            client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
            answer(client, id)
        };
        // Nobody ever came to the socket of this house.
        let told = call(&mut client, 71);
        assert_eq!(
            (&told["isError"], &told["_meta"]["tectum/fault"]),
            (&json!(true), &json!("timeout")),
            "{told}"
        );
        let id = text(&told).split("pending, id ").nth(1).and_then(|rest| rest.split(':').next());
        let id = id.unwrap_or_else(|| panic!("no id in {told}"));
        for words in ["repeat the call", "`tectum top`", &format!("tectum approve {id}")] {
            assert!(text(&told).contains(words), "{words}: {told}");
        }
        assert!(!rig.project().join("b.txt").exists());
        let approved = Said::from(rig.run(&["approve", id]));
        assert_eq!(approved.code, 0, "{}", approved.err);
        assert_ne!(call(&mut client, 72)["isError"], true);
        assert_eq!(rig.read("b.txt"), "x\n");
    }
}

#[test]
fn a_yes_for_the_project_is_written_to_the_users_own_file_and_shown() {
    let rig = rig();
    let settings = "# mine\n[permissions]\ndefault = \"ask\"\n";
    rig.configure(settings);
    let mut client = rig.stdio();
    ask(&mut client, 71, "b.txt");
    let id = ids(&rig, 1).remove(0);
    let approved = Said::from(rig.run(&["approve", &id, "--project"]));
    assert_eq!(approved.code, 0, "{}", approved.err);
    assert_ne!(answer(&mut client, 71)["isError"], true);
    let project = std::fs::canonicalize(rig.project()).expect("there");
    let line = format!("allow_in = [\"{}=write_file(b.txt)\"]", project.display());
    assert!(approved.out.contains(&format!("+{line}")), "{}", approved.out);
    let written = std::fs::read_to_string(rig.home().join("config/tectum/tectum.toml")).expect("readable");
    assert_eq!(written.replace(&format!("{line}\n"), ""), settings, "nothing else changed");
    // The rule holds for whoever starts next, and for that file alone.
    let mut next = rig.stdio();
    ask(&mut next, 72, "b.txt");
    assert_ne!(answer(&mut next, 72)["isError"], true);
    ask(&mut next, 73, "c.txt");
    let id = ids(&rig, 1).remove(0);
    assert_eq!(Said::from(rig.run(&["deny", &id])).code, 0);
    assert_eq!(answer(&mut next, 73)["isError"], true);

    // A rule that asks is not beaten by one that allows: the person hears so, and the question still waits.
    rig.configure("[permissions]\nask = [\"write_file\"]\n");
    let mut strict = rig.stdio();
    ask(&mut strict, 74, "d.txt");
    let id = ids(&rig, 1).remove(0);
    let refused = Said::from(rig.run(&["approve", &id, "--project"]));
    assert_eq!(
        (refused.code, refused.err.contains("remember the answer for the session")),
        (2, true),
        "{}",
        refused.err
    );
    assert_eq!(ids(&rig, 1), std::slice::from_ref(&id));
    assert_eq!(Said::from(rig.run(&["approve", &id])).code, 0);
    assert_ne!(answer(&mut strict, 74)["isError"], true);
}

#[test]
fn a_question_about_a_servers_tool_shows_its_whole_definition() {
    let rig = Rig::new();
    rig.configure(&format!("[permissions]\nask = [\"one__echo\"]\n{}", echo("one", &[], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    let listed = client.result("tools/list", json!({}));
    let listed = listed["tools"].as_array().expect("a list").iter().find(|tool| tool["name"] == "one__echo");
    let listed = listed.expect("listed").clone();
    let call = client.start("tools/call", json!({"name": "one__echo", "arguments": {"text": "x"}}));
    let id = ids(&rig, 1).remove(0);
    let question = pending(&rig).remove(0);
    let preview = &question["preview"];
    assert_eq!((&preview["kind"], &preview["server"]), (&json!("definition"), &json!("one")), "{question}");
    let defined = &preview["definition"];
    for part in ["name", "description", "inputSchema", "annotations"] {
        assert!(!defined[part].is_null() && defined[part] == listed[part], "{part}: {defined} {listed}");
    }
    let shown = Said::from(rig.run(&["pending"]));
    let description = defined["description"].as_str().expect("text");
    for words in ["one__echo", "\"text\": \"x\"", "inputSchema", description] {
        assert!(shown.out.contains(words), "{words} is not in {}", shown.out);
    }
    assert_eq!(Said::from(rig.run(&["approve", &id])).code, 0);
    let echoed = client.wait(call);
    assert_eq!(text(&echoed["result"]), "x", "{echoed}");
}

/// `tectum top` in a terminal of this size, and what its screen shows.
struct Top {
    keys: std::fs::File,
    screen: std::sync::Arc<std::sync::Mutex<vt100::Parser>>,
    child: std::process::Child,
}

impl Top {
    fn start(rig: &Rig, rows: u16, columns: u16) -> Self {
        let (ours, theirs) = terminal();
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&theirs, size).expect("a size");
        let end = || theirs.try_clone().expect("cloned");
        let mut command = rig.tectum();
        command.arg("top").env("TERM", "xterm-256color").stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().expect("starts");
        drop((command, theirs));
        let screen = std::sync::Arc::new(std::sync::Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let (shown, mut reading) = (screen.clone(), ours.try_clone().expect("cloned"));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read) = reading.read(&mut bytes)
                && read > 0
            {
                shown.lock().expect("whole").process(&bytes[..read]);
            }
        });
        Self { keys: ours, screen, child }
    }

    fn text(&self) -> String {
        self.screen.lock().expect("whole").screen().contents()
    }

    #[track_caller]
    fn until(&self, words: &[&str]) {
        until(&format!("{words:?}"), || words.iter().all(|word| self.text().contains(word)));
    }

    fn press(&mut self, key: &str) {
        self.keys.write_all(key.as_bytes()).expect("pressed");
    }
}

impl Drop for Top {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn top_shows_what_happens_and_answers_with_a_key() {
    let rig = rig();
    let mut client = rig.stdio();
    let mut top = Top::start(&rig, 24, 80);
    top.until(&["1 Tectum", "no question waits", "q quit"]);
    // Its stream of events begins in its own time.
    until("calls are shown", || {
        client.call("read_file", json!({"path": "a.txt"}));
        top.text().contains("read_file")
    });
    ask(&mut client, 71, "b.txt");
    top.until(&["write_file", "Would create b.txt", "a approve"]);
    // The first key may come too soon after the question: nothing is answered by accident.
    until("it is approved", || {
        top.press("a");
        top.text().contains("approved")
    });
    assert_ne!(answer(&mut client, 71)["isError"], true);
    assert_eq!(rig.read("b.txt"), "text of b.txt\n");
    ask(&mut client, 72, "c.txt");
    top.until(&["Would create c.txt"]);
    until("it is denied", || {
        top.press("d");
        top.text().contains("denied")
    });
    assert_eq!(answer(&mut client, 72)["isError"], true);
    top.until(&["Errors", "no question waits"]);
    top.press("q");
    assert!(top.child.wait().expect("ends").success());
}

#[test]
fn top_needs_a_terminal() {
    let said = Said::from(rig().run(&["top"]));
    assert_eq!((said.code, said.err.contains("tectum pending --json")), (2, true), "{}", said.err);
}
