//! `tectum policy test TOOL key=value…`: what would happen to a call, step by step, and why.

use std::path::Path;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use tectum::{
    Call, Config, Fault, FaultKind, SessionId, Tectum,
    config::{Origin, keys},
    core::{
        Judgement, Prepared, Subject, World,
        gate::PolicyStep,
        security::{Reason, built_in::opened_by},
    },
    peers::spec::ServerSpec,
    servers,
};
use tokio::runtime::Builder;

use super::{
    failure::Failure,
    given::{self, LEFT_OUT, filled},
    held,
    options::Shared,
    screen::{Colour, Screen, harmless},
    servers::status,
};

/// The tool that calls another one; the rules are about that one.
const CALL_TOOL: &str = "call_tool";

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Say what would happen to a call, step by step, without making it
    Test(Test),
}

/// Show what would happen to a call, step by step, without making it.
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
    /// All arguments as one JSON object, @file or @- (standard input)
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
        let config = shared.load(Vec::new(), screen)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        // What servers offer is known from their last run; none is started to be judged.
        let finding = runtime.block_on(async {
            let household = shared.household(screen).await?;
            let finding = self.finding(&config, &household.house, shared);
            household.stop().await;
            finding
        })?;
        screen.answer(&finding.data(), &finding.text(screen))?;
        match finding.judgement {
            Judgement::Allow => Ok(()),
            Judgement::Ask | Judgement::Deny => Err(Failure::Silent(FaultKind::Permission.exit_code())),
        }
    }

    fn finding(self, config: &Config, house: &Tectum, shared: &Shared) -> Result<Finding, Failure> {
        let test = self.inside(house)?;
        if house.registry().snapshot().tool(&test.tool).is_none() {
            if let Some(fault) = held::why_tool(shared, config, &test.tool) {
                return Err(fault.into());
            }
            if let Some(spec) = held::spec_of(shared, config, &test.tool).filter(|spec| !met(config, spec)) {
                return Ok(unmet(config, test.tool, &spec));
            }
        }
        let (call, prepared) = test.prepare(house)?;
        let (judgement, steps) = house.gate().explain(&call, &prepared);
        Ok(Finding {
            tool: test.tool,
            subject: subject(&prepared),
            judgement,
            advice: advice(config, house, &prepared, judgement, &steps),
            steps,
        })
    }

    /// The same test of the tool inside, where this one only calls another.
    fn inside(self, house: &Tectum) -> Result<Self, Failure> {
        let snapshot = house.registry().snapshot();
        if self.tool != CALL_TOOL {
            return Ok(self);
        }
        let tool = given::tool(&snapshot, CALL_TOOL)?;
        let args = given::arguments(tool, &self.pairs, self.args.as_deref())?;
        let Some(tool) = args.get("name").and_then(Value::as_str).map(str::to_owned) else {
            let fault = Fault::invalid("call_tool is judged by the tool it calls, and no tool is named");
            return Err(fault.hint("add name=TOOL, or test that tool itself").into());
        };
        let inner = args.get("arguments").cloned().unwrap_or_else(|| json!({}));
        Ok(Self { tool, pairs: Vec::new(), args: Some(inner.to_string()) })
    }

    /// The call as it would be made. What the decision cannot depend on may be left out; when it
    /// does depend on it, the provider's own complaint stands.
    fn prepare(&self, house: &Tectum) -> Result<(Call, Prepared), Failure> {
        let snapshot = house.registry().snapshot();
        let (info, provider) = given::tool(&snapshot, &self.tool)?;
        let args = given::arguments((info, provider), &self.pairs, self.args.as_deref())?;
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

/// True if anybody knows what a server offers.
fn met(config: &Config, spec: &ServerSpec) -> bool {
    servers::directory(config).is_some_and(|traces| status::is_known(&traces, spec.name.as_str()))
}

/// The judgement of the rules about a tool of a server that was never met: its name is all they look
/// at.
fn unmet(config: &Config, tool: String, spec: &ServerSpec) -> Finding {
    let (judgement, why) = config.permissions.judge(&tool, World::Peer(spec.permission));
    let find = format!(
        "server `{}` has not been started yet, so it is not known whether it has this tool",
        spec.name
    );
    let steps = vec![
        PolicyStep { station: "find".into(), finding: find, passed: true },
        PolicyStep { station: "permission".into(), finding: why, passed: judgement != Judgement::Deny },
    ];
    let advice = advice_on_rules(config, judgement, &steps);
    Finding { tool, subject: String::new(), judgement, steps, advice }
}

fn depends_on_left_out(prepared: &Prepared) -> bool {
    prepared.wants.paths.iter().any(|(path, _)| path.as_str() == LEFT_OUT) || subject(prepared) == LEFT_OUT
}

fn subject(prepared: &Prepared) -> String {
    match &prepared.wants.subject {
        Subject::Path(path) => path.to_string(),
        Subject::Text(text) => text.clone(),
        Subject::Parts(parts) => parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("; "),
        Subject::None => String::new(),
    }
}

/// A decision and how it came about.
struct Finding {
    tool: String,
    subject: String,
    judgement: Judgement,
    steps: Vec<PolicyStep>,
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
        let widest = |of: fn(&PolicyStep) -> &str| {
            self.steps.iter().map(|step| of(step).chars().count()).max().unwrap_or(0)
        };
        let (stations, findings) = (widest(|step| &step.station), widest(|step| &step.finding));
        for PolicyStep { station, finding, passed } in &self.steps {
            let end =
                if *passed { screen.paint(Colour::Dim, "pass") } else { screen.paint(Colour::Red, "stop") };
            let finding = harmless(finding);
            text.push_str(&format!("  {station:<stations$}   {finding:<findings$}   {end}\n"));
        }
        if let Some(advice) = &self.advice {
            text.push_str(&format!("  \u{2192} {}\n", harmless(advice)));
        }
        text
    }

    fn data(&self) -> Value {
        let step = |step: &PolicyStep| json!({ "station": step.station, "finding": step.finding, "passed": step.passed });
        json!({
            "decision": self.judgement.to_string(),
            "tool": self.tool,
            "subject": self.subject,
            "steps": self.steps.iter().map(step).collect::<Vec<_>>(),
            "advice": self.advice,
        })
    }
}

/// The change that would give another answer.
fn advice(
    config: &Config,
    house: &Tectum,
    prepared: &Prepared,
    judgement: Judgement,
    steps: &[PolicyStep],
) -> Option<String> {
    if steps.iter().any(|step| !step.passed && step.station.starts_with("permission")) {
        return advice_on_rules(config, judgement, steps);
    }
    let gate = house.gate();
    let denied = prepared.wants.paths.iter().find_map(|(path, access)| {
        let admitted = gate.allowlist().admit(path, *access);
        admitted.and_then(|candidate| candidate.resolve()).err()
    });
    if let Some(denied) = denied {
        return Some(match &denied.reason {
            Reason::Protected { rule } => match opened_by(rule, Path::new(denied.path.as_str())) {
                Some(name) => {
                    format!("to change: add open = [{name:?}] to [workspace] of ~/.config/tectum/tectum.toml")
                }
                None => protected(config, &keys::DENY, rule),
            },
            Reason::ReadOnly { rule } => protected(config, &keys::READ_ONLY, rule),
            Reason::Outside | Reason::Traversal => {
                "to change: add the directory to roots in [workspace] of ~/.config/tectum/tectum.toml".into()
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
    advice_on_rules(config, judgement, steps)
}

/// The same where only the rules had a say.
fn advice_on_rules(config: &Config, judgement: Judgement, steps: &[PolicyStep]) -> Option<String> {
    let mut rules = steps.iter().filter(|step| step.station.starts_with("permission"));
    if rules.clone().any(|step| step.finding.contains("`tectum trust`")) {
        let own = "or add a rule to [permissions] of ~/.config/tectum/tectum.toml";
        return Some(format!("to change: approve the project's rules with `tectum trust`, {own}"));
    }
    if let Some(step) = rules.clone().find(|step| !step.passed) {
        return Some(match rule_of(config, &step.finding) {
            Some(origin) => format!("to change: edit {}", spoken(&origin)),
            None => "to change: edit that setting".into(),
        });
    }
    let asks = rules.find(|_| judgement == Judgement::Ask)?;
    Some(match rule_of(config, &asks.finding) {
        Some(origin) => format!("a person would be asked; to change: edit {}", spoken(&origin)),
        None => {
            "a person would be asked; to change: add an allow rule in [permissions] of ~/.config/tectum/tectum.toml"
                .into()
        }
    })
}

fn protected(config: &Config, key: &keys::Key, pattern: &str) -> String {
    match config.merged().list(key).iter().find(|item| item.text == pattern) {
        Some(item) => {
            format!("`{pattern}` is set in {}; to change: edit it there, or use another name", item.origin)
        }
        None => format!("`{pattern}` is built in; use another name"),
    }
}

/// The place of the rule that a finding names.
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
