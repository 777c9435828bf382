//! What to paste where, per client. The token itself is never printed: snippets name its place.

use std::path::Path;

use serde_json::json;
use tectum::token::Kept;

use super::screen::{Colour, Screen};

/// Snippets for every client we know, ready to paste. One that starts the server itself is told the
/// directory, if it was named.
pub(crate) fn snippets(url: &str, kept: Option<&Kept>, dir: Option<&Path>, screen: &Screen) -> String {
    let mut text = String::new();
    let mut add = |client: &str, place: &str, snippet: &str| {
        let place =
            if place.is_empty() { String::new() } else { format!("  {}", screen.paint(Colour::Dim, place)) };
        text.push_str(&format!("{}{place}\n", screen.paint(Colour::Bold, client)));
        for line in snippet.lines() {
            text.push_str(&format!("  {line}\n"));
        }
        text.push('\n');
    };
    if let Some(Kept::File(path)) = kept {
        let path = quoted(&path.display().to_string());
        add(
            "Token",
            "for the clients below that read it from the environment",
            &format!("export TECTUM_TOKEN=\"$(cat {path})\""),
        );
    }
    add("Claude Code", "", &claude(url, kept));
    add("Codex", "~/.codex/config.toml", &codex(url, kept));
    add("Cursor", ".cursor/mcp.json", &cursor(url, kept));
    add("VS Code", ".vscode/mcp.json", &vscode(url, kept));
    add("Any client that starts its servers", "no port, no token", &pipes(dir));
    text
}

/// The way without a port: the client starts the server and speaks over its pipes.
fn pipes(dir: Option<&Path>) -> String {
    let dir = dir.map(|dir| dir.display().to_string());
    let args: Vec<&str> = dir.iter().flat_map(|dir| ["-C", dir.as_str()]).chain(["serve"]).collect();
    let line = args.iter().map(|arg| quoted(arg)).collect::<Vec<_>>().join(" ");
    let server = json!({ "mcpServers": { "tectum": { "command": "tectum", "args": args } } });
    format!("claude mcp add tectum -- tectum {line}\ncodex mcp add tectum -- tectum {line}\n{server}")
}

fn claude(url: &str, kept: Option<&Kept>) -> String {
    let command = format!("claude mcp add --transport http tectum {url}");
    match kept {
        None => command,
        Some(Kept::Environment) => format!("{command} --header \"Authorization: Bearer $TECTUM_TOKEN\""),
        Some(Kept::File(path)) => {
            let path = quoted(&path.display().to_string());
            format!("{command} --header \"Authorization: Bearer $(cat {path})\"")
        }
    }
}

fn codex(url: &str, kept: Option<&Kept>) -> String {
    let token = if kept.is_some() { "bearer_token_env_var = \"TECTUM_TOKEN\"\n" } else { "" };
    format!("[mcp_servers.tectum]\nurl = \"{url}\"\n{token}")
}

fn cursor(url: &str, kept: Option<&Kept>) -> String {
    let mut server = json!({ "url": url });
    if kept.is_some() {
        server["headers"] = json!({ "Authorization": "Bearer ${env:TECTUM_TOKEN}" });
    }
    json!({ "mcpServers": { "tectum": server } }).to_string()
}

fn vscode(url: &str, kept: Option<&Kept>) -> String {
    let mut server = json!({ "type": "http", "url": url });
    if kept.is_none() {
        return json!({ "servers": { "tectum": server } }).to_string();
    }
    server["headers"] = json!({ "Authorization": "Bearer ${input:tectum-token}" });
    let input = json!({ "type": "promptString", "id": "tectum-token", "description": "Tectum's token", "password": true });
    json!({ "inputs": [input], "servers": { "tectum": server } }).to_string()
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    if word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "http://127.0.0.1:8999/mcp";

    #[test]
    fn the_token_is_named_by_its_place() {
        let kept = Kept::File("/home/me/my state/token".into());
        assert_eq!(
            claude(URL, Some(&kept)),
            r#"claude mcp add --transport http tectum http://127.0.0.1:8999/mcp --header "Authorization: Bearer $(cat '/home/me/my state/token')""#
        );
        assert!(codex(URL, Some(&kept)).contains("bearer_token_env_var = \"TECTUM_TOKEN\""));
        assert!(cursor(URL, Some(&kept)).contains("Bearer ${env:TECTUM_TOKEN}"));
        assert!(vscode(URL, Some(&kept)).contains("Bearer ${input:tectum-token}"));
    }

    #[test]
    fn without_a_token_nothing_asks_for_one() {
        for snippet in [claude(URL, None), codex(URL, None), cursor(URL, None), vscode(URL, None)] {
            assert!(snippet.contains(URL) && !snippet.to_lowercase().contains("token"), "{snippet}");
        }
    }

    #[test]
    fn a_directory_that_was_named_is_named_to_clients() {
        assert!(pipes(None).starts_with("claude mcp add tectum -- tectum serve\n"), "{}", pipes(None));
        let named = pipes(Some(Path::new("/home/me/my project")));
        assert!(
            named.starts_with("claude mcp add tectum -- tectum -C '/home/me/my project' serve\n"),
            "{named}"
        );
        assert!(named.ends_with(r#""args":["-C","/home/me/my project","serve"]}}}"#), "{named}");
    }

    #[test]
    fn snippets_are_what_their_files_hold() {
        let kept = Some(&Kept::Environment);
        serde_json::from_str::<serde_json::Value>(&cursor(URL, kept)).expect("JSON");
        serde_json::from_str::<serde_json::Value>(&vscode(URL, kept)).expect("JSON");
        toml::from_str::<toml::Table>(&codex(URL, kept)).expect("TOML");
    }
}
