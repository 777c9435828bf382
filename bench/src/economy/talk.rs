//! One conversation: what one server gives a model for one task, as texts to count.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use regex::Regex;
use serde_json::{Map, Value, json};

use super::serena;
use super::server::EconomyServer;
use super::tasks::{Call, Task};
use crate::lineup::Launch;
use crate::session::Session;
use crate::wire::Request;

/// A client that gives its model every definition of the list, and the text of each result.
const CLIENT: &str = "opencode";

pub(crate) struct Talk {
    pub(crate) version: String,
    /// The texts before the first call: instructions, the list, a manual that the model must read.
    pub(crate) opening: String,
    pub(crate) replies: Vec<String>,
}

struct Conversation<'a> {
    server: EconomyServer,
    root: &'a Path,
    session: Session,
    replies: Vec<String>,
}

pub(crate) fn hold(server: EconomyServer, launch: &Launch, root: &Path, task: &Task) -> Result<Talk> {
    let mut session = Session::spawn(launch)?;
    let greeting = session.greet(&Request::initialize_as(CLIENT))?;
    let instructions = greeting["instructions"].as_str().unwrap_or_default();
    let mut opening = format!("{instructions}\n{}", list(&mut session)?);
    let own = greeting["serverInfo"]["version"].as_str().unwrap_or("unknown");
    let version = launch.version.unwrap_or(own).to_owned();
    let mut conversation = Conversation { server, root, session, replies: Vec::new() };
    let calls = task.calls(server.name())?;
    let mut id = String::new();
    if server == EconomyServer::Serena {
        id = conversation.open_serena(calls)?;
        opening.extend(conversation.replies.drain(..));
    }
    for call in calls {
        conversation.make(call, &id).with_context(|| format!("`{}`", task.name))?;
    }
    task.judge(&conversation.replies)?;
    Ok(Talk { version, opening, replies: conversation.replies })
}

/// The part of a list that clients show a model: name, description and arguments of each tool.
fn list(session: &mut Session) -> Result<String> {
    let (mut shown, mut params) = (Vec::new(), json!({}));
    loop {
        let page = session.hear(&Request::new("tools/list", &params))?;
        let tools = page["result"]["tools"].as_array().context("the list has tools")?;
        shown.extend(tools.iter().map(|tool| {
            json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]})
        }));
        match page["result"]["nextCursor"].as_str() {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return Ok(serde_json::to_string(&shown)?),
        }
    }
}

impl Conversation<'_> {
    /// Reads the manual that the server's instructions require, and the part of its reference that
    /// these calls need. Returns the id that every later call must contain.
    fn open_serena(&mut self, calls: &[Call]) -> Result<String> {
        self.ask("initial_instructions", json!({}), false)?;
        let manual = self.replies.last().map(String::as_str).unwrap_or_default();
        let id = Regex::new("session id is `([^`]+)`")?;
        let id = id.captures(manual).context("the manual tells no session")?[1].to_owned();
        let code = serena::reference(calls.iter().map(Call::tool))?;
        self.ask("serena_repl", json!({"session": id, "code": code}), false)?;
        Ok(id)
    }

    fn make(&mut self, call: &Call, id: &str) -> Result<()> {
        let arguments = call.arguments(&self.replies)?;
        match self.server {
            EconomyServer::Tectum => self.ask(call.tool(), arguments.into(), call.fails()),
            EconomyServer::NodeFilesystem | EconomyServer::RustFilesystem => {
                self.ask(call.tool(), self.absolute(arguments), call.fails())
            }
            EconomyServer::Serena => {
                let code = serena::spelled(call.tool(), &arguments)?;
                self.ask("serena_repl", json!({"session": id, "code": code}), call.fails())
            }
        }
    }

    /// Makes paths absolute, since these servers take no others.
    fn absolute(&self, mut arguments: Map<String, Value>) -> Value {
        let whole = |path: &Value| {
            let relative = path.as_str().unwrap_or_default();
            Value::from(
                self.root.join(relative.trim_start_matches('.')).to_string_lossy().trim_end_matches('/'),
            )
        };
        for (name, value) in &mut arguments {
            match name.as_str() {
                "path" => *value = whole(value),
                "paths" => *value = value.as_array().into_iter().flatten().map(whole).collect(),
                _ => {}
            }
        }
        arguments.into()
    }

    fn ask(&mut self, tool: &str, arguments: Value, fails: bool) -> Result<()> {
        let answer = self.session.hear(&Request::tool(tool, arguments, ""))?;
        let result = &answer["result"];
        let parts = result["content"].as_array().with_context(|| format!("{tool} answered {answer}"))?;
        let text: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        let text = text.join("\n");
        let failed = result["isError"] == true;
        // Serena returns some of its failures as plain text.
        let right = if fails { failed || self.server == EconomyServer::Serena } else { !failed };
        ensure!(right, "{tool}: {text}");
        self.replies.push(text);
        Ok(())
    }
}
