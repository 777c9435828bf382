//! The servers whose tools are searched: packages of npm and the Python index in pinned versions. Each is
//! installed and asked for its list once; the list is kept, and nothing of it is in this repository.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::data::Data;
use crate::lineup::Launch;
use crate::peers::Peers;
use crate::session::Session;
use crate::wire::Request;

/// The number of definitions that are searched: the first ones, in the order of the table.
const DEFINITIONS: usize = 300;

/// A server of a registry.
pub(crate) struct RegistryServer {
    /// The name it is configured under.
    pub(crate) name: &'static str,
    registry: Registry,
    package: &'static str,
    version: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    /// Variables without which it does not start. It is asked for its list only, so any value will do.
    env: &'static [&'static str],
}

enum Registry {
    Npm,
    Python,
}

/// The list of one server.
pub(crate) struct ToolList {
    pub(crate) server: &'static str,
    /// A file with an array of definitions.
    pub(crate) file: PathBuf,
    /// The number of definitions that are taken from it.
    pub(crate) taken: usize,
}

const fn npm(
    name: &'static str,
    package: &'static str,
    version: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    env: &'static [&'static str],
) -> RegistryServer {
    RegistryServer { name, registry: Registry::Npm, package, version, program, args, env }
}

const fn python(name: &'static str, package: &'static str, version: &'static str) -> RegistryServer {
    RegistryServer {
        name,
        registry: Registry::Python,
        package,
        version,
        program: package,
        args: &[],
        env: &[],
    }
}

#[rustfmt::skip]
pub(crate) const SERVERS: [RegistryServer; 24] = [
    npm("filesystem", "@modelcontextprotocol/server-filesystem", "2026.8.31", "mcp-server-filesystem", &["/tmp"], &[]),
    npm("memory", "@modelcontextprotocol/server-memory", "2026.8.31", "mcp-server-memory", &[], &[]),
    npm("sequential-thinking", "@modelcontextprotocol/server-sequential-thinking", "2026.8.31", "mcp-server-sequential-thinking", &[], &[]),
    npm("github", "@modelcontextprotocol/server-github", "2025.4.8", "mcp-server-github", &[], &[]),
    npm("slack", "@modelcontextprotocol/server-slack", "2025.4.25", "mcp-server-slack", &[], &["SLACK_BOT_TOKEN=x", "SLACK_TEAM_ID=x"]),
    npm("postgres", "@modelcontextprotocol/server-postgres", "0.6.2", "mcp-server-postgres", &["postgresql://localhost/x"], &[]),
    npm("google-maps", "@modelcontextprotocol/server-google-maps", "0.6.2", "mcp-server-google-maps", &[], &["GOOGLE_MAPS_API_KEY=x"]),
    python("git", "mcp-server-git", "2026.10.19"),
    python("time", "mcp-server-time", "2026.10.19"),
    python("fetch", "mcp-server-fetch", "2026.10.24"),
    npm("playwright", "@playwright/mcp", "0.0.83", "playwright-mcp", &[], &[]),
    npm("notion", "@notionhq/notion-mcp-server", "2.5.2", "notion-mcp-server", &[], &["NOTION_TOKEN=ntn_x"]),
    npm("context7", "@upstash/context7-mcp", "4.1.1", "context7-mcp", &[], &[]),
    npm("tavily", "tavily-mcp", "0.2.22", "tavily-mcp", &[], &["TAVILY_API_KEY=x"]),
    npm("sentry", "@sentry/mcp-server", "0.36.0", "sentry-mcp", &["--access-token=x"], &[]),
    npm("kubernetes", "mcp-server-kubernetes", "4.1.7", "mcp-server-kubernetes", &[], &[]),
    npm("mongodb", "mongodb-mcp-server", "3.0.4", "mongodb-mcp-server", &["--connectionString", "mongodb://localhost:27017/x"],
        &["MDB_MCP_API_CLIENT_ID=x", "MDB_MCP_API_CLIENT_SECRET=x", "MDB_MCP_TELEMETRY=disabled"]),
    npm("brave-search", "@modelcontextprotocol/server-brave-search", "0.6.2", "mcp-server-brave-search", &[], &["BRAVE_API_KEY=x"]),
    npm("figma", "figma-developer-mcp", "0.13.2", "figma-developer-mcp", &["--stdio", "--figma-api-key=x"], &[]),
    npm("elasticsearch", "@elastic/mcp-server-elasticsearch", "0.3.1", "mcp-server-elasticsearch", &[],
        &["ES_URL=http://localhost:9200", "ES_API_KEY=x"]),
    npm("airtable", "airtable-mcp-server", "1.14.0", "airtable-mcp-server", &[], &["AIRTABLE_API_KEY=pat1.x"]),
    npm("linear", "linear-mcp-server", "0.1.0", "linear-mcp-server", &[], &["LINEAR_API_KEY=x"]),
    npm("discord", "mcp-discord", "1.3.4", "mcp-discord", &[], &["DISCORD_TOKEN=x"]),
    npm("hubspot", "@hubspot/mcp-server", "0.4.0", "mcp-hubspot", &[], &["PRIVATE_APP_ACCESS_TOKEN=pat-x"]),
];

/// The lists of all servers, and a line for each server that is left out since it cannot be installed,
/// started or listed.
pub(crate) fn lists(data: &Data, peers: &Peers, place: &Path) -> Result<(Vec<ToolList>, Vec<String>)> {
    let (mut lists, mut left_out, mut rest) = (Vec::new(), Vec::new(), DEFINITIONS);
    for server in &SERVERS {
        let file = place.join(format!("{}-{}.json", server.name, server.version));
        if !file.exists() {
            match server.ask(data, peers, place) {
                Ok(tools) => fs::write(&file, Value::from(tools).to_string())?,
                Err(error) => {
                    left_out.push(format!("    left out: {}: {error:#}\n", server.package));
                    continue;
                }
            }
        }
        let taken = definitions(&file)?.len().min(rest);
        rest -= taken;
        if taken > 0 {
            lists.push(ToolList { server: server.name, file, taken });
        }
    }
    Ok((lists, left_out))
}

/// The definitions in a file that was kept.
pub(crate) fn definitions(file: &Path) -> Result<Vec<Value>> {
    let text = fs::read(file).with_context(|| format!("could not read `{}`", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("`{}` holds no list; remove it", file.display()))
}

impl RegistryServer {
    fn ask(&self, data: &Data, peers: &Peers, place: &Path) -> Result<Vec<Value>> {
        let program = match self.registry {
            Registry::Npm => peers.npm_program(self.package, self.version, self.program)?,
            Registry::Python => peers.python_program(self.package, self.version)?,
        };
        // Other people's programs get no variable of ours, and a home of their own.
        let mut args: Vec<OsString> = vec!["-i".into(), assigned("HOME", place.as_os_str())];
        args.push(assigned("PATH", &std::env::var_os("PATH").unwrap_or_default()));
        args.extend(self.env.iter().map(OsString::from));
        args.push(program.into());
        args.extend(self.args.iter().map(OsString::from));
        let mut session = Session::spawn(&Launch {
            name: self.name.to_owned(),
            version: None,
            log: data.log(&format!("find-{}", self.name)),
            program: "env".into(),
            args,
            env: Vec::new(),
        })?;
        session.initialize()?;
        listed(&mut session)
    }
}

fn assigned(name: &str, value: &std::ffi::OsStr) -> OsString {
    let mut all = OsString::from(format!("{name}="));
    all.push(value);
    all
}

/// All pages of `tools/list`.
pub(crate) fn listed(session: &mut Session) -> Result<Vec<Value>> {
    let (mut tools, mut params) = (Vec::new(), json!({}));
    loop {
        let mut answer = session.hear(&Request::new("tools/list", &params))?;
        let page = answer["result"]["tools"].take();
        ensure!(page.is_array(), "no list of tools: {answer}");
        tools.extend(page.as_array().into_iter().flatten().cloned());
        match answer["result"]["nextCursor"].take() {
            Value::Null => return Ok(tools),
            cursor => params = json!({ "cursor": cursor }),
        }
    }
}
