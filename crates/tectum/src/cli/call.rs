//! `tectum call TOOL key=value…`: one call, through the same gate as an agent's.

use clap::Args;
use serde_json::{Value, json};
use tectum::{Call, FaultKind, Outcome, Payload, SessionId, Tectum, servers::Household};
use tokio::runtime::Builder;

use super::{
    Shared,
    as_client::{self, AsClient},
    failure::{Failure, fault_json},
    given, held,
    screen::{Screen, harmless},
    stop,
};

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
    /// All arguments at once, as a JSON object, @file or @-
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// Show what this client's model would be given: claude, codex, opencode, gemini or qwen
    #[arg(long = "as", value_name = "CLIENT", value_parser = as_client::parse)]
    client: Option<AsClient>,
}

impl CallTool {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        // One call needs one thread; tools that block do so on the spot.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(async {
            let household = shared.household(screen).await?;
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
        let call = Call { room, ..self.prepare(&household.house)? };
        stop::on_signal_elsewhere(call.cancel.clone());
        Ok(household.house.call(call).await)
    }

    fn prepare(&self, house: &Tectum) -> Result<Call, Failure> {
        let snapshot = house.registry().snapshot();
        let (info, _) = given::tool(&snapshot, &self.tool)?;
        let args = given::raw(given::arguments(info, &self.pairs, self.args.as_deref())?)?;
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
            match failed(&payload) {
                // The server's tool says itself what went wrong; it is printed as any result.
                true => Err(Failure::Silent(FaultKind::Upstream.exit_code())),
                false => Ok(()),
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

/// What a person reads: of a server's result its texts, and all of it where it has other parts.
fn text(payload: &Payload) -> String {
    let raw = match payload {
        Payload::Native(reply) => return reply.text.clone(),
        Payload::Raw(raw) => raw.get(),
    };
    let result: Value = serde_json::from_str(raw).unwrap_or_default();
    let part = |part: &Value| part["text"].as_str().filter(|_| part["type"] == "text").map(str::to_owned);
    let parts = result["content"].as_array().filter(|parts| !parts.is_empty());
    let texts: Option<Vec<String>> = parts.and_then(|parts| parts.iter().map(part).collect());
    texts.map_or_else(|| raw.to_owned(), |texts| texts.join("\n"))
}

/// True for the result of a server's tool that failed.
fn failed(payload: &Payload) -> bool {
    matches!(payload, Payload::Raw(_)) && structured(payload)["isError"] == true
}

fn structured(payload: &Payload) -> Value {
    let json = match payload {
        Payload::Native(reply) => &reply.structured,
        Payload::Raw(raw) => raw.get(),
    };
    serde_json::from_str(json).unwrap_or_default()
}
