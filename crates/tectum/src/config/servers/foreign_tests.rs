//! Every form other programs have, as small files.

use std::path::Path;

use super::*;

fn read(path: &str, text: &str) -> ForeignContent {
    let source =
        Arc::new(Source::foreign(Path::new(path), path.rsplit('/').next().unwrap().into(), Place::Yours));
    parse(&source, text, Path::new("/p")).unwrap_or_else(|problem| panic!("{text}: {problem}"))
}

/// An entry on one line: what it says, without its places.
fn told(entry: &Entry) -> String {
    let mut text = format!("{} {} {}", entry.name, entry.kind(), entry.argv().join(" "));
    for (key, value) in super::super::keys::KEYS.iter().filter_map(|key| Some((key, entry.values.get(key)?)))
    {
        use super::super::super::value::Value;
        let value = match &value.0 {
            Value::Table(fields) => {
                fields.iter().map(|(n, i)| format!("{n}={}", i.text)).collect::<Vec<_>>().join(",")
            }
            Value::List(items) if !["command", "args"].contains(&key.name) => {
                items.iter().map(|i| i.text.as_str()).collect::<Vec<_>>().join(",")
            }
            Value::List(_) => continue,
            Value::Word(word) if key.name != "type" => word.clone(),
            Value::Word(_) => continue,
            Value::Flag(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
        };
        text.push_str(&format!(" {}:{value}", key.name));
    }
    if !entry.forward.is_empty() {
        text.push_str(&format!(" forward:{}", entry.forward.join(",")));
    }
    if let Some(problem) = &entry.problem {
        text.push_str(&format!(" PROBLEM {problem}"));
    }
    text
}

fn check(path: &str, text: &str, expect: &[&str]) {
    let content = read(path, text);
    assert_eq!(content.entries.iter().map(told).collect::<Vec<_>>(), expect, "{path}: {text}");
}

#[test]
fn the_older_list_of_commands() {
    check(
        "/p/mcp_config.json",
        r#"{"servers":[{"name":"fs","command":["npx","-y","fs"],"env":{"A":"b"}},{"name":"x","command":["y"]}]}"#,
        &["fs stdio npx -y fs env:A=b", "x stdio y"],
    );
    let content = read("/p/mcp_config.json", "{\"servers\":[\n{\"command\":[\"x\"]}, 3]}");
    assert!(content.entries.is_empty());
    assert!(
        content.notes[0].starts_with("mcp_config.json:2:1: skipped a server without a name"),
        "{:?}",
        content.notes
    );
}

#[test]
fn claude() {
    check(
        "/p/.mcp.json",
        r#"{"mcpServers":{"a":{"type":"stdio","command":"a","args":["x"]},"b":{"type":"http","url":"https://b","headers":{"K":"v"}},"c":{"type":"sse","url":"https://c"}}}"#,
        &["a stdio a x", "b http  url:https://b headers:K=v", "c sse  url:https://c"],
    );
    check(
        "/h/.claude.json",
        r#"{"history":[1],"mcpServers":{"a":{"command":"user"},"b":{"command":"b"}},
            "projects":{"/q":{"mcpServers":{"z":{"command":"z"}}},"/p":{"x":1,"mcpServers":{"a":{"command":"local"}}}}}"#,
        &["a stdio local", "b stdio b"],
    );
}

#[test]
fn vs_code() {
    let text = r#"{ // comment
        "inputs": [{"type":"promptString","id":"key","description":"The key","password":true}],
        "servers": {"gh": {"url":"https://gh","headers":{"Authorization":"Bearer ${input:key}"}},},
    }"#;
    check(
        "/p/.vscode/mcp.json",
        text,
        &["gh http  url:https://gh headers:Authorization=Bearer ${input:key}"],
    );
    assert_eq!(read("/p/.vscode/mcp.json", text).inputs["key"], "The key");
    check("/h/settings.json", r#"{"mcp":{"servers":{"a":{"command":"x"}}},"editor":{}}"#, &["a stdio x"]);
}

#[test]
fn windsurf_and_others_that_switch_off() {
    check(
        "/h/mcp_config.json",
        r#"{"mcpServers":{"w":{"serverUrl":"https://w/sse","disabled":true,"disabledTools":["t"],"alwaysAllow":[]}}}"#,
        &["w http  url:https://w/sse enabled:false exclude:t"],
    );
}

#[test]
fn codex() {
    check(
        "/h/.codex/config.toml",
        r#"
model = "x"
[mcp_servers.a]
command = "npx"
args = ["-y"]
env = { K = "v" }
env_vars = ["HOME", { name = "TOKEN", source = "local" }]
cwd = "/w"
enabled = false
required = true
startup_timeout_sec = 2.5
tool_timeout_sec = 90
enabled_tools = ["x"]
disabled_tools = ["y"]
[mcp_servers.b]
url = "https://b"
bearer_token_env_var = "TOK"
http_headers = { X = "1" }
env_http_headers = { Y = "WHY" }
"#,
        &[
            "a stdio npx -y env:K=v cwd:/w enabled:false required:true start_timeout:2500 timeout:90000 include:x exclude:y forward:HOME,TOKEN",
            "b http  url:https://b headers:X=1,Authorization=Bearer ${env:TOK},Y=${env:WHY}",
        ],
    );
}

#[test]
fn zed() {
    check(
        "/h/.config/zed/settings.json",
        "{\n// mine\n\"theme\": {\"x\": [1,],},\n\"context_servers\": {\
         \"a\": {\"source\": \"custom\", \"command\": \"x\", \"args\": [\"y\"], \"env\": {}},\
         \"old\": {\"command\": {\"path\": \"o\", \"args\": [\"p\"], \"env\": {\"E\": \"1\"}}, \"settings\": {}},\
         \"ext\": {\"source\": \"extension\", \"enabled\": true, \"settings\": {}},}}",
        &["a stdio x y env:", "old stdio o p env:E=1"],
    );
}

#[test]
fn gemini() {
    check(
        "/h/.gemini/settings.json",
        r#"{"mcpServers":{"a":{"httpUrl":"https://a","includeTools":["x"],"excludeTools":["y"],"timeout":5000,"trust":true},"b":{"url":"https://b"},"c":{"command":"c","env":{"K":"$KEY"},"cwd":"./w"}}}"#,
        &[
            "a http  url:https://a timeout:5000 include:x exclude:y",
            "b sse  url:https://b",
            "c stdio c env:K=$KEY cwd:./w",
        ],
    );
    assert_eq!(read("/h/.gemini/settings.json", "{}").entries.len(), 0);
}

#[test]
fn cursor_takes_variables_from_a_file() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join(".cursor/mcp.json");
    let variables = folder.path().join("my.env");
    #[expect(clippy::disallowed_methods, reason = "a file of the test itself")]
    std::fs::write(&variables, "# no\nexport A=one\nB = \"t w o\"\nC='${X}'\nbroken\n").expect("written");
    let source = Arc::new(Source::foreign(&path, "mcp.json".into(), Place::Project));
    let text =
        r#"{"mcpServers":{"a":{"command":"x","env":{"A":"mine"},"envFile":"${workspaceFolder}/my.env"}}}"#;
    let content = parse(&source, text, folder.path()).expect("reads");
    assert_eq!(told(&content.entries[0]), "a stdio x env:A=mine,B=t w o,C=$${X}");
    assert_eq!(content.files, [variables]);
    assert_eq!(source.base, folder.path());
    let text = r#"{"mcpServers":{"a":{"command":"x","envFile":"gone.env"}}}"#;
    let content = parse(&source, text, folder.path()).expect("reads");
    assert!(
        told(&content.entries[0]).contains("PROBLEM mcp.json:1:45: `a` takes its variables from"),
        "{}",
        told(&content.entries[0])
    );
    assert_eq!(content.files.len(), 1, "one that may appear is watched");
}

#[test]
fn what_is_wrong_with_one_server_is_its_own_problem() {
    check(
        "/p/.mcp.json",
        "{\"mcpServers\":{\n\"a\":{\"command\":3},\n\"b\":{\"command\":\"ok\",\"future\":{\"x\":1}},\n\"c\":{\"command\":\"x\",\"args\":[1]},\n\"d\":7,\n\"e\":{},\n\"f\":{\"command\":\"x\",\"url\":\"https://y\"},\n\"g\":{\"command\":\"x\",\"env\":{\"N\":1,\"T\":true,\"Z\":null}},\n\"h\":{\"command\":\"x\",\"env\":{\"A=B\":\"\"}},\n\"i\":{\"url\":\"https://y\",\"headers\":{\"a b\":\"\"}}}}",
        &[
            "a stdio  PROBLEM .mcp.json:2:16: `a.command` must be the name of a program, or a list of it and its arguments, got the number 3",
            "b stdio ok",
            "c stdio x PROBLEM .mcp.json:4:28: in `c.args`: each entry must be text, got the number 1",
            "d stdio  PROBLEM .mcp.json:5:5: `d` must be a table, got the number 7",
            "e stdio  PROBLEM .mcp.json:6:1: `e` has neither a `command` nor a `url`",
            "f http x url:https://y PROBLEM .mcp.json:7:26: `servers.f` has both a `command` and a `url`",
            "g stdio x env:N=1,T=true",
            "h stdio x env:A=B= PROBLEM .mcp.json:9:33: `servers.h` has an invalid environment variable name: \"A=B\"",
            "i http  url:https://y headers:a b= PROBLEM .mcp.json:10:41: `servers.i` has an invalid header name: \"a b\"",
        ],
    );
}

#[test]
fn names_are_adapted_and_that_is_told() {
    let content = read("/p/.mcp.json", "{\"mcpServers\":{\n\"my server\":{\"command\":\"x\"}}}");
    let name = content.entries[0].name.as_str();
    assert!(name.starts_with("my_server-"), "{name}");
    assert!(
        content.notes[0].starts_with(".mcp.json:2: `my server` is called `my_server-"),
        "{:?}",
        content.notes
    );
}

#[test]
fn a_file_cannot_bring_any_number_of_servers() {
    let many: Vec<String> = (0..300).map(|i| format!("\"s{i}\":{{\"command\":\"x\"}}")).collect();
    let content = read("/p/.mcp.json", &format!("{{\"mcpServers\":{{{}}}}}", many.join(",")));
    assert_eq!(content.entries.len(), MOST_SERVERS);
    assert_eq!(content.notes, [".mcp.json has more than 256 servers; the rest are skipped"]);
}

#[test]
fn a_file_that_is_broken_is_placed() {
    let source = Arc::new(Source::foreign(Path::new("/p/.mcp.json"), ".mcp.json".into(), Place::Yours));
    let problem = parse(&source, "{\n\"mcpServers\": }", Path::new("/p")).expect_err("broken");
    assert!(problem.to_string().starts_with(".mcp.json:2:15: this is not JSON"), "{problem}");
    parse(&source, "[]", Path::new("/p")).expect_err("no table");
    let source = Arc::new(Source::foreign(Path::new("/p/c.toml"), "c.toml".into(), Place::Yours));
    let problem = parse(&source, "a = 1\n[mcp_servers.x", Path::new("/p")).expect_err("broken");
    assert!(problem.to_string().starts_with("c.toml:2:"), "{problem}");
}

#[test]
fn whatever_a_file_holds_it_is_read_or_refused() {
    let json = r#"{"servers":{"ä":{"command":["x","${A}"],"env":{"K":"v\n"},"timeout":1e3,"url":null}},"inputs":[{"id":"i"}]}// ü"#;
    let toml =
        "[mcp_servers.a]\ncommand = \"x\"\nenv_vars = [\"A\", { name = \"B\" }]\nstartup_timeout_sec = 1.5\n";
    for (path, text) in [("/h/.gemini/settings.json", json), ("/h/config.toml", toml)] {
        let source = Arc::new(Source::foreign(Path::new(path), "f".into(), Place::Project));
        let read = |bytes: &[u8]| {
            // Every entry of what reads is whole enough to be looked at.
            let content = parse(&source, &String::from_utf8_lossy(bytes), Path::new("/p"));
            content.map_or(0, |content| content.entries.iter().map(|entry| told(entry).len()).sum::<usize>())
        };
        assert!(read(text.as_bytes()) > 0);
        for at in 0..text.len() {
            read(&text.as_bytes()[..at]);
            for byte in *b"\"{}[],:0-\\/.=\n\0\xff" {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] = byte;
                read(&bytes);
            }
        }
    }
}
