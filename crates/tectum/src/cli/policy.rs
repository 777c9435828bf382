//! `tectum policy test TOOL key=value…`: what would happen to a call, step by step, and why.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use tectum::{
    Call, Config, Fault, FaultKind, SessionId, Tectum,
    config::{Origin, keys},
    core::{Judgement, Prepared, Subject, ToolInfo, gate::Step, security::Reason},
};

use super::{
    Shared,
    failure::Failure,
    given,
    screen::{Colour, Screen},
};

/// Stands for a required argument that was left out; a call is never made with it.
const LEFT_OUT: &str = "\u{2026}";

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Say what would happen to a call, step by step, without making it
    Test(Test),
}

/// Say what would happen to a call, step by step, without making it.
#[derive(Debug, Args)]
#[command(after_help = "\
Arguments are written as for `tectum call`; those that name no path may be left out.

Examples:
  tectum policy test read_file path=src/main.rs
  tectum policy test edit_file path=.env

Exit codes: 0 it would run, 3 it would be refused or a person would be asked.")]
pub(crate) struct Test {
    /// The tool's name
    #[arg(value_name = "TOOL")]
    tool: String,
    /// Its arguments
    #[arg(value_name = "KEY=VALUE", conflicts_with = "args")]
    pairs: Vec<String>,
    /// All arguments at once, as a JSON object, @file or @-
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
}

impl Policy {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let Self::Test(test) = self;
        test.run(shared, screen)
    }
}

impl Test {
    fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let (config, house) = shared.house(screen)?;
        let (call, prepared) = self.prepare(&house)?;
        let gate = house.gate();
        let (judgement, steps) = gate.explain(&call, &prepared);
        let finding = Finding {
            tool: self.tool,
            subject: subject(&prepared),
            judgement,
            advice: advice(&config, &house, &prepared, judgement, &steps),
            steps,
        };
        match screen.json {
            true => screen.print_json(&finding.data())?,
            false => screen.print(&finding.text(screen))?,
        }
        match judgement {
            Judgement::Allow => Ok(()),
            Judgement::Ask | Judgement::Deny => Err(Failure::Silent(FaultKind::Permission.exit_code())),
        }
    }

    /// The call as it would be made. What the decision cannot depend on may be left out; when it
    /// does depend on it, the provider's own complaint stands.
    fn prepare(&self, house: &Tectum) -> Result<(Call, Prepared), Failure> {
        let snapshot = house.registry().snapshot();
        let (info, provider) = given::tool(&snapshot, &self.tool)?;
        let args = given::arguments(info, &self.pairs, self.args.as_deref())?;
        let prepare = |args: Map<String, Value>| -> Result<(Call, Prepared), Fault> {
            let call = Call::new(SessionId::new("cli"), self.tool.as_str(), given::raw(args)?);
            let prepared = provider.prepare(&call)?;
            Ok((call, prepared))
        };
        let complaint = match prepare(args.clone()) {
            Ok(done) => return Ok(done),
            Err(fault) => fault,
        };
        match filled(info, args).map(prepare) {
            Some(Ok(done)) if !depends_on_left_out(&done.1) => Ok(done),
            _ => Err(complaint.into()),
        }
    }
}

/// The arguments with stand-ins for the required ones that are missing, if any are.
fn filled(info: &ToolInfo, mut args: Map<String, Value>) -> Option<Map<String, Value>> {
    let schema = &info.input_schema;
    let required = schema["required"].as_array()?.iter().filter_map(Value::as_str);
    let missing: Vec<&str> = required.filter(|name| !args.contains_key(*name)).collect();
    for name in &missing {
        let value = match schema["properties"][name]["type"].as_str()? {
            "string" => json!(LEFT_OUT),
            "integer" | "number" => json!(1),
            "boolean" => json!(false),
            _ => return None,
        };
        args.insert((*name).to_owned(), value);
    }
    (!missing.is_empty()).then_some(args)
}

fn depends_on_left_out(prepared: &Prepared) -> bool {
    prepared.wants.paths.iter().any(|(path, _)| path.as_str() == LEFT_OUT) || subject(prepared) == LEFT_OUT
}

fn subject(prepared: &Prepared) -> String {
    match &prepared.wants.subject {
        Subject::Path(path) => path.to_string(),
        Subject::Text(text) => text.clone(),
        Subject::None => String::new(),
    }
}

/// A decision and how it came about.
struct Finding {
    tool: String,
    subject: String,
    judgement: Judgement,
    steps: Vec<Step>,
    advice: Option<String>,
}

impl Finding {
    fn text(&self, screen: &Screen) -> String {
        let (word, colour) = match self.judgement {
            Judgement::Allow => ("ALLOW", Colour::Green),
            Judgement::Ask => ("ASK", Colour::Yellow),
            Judgement::Deny => ("DENY", Colour::Red),
        };
        let head = format!("{}  {}  {}", screen.paint(colour, word), self.tool, self.subject);
        let mut text = format!("{}\n", head.trim_end());
        let widest =
            |of: fn(&Step) -> &str| self.steps.iter().map(|step| of(step).chars().count()).max().unwrap_or(0);
        let (stations, findings) = (widest(|step| &step.station), widest(|step| &step.finding));
        for Step { station, finding, passed } in &self.steps {
            let end =
                if *passed { screen.paint(Colour::Dim, "pass") } else { screen.paint(Colour::Red, "stop") };
            text.push_str(&format!("  {station:<stations$}   {finding:<findings$}   {end}\n"));
        }
        if let Some(advice) = &self.advice {
            text.push_str(&format!("  \u{2192} {advice}\n"));
        }
        text
    }

    fn data(&self) -> Value {
        let step =
            |step: &Step| json!({ "station": step.station, "finding": step.finding, "passed": step.passed });
        json!({
            "decision": self.judgement.to_string(),
            "tool": self.tool,
            "subject": self.subject,
            "steps": self.steps.iter().map(step).collect::<Vec<_>>(),
            "advice": self.advice,
        })
    }
}

/// What a person could change to get another answer.
fn advice(
    config: &Config,
    house: &Tectum,
    prepared: &Prepared,
    judgement: Judgement,
    steps: &[Step],
) -> Option<String> {
    if let Some(step) = steps.iter().find(|step| !step.passed && step.station.starts_with("permission")) {
        return Some(match rule_of(config, &step.finding) {
            Some(origin) => format!("to change: edit {}", spoken(&origin)),
            None => "to change: edit that setting".into(),
        });
    }
    let gate = house.gate();
    let denied = prepared.wants.paths.iter().find_map(|(path, access)| {
        let admitted = gate.allowlist().admit(path, *access);
        admitted.and_then(|candidate| candidate.resolve()).err()
    });
    if let Some(denied) = denied {
        return Some(match &denied.reason {
            Reason::Protected { rule } => protected(config, &keys::DENY, rule),
            Reason::ReadOnly { rule } => protected(config, &keys::READ_ONLY, rule),
            Reason::Outside | Reason::Traversal => {
                "to change: add the directory to roots in [workspace] of tectum.toml".into()
            }
            Reason::Link => {
                "to change: set symlinks = \"inside\" in [workspace], or name the file itself".into()
            }
            Reason::Escapes => {
                "to change: add the directory the link leads to to roots in [workspace]".into()
            }
            Reason::HardLinked => {
                "to change: set break_hard_links = true in [workspace], or edit a copy".into()
            }
            _ => "to change: write the path differently".into(),
        });
    }
    let asks = steps.iter().find(|_| judgement == Judgement::Ask)?;
    Some(match rule_of(config, &asks.finding) {
        Some(origin) => format!("a person would be asked; to change: edit {}", spoken(&origin)),
        None => {
            "a person would be asked; to change: add an allow rule in [permissions] of tectum.toml".into()
        }
    })
}

fn protected(config: &Config, key: &keys::Key, pattern: &str) -> String {
    match config.merged().list(key).iter().find(|item| item.text == pattern) {
        Some(item) => {
            format!("`{pattern}` stands in {}; to change: edit it there, or use another name", item.origin)
        }
        None => format!("`{pattern}` is built in; use another name"),
    }
}

/// Where the rule that a finding names was written.
fn rule_of(config: &Config, finding: &str) -> Option<Origin> {
    let merged = config.merged();
    let items = [&keys::FORBID, &keys::ASK, &keys::ALLOW].into_iter().flat_map(|key| merged.list(key));
    let named = |text: &str, origin: &Origin| finding.contains(&format!("`{text}` ({origin})"));
    let rule = items.filter(|item| named(&item.text, &item.origin)).map(|item| &item.origin).next();
    let default = || merged.get(&keys::DEFAULT).map(|setting| &setting.origin);
    rule.or_else(|| default().filter(|_| finding.starts_with("default "))).cloned()
}

fn spoken(origin: &Origin) -> String {
    match origin {
        Origin::File { name, line, .. } => format!("line {line} of {name}"),
        other => other.to_string(),
    }
}
