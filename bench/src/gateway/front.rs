//! The gateways that compete: how each is started in front of some copies of the floor, and its names
//! for their tools. All state of a gateway is kept in a directory of the bench.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::client::Address;
use crate::lineup::{Grounds, Launch};
use crate::peers;
use crate::wire::Request;

/// The number of tools of each copy of the floor.
pub(crate) const TOOLS: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Front {
    /// No gateway: the floor itself.
    Direct,
    /// The least a gateway can do.
    Floor,
    Tectum,
    RustProxy,
    PythonProxy,
    FastMcp,
}

/// A gateway in front of this many servers.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) front: Front,
    pub(crate) servers: usize,
}

impl Front {
    pub(crate) const ALL: [Self; 6] =
        [Self::Direct, Self::Floor, Self::Tectum, Self::RustProxy, Self::PythonProxy, Self::FastMcp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Floor => "floor-gateway",
            Self::Tectum => "tectum",
            Self::RustProxy => "mcp-proxy-rust",
            Self::PythonProxy => "mcp-proxy-python",
            Self::FastMcp => "fastmcp-proxy",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|front| front.name() == name);
        found.with_context(|| {
            format!("no gateway `{name}`; there are {}", Self::ALL.map(Self::name).join(", "))
        })
    }

    fn version(self) -> Option<&'static str> {
        match self {
            // Some gateways return the version of the server behind them.
            Self::RustProxy => Some(peers::RUST_MCP_PROXY),
            Self::PythonProxy => Some(peers::PYTHON_MCP_PROXY),
            Self::FastMcp => Some(peers::FASTMCP),
            Self::Direct | Self::Floor | Self::Tectum => None,
        }
    }
}

impl Setting {
    /// In front of one server: the gateway's own cost and nothing else.
    pub(crate) fn alone(front: Front) -> Self {
        Self { front, servers: 1 }
    }

    /// The name in cases where gateways have different numbers of servers.
    pub(crate) fn name(self) -> String {
        format!("{}-{}", self.front.name(), self.servers)
    }

    pub(crate) fn address(self, port: u16) -> Address {
        Address { port, path: if self.front == Front::RustProxy { "/" } else { "/mcp" } }
    }

    /// A call of the last server's `echo`.
    pub(crate) fn echo(self) -> Request {
        let last = self.servers - 1;
        let tool = match self.front {
            Front::Tectum => format!("s{last}__echo"),
            Front::RustProxy => format!("s{last}_echo"),
            Front::FastMcp if self.servers > 1 => format!("s{last}_echo"),
            _ => "echo".to_owned(),
        };
        Request::tool(&tool, json!({"message": "as it was said"}), "as it was said")
    }

    pub(crate) fn tools(self) -> usize {
        self.servers * TOOLS
    }

    /// The command to listen on a port, or without one to use standard input and output.
    pub(crate) fn launch(self, grounds: &Grounds, port: Option<u16>) -> Result<Launch> {
        let name = self.name();
        let place = grounds.data.gateway(&name)?;
        let own = std::env::current_exe()?;
        let behind = [own.clone().into_os_string(), "floor".into(), "--root".into(), place.clone().into()];
        let behind = [&behind[..], &["--tools".into(), TOOLS.to_string().into()]].concat();
        let mut launch = Launch {
            log: grounds.data.log(&format!("gateway-{name}")),
            name,
            version: self.front.version(),
            program: own,
            args: Vec::new(),
            env: Vec::new(),
        };
        let listening = port.map(|port| port.to_string());
        match (self.front, listening) {
            (Front::Direct, None) => launch.args = behind[1..].to_vec(),
            (Front::Direct, Some(port)) => {
                let tools = self.tools().to_string();
                launch.args = words(&["floor", "--port", &port, "--tools", &tools, "--root"]);
                launch.args.push(place.into());
            }
            (Front::Floor, Some(port)) => {
                launch.args = [words(&["floor", "--port", &port, "--"]), behind].concat();
            }
            (Front::Tectum, port) => {
                launch.program = grounds.tectum.clone().context("--tectum names no binary")?;
                let config = kept(&place, "bench.toml", &tectum_config(self.servers, &behind))?;
                let command = if port.is_some() { "up" } else { "serve" };
                launch.args =
                    vec![command.into(), "-C".into(), place.clone().into(), "--config".into(), config.into()];
                launch
                    .args
                    .extend(port.map(|port| words(&["--no-auth", "--port", &port])).unwrap_or_default());
                launch.env.push(("XDG_STATE_HOME", state(&place).into()));
                launch.env.push(("XDG_CONFIG_HOME", place.join("config").into()));
            }
            (Front::RustProxy, Some(port)) => {
                launch.program = grounds.peers.rust_mcp_proxy()?;
                let config = kept(&place, "bench.toml", &rust_proxy_config(&port, self.servers, &behind))?;
                launch.args = vec!["--config".into(), config.into()];
            }
            (Front::PythonProxy, Some(port)) => {
                launch.program = grounds.peers.python_mcp_proxy()?;
                launch.args = [words(&["--log-level", "WARNING", "--port", &port, "--"]), behind].concat();
            }
            (Front::FastMcp, port) => {
                launch.program = grounds.peers.fastmcp_python()?;
                let script = kept(&place, "gateway.py", include_str!("fastmcp_proxy.py"))?;
                let port = port.unwrap_or_else(|| "stdio".to_owned());
                launch.args =
                    [vec![script.into(), port.into(), self.servers.to_string().into()], behind].concat();
            }
            (front, None) => bail!("{} is not measured on pipes", front.name()),
        }
        Ok(launch)
    }

    /// Deletes what Tectum remembers of the servers. The others remember nothing.
    pub(crate) fn forget(self, grounds: &Grounds) -> Result<()> {
        let name = self.name();
        let state = state(&grounds.data.gateway(&name)?);
        if state.exists() {
            fs::remove_dir_all(&state).with_context(|| format!("could not remove `{}`", state.display()))?;
        }
        Ok(())
    }
}

fn state(place: &Path) -> PathBuf {
    place.join("state")
}

/// The settings: every tool is listed, as the peers do, and may be called without asking.
fn tectum_config(servers: usize, command: &[OsString]) -> String {
    let mut text = "[tools]\nnative = false\n\n[federation]\nread = []\nexposure = \"all\"\n".to_owned();
    for number in 0..servers {
        let _ = write!(text, "\n[servers.s{number}]\ncommand = {}\npermission = \"allow\"\n", list(command));
    }
    text
}

fn rust_proxy_config(port: &str, servers: usize, command: &[OsString]) -> String {
    let mut text = format!(
        "[proxy]\nname = \"bench\"\nseparator = \"_\"\n\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n\n\
         [observability]\nlog_level = \"error\"\n"
    );
    let (program, args) = (list(&command[..1]), list(&command[1..]));
    let program = program.trim_matches(['[', ']']);
    for number in 0..servers {
        let _ = write!(
            text,
            "\n[[backends]]\nname = \"s{number}\"\ntransport = \"stdio\"\ncommand = {program}\nargs = {args}\n"
        );
    }
    text
}

/// A list of strings in JSON, which is also valid TOML.
fn list(words: &[OsString]) -> String {
    json!(words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>()).to_string()
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn kept(place: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let path = place.join(name);
    fs::write(&path, text).with_context(|| format!("could not write `{}`", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_have_the_names_their_gateway_gives_them() {
        let call = |front, servers| {
            let mut line = Vec::new();
            Setting { front, servers }.echo().write(1, &mut line);
            let message: serde_json::Value = serde_json::from_slice(&line).expect("JSON");
            message["params"]["name"].as_str().map(str::to_owned)
        };
        assert_eq!(call(Front::Tectum, 64).as_deref(), Some("s63__echo"));
        assert_eq!(call(Front::RustProxy, 1).as_deref(), Some("s0_echo"));
        assert_eq!(call(Front::FastMcp, 1).as_deref(), Some("echo"));
    }

    #[test]
    fn every_server_has_its_own_table() {
        let command = words(&["/a \"b\"/c", "--x"]);
        let text = tectum_config(3, &command);
        assert_eq!(text.matches(r#"command = ["/a \"b\"/c","--x"]"#).count(), 3);
        assert!(text.contains("[servers.s2]"), "{text}");
        let text = rust_proxy_config("81", 2, &command);
        assert_eq!(text.matches(r#"command = "/a \"b\"/c""#).count(), 2, "{text}");
    }
}
