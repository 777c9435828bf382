//! `tectum call TOOL key=value…`: one call, through the same gate as an agent's.

use std::io::{self, IsTerminal as _};

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Call, Fault, FaultKind, Outcome, Payload, SessionId,
    core::{Progress as CallProgress, Snapshot, ToolInfo},
    servers::Household,
};
use tokio::runtime::Builder;

use super::{
    as_client::{self, AsClient},
    failure::{Failure, fault_json},
    given, held,
    options::Shared,
    progress::one_line,
    screen::{Colour, Screen, counted, harmless},
    stop,
};

/// Characters of a line about progress.
const MOST_LINE: usize = 160;

/// Call one tool.
#[derive(Debug, Args)]
#[command(after_help = "\
Values are read as the tool's schema asks: numbers, true and false, lists and objects as JSON,
anything else as text. key=@file takes the value from a file, key=@- from standard input, and
key=@@x means the text @x.

Examples:
  tectum call read_file path=src/main.rs
  tectum call edit_file path=notes.md old_string=teh new_string=the
  tectum call write_file path=notes.md content=@draft.md
  tectum call edit_file --help")]
pub(crate) struct CallTool {
    /// The tool's name
    #[arg(value_name = "TOOL")]
    tool: String,
    /// Its arguments
    #[arg(value_name = "KEY=VALUE", conflicts_with = "args")]
    pairs: Vec<String>,
    /// All arguments as one JSON object, @file or @- (standard input)
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// Show what the model in this client receives: claude, codex, opencode, gemini or qwen
    #[arg(long = "as", value_name = "CLIENT", value_parser = as_client::parse)]
    client: Option<AsClient>,
}

impl CallTool {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        // One call needs one thread; tools that block do so on the spot.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(async {
            let config = shared.load(Vec::new(), screen)?;
            let mut household = Household::for_one_call(&config, shared.sources(Vec::new())).await?;
            household.measure_own_calls(&config);
            household.expect_calls();
            let form = self.client.map(|client| (client, client.form(&household)));
            let room = form.map_or(usize::MAX, |(_, form)| form.room());
            let called = self.call(&household, room, shared, screen).await;
            household.stop().await;
            Ok::<_, Failure>((called?, form))
        });
        runtime.shutdown_background();
        match outcome? {
            (outcome, Some((client, form))) => client.tell_call(&form, &outcome, screen),
            (outcome, None) => tell(outcome, screen),
        }
    }

    /// Prints what the tool does and which arguments it takes.
    pub(crate) fn help(&self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let snapshot = runtime.block_on(async {
            let household = shared.household(screen).await?;
            let snapshot = household.house.registry().snapshot();
            household.stop().await;
            Ok::<_, Failure>(snapshot)
        })?;
        let (info, _) = given::tool(&snapshot, &self.tool)?;
        screen.print(&harmless(&given::manual(info)))
    }

    async fn call(
        &self,
        household: &Household,
        room: usize,
        shared: &Shared,
        screen: &Screen,
    ) -> Result<Outcome, Failure> {
        if household.house.registry().snapshot().tool(&self.tool).is_none() {
            // A tool of a server that is held is not there for a reason.
            if let Some(fault) = held::why_tool(shared, &shared.load(Vec::new(), screen)?, &self.tool) {
                return Err(fault.into());
            }
            household.federation.meet(&self.tool).await?;
        }
        self.refuse_server(household).await?;
        let tools = household.house.registry().snapshot();
        let call = Call { room, progress: progress(screen), ..self.prepare(&tools)? };
        stop::on_signal_elsewhere(call.cancel.clone());
        Ok(household.house.call_among(tools, call).await)
    }

    /// Refuses the name of a server in place of a tool, and lists the tools of that server.
    async fn refuse_server(&self, household: &Household) -> Result<(), Failure> {
        let name = self.tool.as_str();
        let house = &household.house;
        let is_server = household.federation.status().contains_key(name);
        if !is_server || house.registry().snapshot().tool(name).is_some() {
            return Ok(());
        }
        household.federation.meet(&format!("{name}__")).await?;
        let snapshot = house.registry().snapshot();
        let its = |info: &&ToolInfo| info.server.as_ref().is_some_and(|tool| *tool.server == *name);
        let tools: Vec<&str> = snapshot.tools().filter(its).map(|info| &*info.name).collect();
        let fault = Fault::not_found(format!("`{name}` is a server, not a tool"));
        Err(match tools.first() {
            None => fault.hint("it offers no tools"),
            Some(first) => fault.hint(format!(
                "its tools: {}; `tectum call {first} --help` shows its arguments",
                tools.join(", ")
            )),
        }
        .into())
    }

    fn prepare(&self, tools: &Snapshot) -> Result<Call, Failure> {
        let tool = given::tool(tools, &self.tool)?;
        let args = given::raw(given::arguments(tool, &self.pairs, self.args.as_deref())?)?;
        Ok(Call::new(SessionId::new("cli"), self.tool.as_str(), args))
    }
}

fn tell(outcome: Outcome, screen: &Screen) -> Result<(), Failure> {
    if screen.json {
        screen.print_json(&data(&outcome))?;
    }
    match outcome.result {
        Ok(payload) => {
            if !screen.json {
                screen.print_foreign(&text(&payload))?;
            }
            if failed(&payload) {
                // The server's tool says itself what went wrong; it is printed as any result.
                Err(Failure::Silent(FaultKind::Upstream.exit_code()))
            } else {
                Ok(())
            }
        }
        Err(fault) if screen.json => Err(Failure::Silent(fault.kind.exit_code())),
        Err(fault) => Err(fault.into()),
    }
}

fn data(outcome: &Outcome) -> Value {
    let (text, structured, fault) = match &outcome.result {
        Ok(payload) => (text(payload), structured(payload), Value::Null),
        Err(fault) => (fault.text(), Value::Null, fault_json(fault)),
    };
    json!({
        "ok": outcome.result.as_ref().is_ok_and(|payload| !failed(payload)),
        "text": text,
        "structured": structured,
        "fault": fault,
        "call_id": outcome.call.to_string(),
        "took_ms": outcome.took.as_secs_f64() * 1000.0,
    })
}

/// Shows on a terminal how far a tool has come.
fn progress(screen: &Screen) -> CallProgress {
    if screen.json || screen.quiet || !io::stderr().is_terminal() {
        return CallProgress::none();
    }
    let screen = *screen;
    CallProgress::to(move |note| {
        let total = note.total.map(|total| format!("/{total}")).unwrap_or_default();
        let line = one_line(&format!("{}{total} {}", note.done, note.message), MOST_LINE);
        screen.tell(&screen.paint_error(Colour::Dim, &format!("  {line}")));
    })
}

/// The text for people: of a server's result its texts, and a line about each other part.
fn text(payload: &Payload) -> String {
    let raw = match payload {
        Payload::Native(reply) => return reply.text.clone(),
        Payload::Peer(reply) => reply.json.get(),
    };
    let result: Value = serde_json::from_str(raw).unwrap_or_default();
    match result["content"].as_array().filter(|parts| !parts.is_empty()) {
        Some(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
        None => raw.to_owned(),
    }
}

/// One part of a server's result: text as it is, anything else in a few words.
fn part(part: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
    // Four letters of base64 stand for three bytes.
    let size = |data: &Value| counted(data.as_str().map_or(0, |data| data.len() as u64 / 4 * 3), "byte");
    let kind = word(&part["type"]);
    let resource = &part["resource"];
    let about = match kind.as_str() {
        "text" => return part["text"].as_str().unwrap_or_default().to_owned(),
        "resource" if resource["text"].is_string() => return word(&resource["text"]),
        "image" | "audio" => format!("{}, {}", word(&part["mimeType"]), size(&part["data"])),
        "resource" => format!("{}, {}", word(&resource["uri"]), size(&resource["blob"])),
        "resource_link" => word(&part["uri"]),
        _ => "of an unknown type".to_owned(),
    };
    format!("[{kind}: {about}; --json prints all of it]")
}

/// True for the result of a server's tool that failed.
fn failed(payload: &Payload) -> bool {
    matches!(payload, Payload::Peer(reply) if reply.failed)
}

fn structured(payload: &Payload) -> Value {
    let json = match payload {
        Payload::Native(reply) => &reply.structured,
        Payload::Peer(reply) => reply.json.get(),
    };
    serde_json::from_str(json).unwrap_or_default()
}
