//! Approval: what a call pays that needs none, how soon a call runs that was agreed to, and what questions
//! take that wait.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tectum_approval::{Answer, Desk};
use tectum_core::{
    Call, Done, Effect, Fault, Gate, NativeReply, Payload, Prepared, Provider, Rules, Running, SessionId,
    Snapshot, Subject, Tectum, ToolInfo, ToolRole, Wants, World, security::Allowlist,
};

use crate::{load::resident_mb, report, stats::median};

/// Questions that wait at once.
const PENDING: usize = 10_000;
/// Calls whose answer is timed.
const ANSWERED: usize = 2_000;
/// Calls that are counted, beyond as many that are not.
const COUNTED: usize = 2_000;

/// What one run is to do.
pub(crate) enum ApprovalPlan {
    /// Measure everything.
    All,
    /// Make this many calls that need no approval, with a desk or without: what is counted.
    Calls(usize, bool),
}

/// Two tools that say when they ran: one asks, one does not.
struct Tools;

impl Provider for Tools {
    fn tools(&self) -> Arc<[ToolInfo]> {
        ["asks", "runs"].map(tool).into()
    }

    fn prepare(&self, call: &Call) -> Result<Prepared, Fault> {
        let world = world(&call.tool);
        let work = |_| -> Running {
            Box::pin(async {
                let text = format!("{:?}", Instant::now());
                Ok(Done::new(Payload::Native(NativeReply { text, structured: "{}".into() })))
            })
        };
        Ok(Prepared {
            wants: Wants { subject: Subject::Text(call.args.get().to_owned()), paths: Vec::new() },
            effect: Effect::Read,
            world,
            deadline: Duration::from_secs(600),
            max_output: usize::MAX,
            work: Box::new(work),
        })
    }
}

fn world(tool: &str) -> World {
    if tool == "asks" { World::Open } else { World::Project }
}

fn tool(name: &str) -> ToolInfo {
    ToolInfo {
        name: name.into(),
        title: String::new(),
        description: "A tool of the measurement.".into(),
        input_schema: Arc::new(serde_json::json!({"type": "object"})),
        output_schema: None,
        effect: Effect::Read,
        world: world(name),
        idempotent: true,
        primary: "text".into(),
        role: ToolRole::Usual,
        server: None,
        listed: true,
        observed: true,
    }
}

fn house() -> Result<Tectum> {
    let allowlist = Allowlist::builder().base(std::env::temp_dir()).build()?;
    Ok(Tectum::new(Snapshot::of(&[Arc::new(Tools)]), Gate::new(Rules::default(), Arc::new(allowlist))))
}

fn call(tool: &str, number: usize) -> Call {
    // About what an edit of a few lines brings along.
    let args = format!(r#"{{"number":{number},"text":"{}"}}"#, "x".repeat(400));
    Call::new(
        SessionId::new("bench"),
        tool,
        serde_json::value::RawValue::from_string(args).unwrap_or_default(),
    )
}

/// Measures and prints.
pub(crate) fn run(plan: &ApprovalPlan) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match plan {
        ApprovalPlan::Calls(count, desk) => runtime.block_on(calls(*count, *desk)),
        ApprovalPlan::All => {
            let ratio = instructions(true)? / instructions(false)?;
            report::say(&format!(
                "instructions of a call without approval, desk ÷ none (aim: 1.005): {ratio:.4}\n"
            ))?;
            runtime.block_on(pending())?;
            runtime.block_on(answered())
        }
    }
}

async fn calls(count: usize, with_desk: bool) -> Result<()> {
    let house = house()?;
    let _surface = with_desk.then(|| Desk::of(&house).attach());
    for number in 0..count {
        ensure!(house.call(call("runs", number)).await.result.is_ok(), "a call failed");
    }
    Ok(())
}

/// Instructions of one call, counted by callgrind: twice as many calls less as many.
fn instructions(with_desk: bool) -> Result<f64> {
    let count = |calls: usize| -> Result<f64> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(std::env::current_exe()?);
        command.args(["approval", "--calls", &calls.to_string()]);
        if with_desk {
            command.arg("--desk");
        }
        let ran = command.stdin(Stdio::null()).output().context("valgrind is needed")?;
        let said = String::from_utf8_lossy(&ran.stderr);
        let line =
            said.lines().find(|line| line.contains("Collected :")).context("no count of valgrind's")?;
        Ok(line.rsplit(':').next().unwrap_or_default().trim().parse()?)
    };
    Ok((count(2 * COUNTED)? - count(COUNTED)?) / COUNTED as f64)
}

async fn pending() -> Result<()> {
    let house = house()?;
    let desk = Desk::of(&house);
    let surface = desk.attach();
    let before = resident_mb(std::process::id())?;
    let calls: Vec<_> = (0..PENDING).map(|number| tokio::spawn(house.call(call("asks", number)))).collect();
    while desk.questions().len() < PENDING {
        tokio::task::yield_now().await;
    }
    let grown = resident_mb(std::process::id())? - before;
    report::say(&format!("memory of {PENDING} questions that wait (aim: 20): {grown:.1} MB\n"))?;
    drop(surface);
    for call in calls {
        ensure!(call.await?.result.is_err(), "nobody agreed");
    }
    Ok(())
}

async fn answered() -> Result<()> {
    let house = house()?;
    let desk = Desk::of(&house);
    let _surface = desk.attach();
    let mut took = Vec::new();
    for number in 0..ANSWERED {
        let running = tokio::spawn(house.call(call("asks", number)));
        let question = loop {
            match desk.questions().pop() {
                Some(question) => break question,
                None => tokio::task::yield_now().await,
            }
        };
        let began = Instant::now();
        desk.answer(&question.id, Answer::yes(), "bench").map_err(|fault| anyhow::anyhow!("{fault}"))?;
        ensure!(running.await?.result.is_ok(), "it was agreed to");
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let p50 = median(&took).context("nothing was timed")?;
    report::say(&format!("from the answer to the end of the call, p50 (aim: 5): {p50:.3} ms\n"))
}
