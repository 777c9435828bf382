//! The servers whose conversations are counted, and the plan of one run.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::project::Project;
use super::serena;
use crate::lineup::Launch;
use crate::peers::{self, Peers};

/// The plan of one run.
pub(crate) struct EconomyPlan {
    pub(crate) tectum: Option<PathBuf>,
    /// The servers to measure; empty means all.
    pub(crate) servers: Vec<EconomyServer>,
    pub(crate) out: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) peers: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EconomyServer {
    Tectum,
    NodeFilesystem,
    RustFilesystem,
    Serena,
}

impl EconomyServer {
    pub(crate) const ALL: [Self; 4] =
        [Self::Tectum, Self::NodeFilesystem, Self::RustFilesystem, Self::Serena];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tectum => "tectum",
            Self::NodeFilesystem => "server-filesystem",
            Self::RustFilesystem => "rust-mcp-filesystem",
            Self::Serena => "serena",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|server| server.name() == name);
        found.with_context(|| format!("no server `{name}`; there are {names}"))
    }

    pub(super) fn launch(self, plan: &EconomyPlan, peers: &Peers, project: &Project) -> Result<Launch> {
        let root = project.root.clone().into_os_string();
        let mut launch = Launch {
            name: self.name().to_owned(),
            version: None,
            log: plan.data.join(format!("economy-{}.log", self.name())),
            program: "node".into(),
            args: vec![root.clone()],
            env: Vec::new(),
        };
        match self {
            Self::Tectum => {
                launch.program = plan.tectum.clone().context("--tectum names no binary")?;
                launch.args = vec!["serve".into(), "-C".into(), root];
                // The settings of the user must not count.
                launch.env = vec![("HOME", project.root.with_file_name("home").into())];
            }
            Self::NodeFilesystem => {
                launch.args.insert(0, peers.node_server(self.name())?.into());
                launch.version = Some(peers::NODE_SERVERS);
            }
            Self::RustFilesystem => {
                launch.program = peers.rust_mcp_filesystem()?;
                launch.args.insert(0, "--allow-write".into());
                launch.version = Some(peers::RUST_MCP_FILESYSTEM);
            }
            Self::Serena => {
                launch.program = peers.serena()?;
                launch.args = vec!["start-mcp-server".into(), "--project".into(), root];
                let home = project.root.with_file_name("serena");
                serena::configure(&home, &project.root, &launch.program)?;
                launch.env = vec![("SERENA_HOME", home.into())];
                launch.version = Some(peers::SERENA);
            }
        }
        Ok(launch)
    }
}
