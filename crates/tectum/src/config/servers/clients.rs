//! Where other programs keep their servers, so that `tectum import` finds them.

use std::path::{Path, PathBuf};

/// Another program that keeps servers.
#[derive(Debug)]
pub struct Client {
    /// What people type.
    pub name: &'static str,
    /// How it is called.
    pub title: &'static str,
    /// Its files below the user's home.
    user: &'static [&'static str],
    /// Its files below the user's configuration, which may lie elsewhere.
    config: &'static [&'static str],
    /// Its files in a project.
    project: &'static [&'static str],
}

/// Every program that is known.
pub static CLIENTS: &[Client] = &[
    Client {
        name: "claude",
        title: "Claude Code",
        user: &[".claude.json"],
        config: &[],
        project: &[".mcp.json"],
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        user: &["Library/Application Support/Claude/claude_desktop_config.json"],
        config: &["Claude/claude_desktop_config.json"],
        project: &[],
    },
    Client {
        name: "cursor",
        title: "Cursor",
        user: &[".cursor/mcp.json"],
        config: &[],
        project: &[".cursor/mcp.json"],
    },
    Client {
        name: "vscode",
        title: "VS Code",
        user: &["Library/Application Support/Code/User/mcp.json"],
        config: &["Code/User/mcp.json"],
        project: &[".vscode/mcp.json"],
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        user: &[".codeium/windsurf/mcp_config.json", ".codeium/mcp_config.json"],
        config: &[],
        project: &[],
    },
    Client {
        name: "codex",
        title: "Codex",
        user: &[".codex/config.toml"],
        config: &[],
        project: &[".codex/config.toml"],
    },
    Client {
        name: "zed",
        title: "Zed",
        user: &[],
        config: &["zed/settings.json"],
        project: &[".zed/settings.json"],
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        user: &[".gemini/settings.json"],
        config: &[],
        project: &[".gemini/settings.json"],
    },
];

/// A place where a program keeps servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Where.
    pub path: PathBuf,
    /// How it is written in `[federation] read` of the user's file.
    pub written: String,
}

impl Client {
    /// The program of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// The usual places, the user's first. They need not exist.
    pub fn spots(&self, directory: &Path, home: Option<&Path>, config: Option<&Path>) -> Vec<Spot> {
        let mut spots = Vec::new();
        for part in self.user {
            spots.extend(home.map(|home| Spot { path: home.join(part), written: format!("~/{part}") }));
        }
        for part in self.config {
            spots.extend(config.map(|config| {
                let path = config.join(part);
                let written = match home.and_then(|home| path.strip_prefix(home).ok()) {
                    Some(below) => format!("~/{}", below.display()),
                    None => path.display().to_string(),
                };
                Spot { path, written }
            }));
        }
        for part in self.project {
            spots.push(Spot { path: directory.join(part), written: (*part).to_owned() });
        }
        spots
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
