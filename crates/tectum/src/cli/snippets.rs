//! The settings that each client needs, as text to paste. The token itself is never in it: snippets
//! name its place.

use std::path::Path;

use serde_json::{Value, json};
use tectum::{config::servers::clients::Client, token::TokenPlace};

use super::{
    failure::Failure,
    screen::{Colour, Screen},
};

/// The ways in which clients reach Tectum for one directory.
pub(super) struct Ways<'w> {
    /// This program's full name: what was built is rarely on anybody's PATH.
    pub(super) program: String,
    pub(super) directory: String,
    url: &'w str,
    kept: Option<&'w TokenPlace>,
}

/// A piece to paste: the file it belongs in (empty for a command), and its text.
pub(super) type Snippet = (&'static str, String);

impl<'w> Ways<'w> {
    pub(super) fn new(directory: &Path, url: &'w str, kept: Option<&'w TokenPlace>) -> Result<Self, Failure> {
        let program = std::env::current_exe()?.display().to_string();
        Ok(Self { program, directory: directory.display().to_string(), url, kept })
    }

    /// The client starts the server and speaks over its pipes: no port, no token.
    fn started_by(&self, client: &str) -> Vec<Snippet> {
        let Self { program, directory, .. } = self;
        let args = ["serve", "-C", directory.as_str()];
        let line = format!("{} serve -C {}", quoted(program), quoted(directory));
        let entry = json!({ "command": program, "args": args });
        let servers = |entry: &Value| json!({ "mcpServers": { "tectum": entry } }).to_string();
        match client {
            "claude" => vec![("", format!("claude mcp add tectum -- {line}"))],
            "codex" => {
                let args: Vec<String> = args.iter().map(|arg| toml_text(arg)).collect();
                let table = format!("command = {}\nargs = [{}]\n", toml_text(program), args.join(", "));
                vec![
                    ("", format!("codex mcp add tectum -- {line}")),
                    ("~/.codex/config.toml", format!("[mcp_servers.tectum]\n{table}")),
                ]
            }
            "vscode" => {
                let entry = json!({ "type": "stdio", "command": program, "args": args });
                vec![(".vscode/mcp.json", json!({ "servers": { "tectum": entry } }).to_string())]
            }
            "zed" => {
                vec![(
                    "~/.config/zed/settings.json",
                    json!({ "context_servers": { "tectum": entry } }).to_string(),
                )]
            }
            "cursor" => vec![(".cursor/mcp.json", servers(&entry))],
            "gemini" => vec![("~/.gemini/settings.json", servers(&entry))],
            "windsurf" => vec![("~/.codeium/windsurf/mcp_config.json", servers(&entry))],
            _ => vec![("claude_desktop_config.json", servers(&entry))],
        }
    }

    /// The client reaches a running `tectum up`; `None` for clients that start their servers.
    pub(super) fn over_http(&self, client: &str) -> Option<Snippet> {
        let Self { url, kept, .. } = self;
        let bearer = |variable: &str| json!({ "Authorization": format!("Bearer {variable}") });
        let with_token = |mut entry: Value, variable: &str| {
            if kept.is_some() {
                entry["headers"] = bearer(variable);
            }
            json!({ "mcpServers": { "tectum": entry } }).to_string()
        };
        Some(match client {
            "claude" => ("", self.claude()),
            "codex" => {
                let token = if kept.is_some() { " --bearer-token-env-var TECTUM_TOKEN" } else { "" };
                ("", format!("{}codex mcp add tectum --url {url}{token}", self.export()))
            }
            "cursor" => (".cursor/mcp.json", with_token(json!({ "url": url }), "${env:TECTUM_TOKEN}")),
            "gemini" => ("~/.gemini/settings.json", with_token(json!({ "httpUrl": url }), "${TECTUM_TOKEN}")),
            "windsurf" => (
                "~/.codeium/windsurf/mcp_config.json",
                with_token(json!({ "serverUrl": url }), "${env:TECTUM_TOKEN}"),
            ),
            "vscode" => (".vscode/mcp.json", self.vscode()),
            _ => return None,
        })
    }

    /// The line that puts the token into the environment, for clients that take it from there.
    fn export(&self) -> String {
        match self.kept {
            Some(TokenPlace::File(path)) => {
                format!("export TECTUM_TOKEN=\"$(cat {})\"\n", quoted(&path.display().to_string()))
            }
            Some(TokenPlace::Environment) | None => String::new(),
        }
    }

    fn claude(&self) -> String {
        let command = format!("claude mcp add --transport http tectum {}", self.url);
        match self.kept {
            None => command,
            Some(TokenPlace::Environment) => {
                format!("{command} --header \"Authorization: Bearer $TECTUM_TOKEN\"")
            }
            Some(TokenPlace::File(path)) => {
                let path = quoted(&path.display().to_string());
                format!("{command} --header \"Authorization: Bearer $(cat {path})\"")
            }
        }
    }

    fn vscode(&self) -> String {
        let mut server = json!({ "type": "http", "url": self.url });
        if self.kept.is_none() {
            return json!({ "servers": { "tectum": server } }).to_string();
        }
        server["headers"] = json!({ "Authorization": "Bearer ${input:tectum-token}" });
        let input = json!({ "type": "promptString", "id": "tectum-token", "description": "Tectum's token", "password": true });
        json!({ "inputs": [input], "servers": { "tectum": server } }).to_string()
    }

    pub(super) fn text(&self, client: &Client, screen: &Screen) -> String {
        let mut text = block(client.title, "it starts Tectum itself", &self.started_by(client.name), screen);
        if let Some((place, snippet)) = self.over_http(client.name) {
            let reads = snippet.contains("TECTUM_TOKEN") && !snippet.contains("export ");
            let export = self.export();
            let mut pieces = vec![(place, snippet)];
            if reads && !export.is_empty() {
                pieces.insert(0, ("", export));
            }
            text.push_str(&format!("\n{}", block("Over HTTP", "while `tectum up` runs", &pieces, screen)));
        }
        if let Some(edits) = edits(client.name) {
            text.push_str(&format!("\n{edits}\n"));
        }
        text
    }

    pub(super) fn data(&self, client: &Client) -> Value {
        let piece =
            |(place, text): &Snippet| json!({ "file": Some(place).filter(|p| !p.is_empty()), "text": text });
        json!({
            "name": client.name,
            "title": client.title,
            "stdio": self.started_by(client.name).iter().map(piece).collect::<Vec<_>>(),
            "http": self.over_http(client.name).iter().map(piece).collect::<Vec<_>>(),
            "edits": edits(client.name),
        })
    }
}

/// The step for a client's user who wants its edits to run without being asked each time.
pub(super) fn edits(client: &str) -> Option<&'static str> {
    Some(match client {
        "claude" => "To let it edit without asking: claude --allowedTools mcp__tectum",
        "codex" => {
            "To let it edit without asking, add to [mcp_servers.tectum] in ~/.codex/config.toml: default_tools_approval_mode = \"approve\""
        }
        "gemini" => "To let it edit without asking, add \"trust\": true to its entry.",
        "cursor" | "vscode" | "windsurf" | "zed" | "claude-desktop" => {
            "It asks before a call; there you can always allow Tectum's tools."
        }
        _ => return None,
    })
}

pub(super) fn block(title: &str, remark: &str, pieces: &[Snippet], screen: &Screen) -> String {
    let remark =
        if remark.is_empty() { String::new() } else { format!("  {}", screen.paint(Colour::Dim, remark)) };
    let mut text = format!("{}{remark}\n", screen.paint(Colour::Bold, title));
    for (index, (place, snippet)) in pieces.iter().enumerate() {
        if !place.is_empty() {
            // A command before it does the same, unless it only sets a variable.
            let or = if index > 0 && !pieces[index - 1].1.starts_with("export ") { "or " } else { "" };
            text.push_str(&format!("  {}\n", screen.paint(Colour::Dim, &format!("{or}in {place}:"))));
        }
        snippet.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    text
}

/// A word for a shell.
pub(super) fn quoted(word: &str) -> String {
    if word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn toml_text(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use tectum::config::servers::clients::CLIENTS;

    use super::*;

    const URL: &str = "http://127.0.0.1:8999/mcp";

    fn ways(kept: Option<&TokenPlace>) -> Ways<'_> {
        Ways {
            program: "/opt/my tools/tectum".into(),
            directory: "/home/me/my project".into(),
            url: URL,
            kept,
        }
    }

    fn over_http(kept: Option<&TokenPlace>, client: &str) -> String {
        ways(kept).over_http(client).expect("a way").1
    }

    #[test]
    fn the_token_is_named_by_its_place() {
        let kept = TokenPlace::File("/home/me/my state/token".into());
        assert_eq!(
            over_http(Some(&kept), "claude"),
            r#"claude mcp add --transport http tectum http://127.0.0.1:8999/mcp --header "Authorization: Bearer $(cat '/home/me/my state/token')""#
        );
        assert_eq!(
            over_http(Some(&kept), "codex"),
            "export TECTUM_TOKEN=\"$(cat '/home/me/my state/token')\"\ncodex mcp add tectum --url http://127.0.0.1:8999/mcp --bearer-token-env-var TECTUM_TOKEN"
        );
        assert!(over_http(Some(&kept), "cursor").contains("Bearer ${env:TECTUM_TOKEN}"));
        assert!(over_http(Some(&kept), "vscode").contains("Bearer ${input:tectum-token}"));
    }

    #[test]
    fn without_a_token_nothing_asks_for_one() {
        for client in ["claude", "codex", "cursor", "vscode", "gemini", "windsurf"] {
            let snippet = over_http(None, client);
            assert!(snippet.contains(URL) && !snippet.to_lowercase().contains("token"), "{snippet}");
        }
    }

    #[test]
    fn a_client_that_starts_tectum_is_told_which_one_and_where() {
        let ways = ways(None);
        assert_eq!(
            ways.started_by("claude")[0].1,
            "claude mcp add tectum -- '/opt/my tools/tectum' serve -C '/home/me/my project'"
        );
        let table: toml::Table = toml::from_str(&ways.started_by("codex")[1].1).expect("TOML");
        assert_eq!(table["mcp_servers"]["tectum"]["command"].as_str(), Some("/opt/my tools/tectum"));
        for (client, key) in [
            ("cursor", "mcpServers"),
            ("vscode", "servers"),
            ("gemini", "mcpServers"),
            ("zed", "context_servers"),
            ("windsurf", "mcpServers"),
            ("claude-desktop", "mcpServers"),
        ] {
            let data: Value = serde_json::from_str(&ways.started_by(client)[0].1).expect("JSON");
            let entry = &data[key]["tectum"];
            assert_eq!(entry["command"], "/opt/my tools/tectum", "{client}");
            assert_eq!(entry["args"], json!(["serve", "-C", "/home/me/my project"]), "{client}");
        }
    }

    #[test]
    fn every_client_is_told_how_edits_run_unasked() {
        for client in CLIENTS {
            assert!(edits(client.name).is_some(), "{}", client.name);
        }
        assert!(
            edits("codex").is_some_and(|text| text.ends_with("default_tools_approval_mode = \"approve\""))
        );
    }
}
