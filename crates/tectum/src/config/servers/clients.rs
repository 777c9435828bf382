//! The files in which other programs keep their servers, so that `tectum import` finds them.

use std::path::{Path, PathBuf};

/// Another program that keeps servers.
#[derive(Debug)]
pub struct Client {
    /// The name that people type.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// Its files, the user's first.
    files: &'static [Below],
}

/// A file, by the directory it lies below.
#[derive(Debug)]
enum Below {
    Home(&'static str),
    /// The user's configuration, which may lie elsewhere than at home.
    Config(&'static str),
    Project(&'static str),
}

use Below::{Config, Home, Project};

const fn client(name: &'static str, title: &'static str, files: &'static [Below]) -> Client {
    Client { name, title, files }
}

/// Every program that is known.
pub static CLIENTS: &[Client] = &[
    client("claude", "Claude Code", &[Home(".claude.json"), Project(".mcp.json")]),
    client(
        "claude-desktop",
        "Claude Desktop",
        &[
            Home("Library/Application Support/Claude/claude_desktop_config.json"),
            Config("Claude/claude_desktop_config.json"),
        ],
    ),
    client("cursor", "Cursor", &[Home(".cursor/mcp.json"), Project(".cursor/mcp.json")]),
    client(
        "vscode",
        "VS Code",
        &[
            Home("Library/Application Support/Code/User/mcp.json"),
            Config("Code/User/mcp.json"),
            Project(".vscode/mcp.json"),
        ],
    ),
    client(
        "windsurf",
        "Windsurf",
        &[Home(".codeium/windsurf/mcp_config.json"), Home(".codeium/mcp_config.json")],
    ),
    client("codex", "Codex", &[Home(".codex/config.toml"), Project(".codex/config.toml")]),
    client("zed", "Zed", &[Config("zed/settings.json"), Project(".zed/settings.json")]),
    client("gemini", "Gemini CLI", &[Home(".gemini/settings.json"), Project(".gemini/settings.json")]),
];

/// A place where a program keeps servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Its path.
    pub path: PathBuf,
    /// Its form in `[federation] read` of the user's file.
    pub written: String,
}

impl Client {
    /// The program of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// The usual places, the user's first. They need not exist.
    pub fn spots(&self, directory: &Path, home: Option<&Path>, config: Option<&Path>) -> Vec<Spot> {
        let spot = |file: &Below| {
            let (path, written) = match *file {
                Home(part) => (home?.join(part), format!("~/{part}")),
                Project(part) => (directory.join(part), part.to_owned()),
                Config(part) => {
                    let path = config?.join(part);
                    let below = home.and_then(|home| path.strip_prefix(home).ok());
                    let written = below.map(|below| format!("~/{}", below.display()));
                    let written = written.unwrap_or_else(|| path.display().to_string());
                    (path, written)
                }
            };
            Some(Spot { path, written })
        };
        self.files.iter().filter_map(spot).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_the_way_the_users_file_reads_them() {
        let spots = |name: &str| {
            let client = Client::named(name).expect("known");
            client.spots(Path::new("/p"), Some(Path::new("/h")), Some(Path::new("/h/.config")))
        };
        let pair = |path: &str, written: &str| Spot { path: path.into(), written: written.into() };
        assert_eq!(
            spots("cursor"),
            [
                pair("/h/.cursor/mcp.json", "~/.cursor/mcp.json"),
                pair("/p/.cursor/mcp.json", ".cursor/mcp.json")
            ]
        );
        assert_eq!(spots("zed")[0], pair("/h/.config/zed/settings.json", "~/.config/zed/settings.json"));
        assert_eq!(Client::named("claude").expect("known").spots(Path::new("/p"), None, None).len(), 1);
    }
}
