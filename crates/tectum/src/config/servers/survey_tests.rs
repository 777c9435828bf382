//! From files to specs: which entry counts, what is held, and what is told.

use tectum_peers::spec::{NewTools, Transport};
use tempfile::TempDir;

use super::*;

pub(in super::super) struct Files {
    pub(in super::super) scratch: TempDir,
    pub(in super::super) sources: Sources,
}

impl Files {
    pub(in super::super) fn new(files: &[(&str, &str)]) -> Self {
        let scratch = tempfile::tempdir().expect("a directory");
        let root = state::canonical(scratch.path());
        let sources = Sources {
            directory: root.join("project"),
            home: Some(root.join("home")),
            user_file: Some(root.join("home/config/tectum.toml")),
            state: Some(root.join("home/state")),
            environment: vec![("TOKEN".into(), "hunter2".into()), ("PATH".into(), "/usr/bin:/bin".into())],
            ..Sources::default()
        };
        let files_of = Self { scratch, sources };
        files_of.write("project/README", "");
        for (path, text) in files {
            files_of.write(path, text);
        }
        files_of
    }

    #[expect(clippy::disallowed_methods, reason = "files of the test itself")]
    pub(in super::super) fn write(&self, path: &str, text: &str) {
        let path = self.scratch.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    fn survey(&self) -> Survey {
        let config = self.sources.load().unwrap_or_else(|problems| panic!("{problems}"));
        Survey::read(&self.sources, &config)
    }

    fn agree(&self, name: &str) {
        let survey = self.survey();
        let mut ledger = Context::read(&self.sources).ledger;
        survey
            .asked
            .iter()
            .filter(|(entry, _)| entry.written == name)
            .for_each(|(entry, _)| ledger.agree(entry));
        ledger.save().expect("kept");
    }
}

/// Name, and how it is or why it is not.
fn told(survey: &Survey) -> Vec<String> {
    let line = |server: &Server| match &server.verdict {
        Ok(spec) => format!("{} ready {}", spec.name, server.entry.argv().join(" ")),
        Err(held) => format!("{} {:?}: {}", held.name, held.why, held.message),
    };
    let broken = survey.broken.iter().map(|held| format!("{} {:?}: {}", held.name, held.why, held.message));
    survey.servers.iter().map(line).chain(broken).collect()
}

const USER: &str = "home/config/tectum.toml";
const PROJECT: &str = "project/tectum.toml";

#[test]
fn the_users_servers_run_and_the_projects_wait() {
    let files = Files::new(&[
        (USER, "[servers.a]\ncommand = [\"x\", \"y\"]\nargs = [\"z\"]\n"),
        (PROJECT, "[servers.b]\ncommand = \"x\"\n"),
        ("project/.mcp.json", "{\"mcpServers\":{\"c\":{\"command\":\"x\"}}}"),
        ("project/mcp_config.json", "{\"servers\":[{\"name\":\"d\",\"command\":[\"x\"]}]}"),
        ("home/config/mcp_config.json", "{\"servers\":[{\"name\":\"e\",\"command\":[\"x\"]}]}"),
    ]);
    let waits = |name: &str, at: &str| {
        format!("{name} Untrusted: {at} comes with the project and is not approved yet")
    };
    assert_eq!(
        told(&files.survey()),
        [
            "a ready x y z".to_owned(),
            waits("b", "tectum.toml:1"),
            waits("c", ".mcp.json:1"),
            waits("d", "mcp_config.json:1"),
            "e ready x".to_owned(),
        ]
    );
    files.agree("c");
    assert_eq!(told(&files.survey())[2], "c ready x");
    files.write("project/.mcp.json", "{\"mcpServers\":{\"c\":{\"command\":\"x\",\"args\":[\"evil\"]}}}");
    assert_eq!(
        told(&files.survey())[2],
        "c Untrusted: .mcp.json:1 changed since it was trusted: command: was x, is x evil"
    );
}

#[test]
fn where_a_file_lies_decides_and_not_who_names_it() {
    let files = Files::new(&[
        (USER, "[federation]\nread = [\".cursor/mcp.json\", \"~/mine.json\", \"~/link.json\"]\n"),
        ("project/.cursor/mcp.json", "{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}"),
        ("home/mine.json", "{\"mcpServers\":{\"b\":{\"command\":\"x\"}}}"),
        ("project/linked.json", "{\"mcpServers\":{\"c\":{\"command\":\"x\"}}}"),
    ]);
    std::os::unix::fs::symlink("../project/linked.json", files.scratch.path().join("home/link.json"))
        .expect("made");
    let told = told(&files.survey());
    assert!(
        told[0].starts_with("a Untrusted") && told[1] == "b ready x" && told[2].starts_with("c Untrusted"),
        "{told:?}"
    );
    files.write(PROJECT, "[federation]\nread = [\"../home/mine.json\"]\n");
    assert!(
        files.sources.load().expect_err("refused").to_string().contains("names a path outside the project")
    );
}

#[test]
fn the_first_that_may_start_counts_and_the_rest_is_told() {
    let files = Files::new(&[
        (USER, "[servers.a]\ncommand = \"mine\"\n[federation]\nread = [\"~/1.json\", \"~/2.json\"]\n"),
        (PROJECT, "[servers.a]\ncommand = \"theirs\"\n"),
        ("home/1.json", "{\"mcpServers\":{\"a\":{\"command\":\"one\"},\"b\":{\"command\":\"one\"}}}"),
        ("home/2.json", "{\"mcpServers\":{\"b\":{\"command\":\"two\"}}}"),
    ]);
    let survey = files.survey();
    assert_eq!(told(&survey), ["a ready mine", "b ready one"]);
    assert_eq!(
        survey.notes,
        [
            "tectum.toml:1: `a` is not trusted; the one from ~/config/tectum.toml:1 is used",
            "~/1.json:1: `a` is not used, because ~/config/tectum.toml:1 takes precedence",
            "~/2.json:1: `b` is not used, because ~/1.json:1 takes precedence",
        ]
    );
    files.agree("a");
    assert_eq!(told(&files.survey())[0], "a ready theirs");
}

#[test]
fn tables_without_a_command_change_the_entry_of_that_name() {
    let files = Files::new(&[
        (
            USER,
            "[servers.a]\nenabled = false\n[servers.b]\ntimeout = \"2h\"\nscopes = [\"x\"]\n[servers.gone]\ntimeout = 5\n[servers.other]\nenabled = false\n",
        ),
        (
            "home/config/mcp_config.json",
            "{\"mcpServers\":{\"a\":{\"command\":\"x\"},\"b\":{\"command\":\"x\"}}}",
        ),
    ]);
    let survey = files.survey();
    assert_eq!(
        told(&survey),
        [
            "a Disabled: it is switched off in ~/config/tectum.toml:2",
            "b ready x",
            "gone Problem: [servers.gone] has neither `command` nor `url`, and no other file has a server `gone`",
        ]
    );
    assert!(
        survey.notes[0].ends_with("`scopes` has no effect on `b`, which is started by a command"),
        "{:?}",
        survey.notes
    );
    let spec = survey.server("b").expect("there").verdict.clone().expect("ready");
    assert_eq!((spec.timeout.as_secs(), spec.most_timeout.as_secs()), (7200, 7200));
}

#[test]
fn a_project_may_only_tighten_what_is_yours() {
    let project = "[servers.a]\npermission = \"ask\"\nexclude = [\"t\"]\nprefix = false\nnew_tools = \"ask\"\n[servers.b]\nenabled = false\n[servers.c]\npermission = \"allow\"\nnew_tools = \"take\"\n";
    let files = Files::new(&[
        (
            USER,
            "[servers.a]\ncommand = \"x\"\nexclude = [\"s\"]\n[servers.b]\ncommand = \"x\"\n[servers.c]\ncommand = \"x\"\npermission = \"ask\"\nnew_tools = \"ask\"\n",
        ),
        (PROJECT, project),
    ]);
    let survey = files.survey();
    let spec = survey.server("a").expect("there").verdict.clone().expect("ready");
    assert_eq!((spec.permission, spec.new_tools), (tectum_core::Judgement::Ask, NewTools::Ask));
    assert_eq!((spec.exclude.join(","), spec.prefix), ("s,t".to_owned(), true));
    assert_eq!(told(&survey)[1], "b Disabled: it is switched off in tectum.toml:7");
    let spec = survey.server("c").expect("there").verdict.clone().expect("ready");
    assert_eq!((spec.permission, spec.new_tools), (tectum_core::Judgement::Ask, NewTools::Ask));
    assert_eq!(survey.notes.len(), 3, "{:?}", survey.notes);
    assert!(survey.notes[0].starts_with("tectum.toml:4: `prefix` of `a` is ignored"), "{:?}", survey.notes);
}

#[test]
fn variables_are_filled_or_the_server_waits() {
    let files = Files::new(&[(
        USER,
        "[servers.a]\ncommand = \"./run.sh\"\nargs = [\"${workspaceFolder}\"]\ncwd = \"sub\"\nenv = { T = \"${TOKEN}\" }\n\
         [servers.b]\ncommand = \"x\"\nargs = [\n  \"ok\",\n  \"${NOT_SET}\",\n]\n\
         [servers.c]\nurl = \"https://${HOST:-h}/\"\nheaders = { A = \"Bearer ${TOKEN}\", B = \"as-written\" }\n\
         [servers.d]\nurl = \"${TOKEN}\"\n",
    )]);
    let root = state::canonical(files.scratch.path());
    let survey = files.survey();
    let Ok(spec) = &survey.server("a").expect("there").verdict else { panic!("{survey:?}") };
    let Transport::Stdio(launch) = &spec.transport else { panic!("{spec:?}") };
    assert_eq!(Path::new(&launch.command), root.join("home/config/run.sh"));
    assert_eq!(launch.args, [root.join("project").to_string_lossy()]);
    assert_eq!(launch.cwd.as_deref(), Some(&*root.join("project/sub")));
    assert_eq!(launch.env["T"].reveal(), "hunter2");
    let told = told(&survey);
    assert_eq!(
        told[1],
        "b Problem: ~/config/tectum.toml:10:3: server `b`: the environment variable NOT_SET is not set"
    );
    let Ok(spec) = &survey.server("c").expect("there").verdict else { panic!("{survey:?}") };
    let Transport::Http(remote) = &spec.transport else { panic!("{spec:?}") };
    assert_eq!((remote.url.as_str(), remote.headers["A"].reveal()), ("https://h/", "Bearer hunter2"));
    assert_eq!(told[3], "d Problem: ~/config/tectum.toml:16:7: server `d`: its `url` is not a URL");
    let debug = format!("{survey:?}");
    assert!(!debug.contains("hunter2") && !debug.contains("as-written"), "values stay hidden: {debug}");
}

#[test]
fn ourselves_are_never_federated() {
    let exe = std::env::current_exe().expect("known");
    let text = format!(
        "{{\"mcpServers\":{{\"a\":{{\"command\":{exe:?}}},\"b\":{{\"command\":\"tectum\",\"args\":[\"-C\",\"x\",\"serve\"]}},\"c\":{{\"url\":\"http://localhost:8999/mcp\"}},\"d\":{{\"command\":\"tectum\",\"args\":[\"x\"]}}}}}}"
    );
    let files = Files::new(&[("home/config/mcp_config.json", &text)]);
    let survey = files.survey();
    assert_eq!(told(&survey), ["d ready tectum x"]);
    assert!(survey.notes.is_empty(), "they are no mistake: {:?}", survey.notes);
    assert_eq!(survey.skipped.len(), 3, "{:?}", survey.skipped);
    let skipped = "`a` is skipped: this entry is Tectum itself (this program, or a copy of it)";
    assert!(survey.skipped[0].ends_with(skipped), "{:?}", survey.skipped);
}

#[test]
fn own_tables_are_strict() {
    for (text, expect) in [
        (
            "[servers.a]\ncomand = \"x\"",
            "2:1: unknown key in [servers.a]: `comand` (did you mean `command`?)",
        ),
        (
            "[servers.a]\ncommand = \"x\"\ntimeout = \"soon\"",
            "3:11: `servers.a.timeout` must be a time, got the text \"soon\" (write a number of seconds or text such as timeout = \"90s\" or \"5m\")",
        ),
        (
            "[servers.a]\ncommand = \"x\"\ntimeout = 0",
            "3:11: `servers.a.timeout` must be a time from 1 to 86400 seconds, got the number 0 (write timeout = \"60s\")",
        ),
        (
            "[servers.a]\ncommand = []",
            "2:11: `servers.a.command` must be the name of a program, or a list of it and its arguments, got a list (write command = \"npx\" and args = [\"…\"])",
        ),
        (
            "[servers.a]\ncommand = \"x\"\nenv = { A = 1 }",
            "3:13: in `servers.a.env`: each entry must be text, got a number (put it in quotes)",
        ),
        (
            "[servers.a]\ncommand = \"x\"\nurl = \"https://y\"",
            "3:7: `servers.a` has both a `command` and a `url` (keep only one of them)",
        ),
        (
            "[servers.a]\nurl = \"https://y\"\nargs = []",
            "3:8: `servers.a.args` is for a server with a `command` (remove it, or the url)",
        ),
        (
            "[servers.a]\nargs = []",
            "2:8: `servers.a.args` needs a `command` or a `url` beside it (add the `command` or the `url`)",
        ),
        ("[servers.a]\n", "1:10: [servers.a] says nothing (give a `command` or a `url`, or remove it)"),
        (
            "[servers.a]\ncommand = \"x\"\ntype = \"http\"",
            "3:8: `servers.a` starts a command and cannot be of type http (leave `type` out, or give a `url` instead of the command)",
        ),
        (
            "[servers.a__b]\ncommand = \"x\"",
            "1:10: `a__b` cannot be a server's name: `_` may stand only singly and inside, since `__` separates server and tool (rename the table)",
        ),
        (
            "[servers]\na = 1",
            "2:1: `servers.a` is a table, got the number 1 (write [servers.a] on a line of its own)",
        ),
        (
            "servers = 1",
            "1:11: `servers` must be a table with one table per server, got the number 1 (write [servers.NAME] on a line of its own)",
        ),
        (
            "[servers.a]\ncommand = \"x\"\nprefix = false\n[servers.b]\ncommand = \"x\"\nprefix = false",
            "6:10: `servers.a` and `servers.b` both have prefix = false, and only one server may have no prefix (remove it from one of them)",
        ),
        (
            "[servers.a]\ncommand = \"x\"\ntimeout = 9\nmax_timeout = 5",
            "4:15: `servers.a` has a `max_timeout` below its `timeout` (raise `max_timeout` or lower `timeout`)",
        ),
    ] {
        let files = Files::new(&[(USER, text)]);
        let told = files.sources.load().expect_err(text).to_string();
        assert_eq!(told, format!("~/config/tectum.toml:{expect}"), "{text}");
    }
}
