//! The servers that compete: how each is started and how each spells the same call.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::data::Data;
use crate::peers::{self, Peers};
use crate::wire::Request;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    Floor,
    Tectum,
    /// Tectum that does not wait for the disk after an edit, like both peers.
    TectumFast,
    /// Tectum that records no calls.
    TectumOff,
    /// Tectum that waits for the disk before it answers.
    TectumAlways,
    /// Tectum that joins another of the same kind.
    TectumJoined,
    /// Another build of Tectum, to see the cost of a change.
    TectumBefore,
    RustFilesystem,
    NodeFilesystem,
    NodeEverything,
    Ripgrep,
}

/// Everything a server may need to be started.
pub(crate) struct Grounds {
    pub(crate) tectum: Option<PathBuf>,
    pub(crate) before: Option<PathBuf>,
    pub(crate) peers: Peers,
    pub(crate) data: Data,
}

/// A command that can be started any number of times.
pub(crate) struct Launch {
    pub(crate) name: String,
    /// The version; `None` asks the server for it.
    pub(crate) version: Option<&'static str>,
    pub(crate) log: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(&'static str, OsString)>,
}

impl Launch {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The last output of the server, to append to an error about it.
    pub(crate) fn last_words(&self) -> String {
        last_words(&self.log)
    }
}

/// The last line of a log, to append to an error; empty if there is none.
pub(crate) fn last_words(log: &Path) -> String {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    log.trim_end().lines().next_back().map(|line| format!("; it last said: {line}")).unwrap_or_default()
}

impl Server {
    const ALL: [Self; 11] = [
        Self::Floor,
        Self::Tectum,
        Self::TectumFast,
        Self::TectumOff,
        Self::TectumAlways,
        Self::TectumJoined,
        Self::TectumBefore,
        Self::RustFilesystem,
        Self::NodeFilesystem,
        Self::NodeEverything,
        Self::Ripgrep,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Tectum => "tectum",
            Self::TectumFast => "tectum-fast",
            Self::TectumOff => "tectum-off",
            Self::TectumAlways => "tectum-always",
            Self::TectumJoined => "tectum-joined",
            Self::TectumBefore => "tectum-before",
            Self::RustFilesystem => "rust-mcp-filesystem",
            Self::NodeFilesystem => "server-filesystem",
            Self::NodeEverything => "server-everything",
            Self::Ripgrep => "rg",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|server| server.name() == name);
        found.with_context(|| format!("no server `{name}`; there are {names}"))
    }

    /// The command to start it with `root` as the directory it may work in.
    pub(crate) fn launch(self, grounds: &Grounds, root: &Path) -> Result<Launch> {
        let root = root.as_os_str().to_owned();
        let mut launch = Launch {
            name: self.name().to_owned(),
            version: None,
            log: grounds.data.log(self.name()),
            program: "node".into(),
            args: Vec::new(),
            env: Vec::new(),
        };
        match self {
            Self::Floor => {
                launch.program = std::env::current_exe()?;
                launch.args = vec!["floor".into(), "--root".into(), root];
            }
            Self::Tectum
            | Self::TectumFast
            | Self::TectumOff
            | Self::TectumAlways
            | Self::TectumJoined
            | Self::TectumBefore => {
                let build = if self == Self::TectumBefore { &grounds.before } else { &grounds.tectum };
                launch.program = build.clone().context("no binary was named")?;
                launch.args = vec!["serve".into(), "-C".into(), root];
                // What calls leave behind belongs to the run, not to whoever measures.
                let place = grounds.data.gateway(self.name())?;
                launch.env.push(("XDG_STATE_HOME", place.join("state").into()));
                launch.env.push(("XDG_RUNTIME_DIR", place.join("run").into()));
                launch.env.extend(match self {
                    Self::TectumFast => Some(("TECTUM_FILES_DURABILITY", "rename".into())),
                    Self::TectumOff => Some(("TECTUM_JOURNAL_RECORD", "false".into())),
                    Self::TectumAlways => Some(("TECTUM_JOURNAL_SYNC", "always".into())),
                    Self::TectumJoined => Some(("TECTUM_SERVE_JOIN", "auto".into())),
                    _ => None,
                });
            }
            Self::RustFilesystem => {
                launch.program = grounds.peers.rust_mcp_filesystem()?;
                launch.args = vec!["--allow-write".into(), root];
                launch.version = Some(peers::RUST_MCP_FILESYSTEM);
            }
            Self::NodeFilesystem => {
                launch.args = vec![grounds.peers.node_server(self.name())?.into(), root];
                launch.version = Some(peers::NODE_SERVERS);
            }
            Self::NodeEverything => {
                launch.args = vec![grounds.peers.node_server(self.name())?.into(), "stdio".into()];
                launch.version = Some(peers::NODE_SERVERS);
            }
            Self::Ripgrep => bail!("rg is a command, not a server"),
        }
        Ok(launch)
    }

    pub(crate) fn read(self, path: &Path, expect: impl Into<String>) -> Request {
        let tool = if self.is_peer() { "read_text_file" } else { "read_file" };
        Request::tool(tool, json!({"path": path}), expect)
    }

    pub(crate) fn list(self, path: &Path, expect: impl Into<String>) -> Request {
        Request::tool("list_directory", json!({"path": path}), expect)
    }

    pub(crate) fn edit(self, path: &Path, old: &str, new: &str) -> Request {
        let arguments = if self.is_peer() {
            json!({"path": path, "edits": [{"oldText": old, "newText": new}]})
        } else {
            json!({"path": path, "old_string": old, "new_string": new})
        };
        Request::tool("edit_file", arguments, "")
    }

    fn is_peer(self) -> bool {
        matches!(self, Self::RustFilesystem | Self::NodeFilesystem)
    }
}
