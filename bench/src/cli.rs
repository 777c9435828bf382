//! The command line, parsed into a plan once; nothing else reads arguments.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::cases::{Case, RunPlan};
use crate::lineup::Server;
use crate::observe::watcher::How;
use crate::record::View;
use crate::{approval, code, economy, fetch, find, gateway, journal, observe, shell, turns};

pub(crate) const HELP: &str = "\
tectum-bench [run] [--tectum PATH] [--before PATH] [--case NAME]... [--server NAME]... [--rounds N]
             [--slice-ms MS] [--out DIR] [--data DIR] [--one-cpu]
    Measure every case, or those named (a prefix is enough), visiting the servers in turn.
    Without --tectum the peers and the floor run alone. --before sets another build beside it, to
    see what a change costs. --one-cpu pins everything to one CPU.
tectum-bench code [--tectum PATH] [--case NAME]... [--rounds N] [--out DIR] [--data DIR]
             [--corpora DIR]
    The same for code: outlines, usages, the index of a project, and how often they are right.
tectum-bench gateway [--tectum PATH] [--case NAME]... [--server NAME]... [--rounds N]
             [--slice-ms MS] [--out DIR] [--data DIR] [--all-cpus | --one-cpu]
    The same for gateways before stdio servers; on all CPUs and then on one, unless told.
tectum-bench turns [--tectum PATH] [--case NAME]... [--rounds N] [--out DIR] [--data DIR]
    Calls that run together, a call inside the process, and the files that a model knows.
tectum-bench observe --tectum PATH [--server NAME]... [--rounds N] [--every-ms MS] [--slice-ms MS]
             [--out DIR] [--data DIR] [--one-cpu]
    What copies for observers cost a call: with none wanted, none there, one, eight, and
    ten thousand. --server NAME leaves out the others but `tectum-off`.
tectum-bench find --tectum PATH [--data DIR]
    How often find_tools finds the tool for a task among 300 of well-known servers, and the cost in
    tokens. The first run installs the servers.
tectum-bench fetch --tectum PATH [--data DIR]
    What fetch_url of a page of 200 KB on loopback costs over an HTTP client and the extractor alone.
tectum-bench shell --tectum PATH [--rounds N] [--slice-ms MS] [--data DIR]
    What run_shell costs beside a bare loop that starts shells, and the memory of long output.
tectum-bench journal --tectum PATH [--entries N] [--data DIR]
    A record of a million calls: disk, index, search, list, and the replay of a session.
tectum-bench approval [--calls N [--desk]]
    What approval costs a call that needs none, how soon a call runs that was agreed to, and the memory
    of ten thousand questions. --calls makes only calls, for valgrind.
tectum-bench economy [--tectum PATH] [--server NAME]... [--out DIR] [--data DIR]
    How many tokens 25 tasks of an agent cost: the list, and the replies to the calls of each.
tectum-bench report DIR
    Print the Markdown tables of results kept earlier.
tectum-bench floor [--root DIR] [--tools N] [--port N] [-- COMMAND...]
    Serve the floor: the least a correct MCP server can do. With a port over HTTP, and with a
    command as a gateway before that server.
";

pub(crate) enum Command {
    Run(RunPlan),
    Code(code::CodePlan),
    Report(PathBuf),
    Gateway(gateway::GatewayPlan),
    Turns(turns::TurnsPlan),
    Observe(observe::ObservePlan),
    Find(find::FindPlan),
    Fetch(fetch::FetchPlan),
    Shell(shell::ShellPlan),
    Journal(journal::JournalPlan),
    Approval(approval::ApprovalPlan),
    /// A server for `find`: the file with its definitions, and the number it lists.
    Registry(PathBuf, usize),
    Economy(economy::EconomyPlan),
    /// An observer for `observe`, and the file it writes a byte to.
    Watcher(How, PathBuf),
    /// Ten thousand observers.
    Eyes,
    Floor(FloorOptions),
    Help,
}

/// The options of the floor.
pub(crate) struct FloorOptions {
    pub(crate) root: PathBuf,
    pub(crate) tools: usize,
    /// The port; `None` means standard input and output.
    pub(crate) port: Option<u16>,
    /// The command of the upstream; empty means that the floor answers itself.
    pub(crate) upstream: Vec<OsString>,
}

pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<Command> {
    let mut args = args.peekable();
    let first = args.peek().and_then(|arg| arg.to_str()).unwrap_or("run").to_owned();
    if !first.starts_with('-') {
        args.next();
    }
    match first.as_str() {
        "help" | "-h" | "--help" => Ok(Command::Help),
        "run" => plan(args).map(Command::Run),
        "code" => code_plan(args).map(Command::Code),
        "report" => Ok(Command::Report(value(&mut args, "report")?.into())),
        "gateway" => gateway_plan(args).map(Command::Gateway),
        "turns" => turns_plan(args).map(Command::Turns),
        "observe" => observe_plan(args).map(Command::Observe),
        "find" => find_plan(args).map(Command::Find),
        "fetch" => fetch_plan(args).map(Command::Fetch),
        "shell" => shell_plan(args).map(Command::Shell),
        "journal" => journal_plan(args).map(Command::Journal),
        "approval" => approval_plan(args).map(Command::Approval),
        "registry" => {
            Ok(Command::Registry(value(&mut args, "registry")?.into(), number(&mut args, "registry")?))
        }
        "economy" => economy_plan(args).map(Command::Economy),
        "watcher" => {
            let how = How::named(&text(&mut args, "watcher")?)?;
            Ok(Command::Watcher(how, value(&mut args, "watcher")?.into()))
        }
        "eyes" => Ok(Command::Eyes),
        "floor" => floor(args).map(Command::Floor),
        option if option.starts_with("--") => plan(args).map(Command::Run),
        other => bail!("no command `{other}`; `tectum-bench help` lists them"),
    }
}

fn plan(mut args: impl Iterator<Item = OsString>) -> Result<RunPlan> {
    let checkout = checkout()?;
    let mut plan = RunPlan {
        tectum: None,
        before: None,
        cases: Vec::new(),
        servers: Vec::new(),
        rounds: None,
        slice: Duration::from_millis(300),
        out: checkout.join("bench/results"),
        data: checkout.join("target/bench-data"),
        peers: checkout.join("target/bench-peers"),
        one_cpu: false,
    };
    while let Some(arg) = args.next() {
        let option = arg.to_str().unwrap_or_default();
        match option {
            "--one-cpu" => plan.one_cpu = true,
            "--tectum" => plan.tectum = Some(binary(value(&mut args, option)?)?),
            "--before" => plan.before = Some(binary(value(&mut args, option)?)?),
            "--case" => plan.cases.extend(Case::named(&text(&mut args, option)?)?),
            "--server" => plan.servers.push(Server::named(&text(&mut args, option)?)?),
            "--rounds" => plan.rounds = Some(number(&mut args, option)?),
            "--slice-ms" => plan.slice = Duration::from_millis(number(&mut args, option)? as u64),
            "--out" => plan.out = value(&mut args, option)?.into(),
            "--data" => plan.data = value(&mut args, option)?.into(),
            _ => bail!("no option `{}`; `tectum-bench help` lists them", arg.display()),
        }
    }
    if plan.cases.is_empty() {
        plan.cases = Case::usual(plan.one_cpu);
    }
    Ok(plan)
}

fn shell_plan(mut args: impl Iterator<Item = OsString>) -> Result<shell::ShellPlan> {
    let mut plan = shell::ShellPlan {
        tectum: None,
        rounds: 7,
        slice: Duration::from_millis(500),
        data: checkout()?.join("target/bench-data"),
    };
    while let Some(arg) = args.next() {
        let option = arg.to_str().unwrap_or_default();
        match option {
            "--tectum" => plan.tectum = Some(binary(value(&mut args, option)?)?),
            "--rounds" => plan.rounds = number(&mut args, option)?,
            "--slice-ms" => plan.slice = Duration::from_millis(number(&mut args, option)? as u64),
            "--data" => plan.data = value(&mut args, option)?.into(),
            _ => bail!("no option `{}` of shell; `tectum-bench help` lists them", arg.display()),
        }
    }
    Ok(plan)
}

fn journal_plan(mut args: impl Iterator<Item = OsString>) -> Result<journal::JournalPlan> {
    let mut plan = journal::JournalPlan {
        tectum: None,
        entries: 1_000_000,
        data: checkout()?.join("target/bench-data"),
    };
    while let Some(arg) = args.next() {
        let option = arg.to_str().unwrap_or_default();
        match option {
            "--tectum" => plan.tectum = Some(binary(value(&mut args, option)?)?),
            "--entries" => plan.entries = number(&mut args, option)?,
            "--data" => plan.data = value(&mut args, option)?.into(),
            _ => bail!("no option `{}` of journal; `tectum-bench help` lists them", arg.display()),
        }
    }
    Ok(plan)
}

fn approval_plan(mut args: impl Iterator<Item = OsString>) -> Result<approval::ApprovalPlan> {
    let (mut calls, mut desk) = (None, false);
    while let Some(arg) = args.next() {
        match arg.to_str().unwrap_or_default() {
            "--calls" => calls = Some(number(&mut args, "--calls")?),
            "--desk" => desk = true,
            _ => bail!("no option `{}` of approval; `tectum-bench help` lists them", arg.display()),
        }
    }
    Ok(calls.map_or(approval::ApprovalPlan::All, |calls| approval::ApprovalPlan::Calls(calls, desk)))
}

fn code_plan(mut args: impl Iterator<Item = OsString>) -> Result<code::CodePlan> {
    let checkout = checkout()?;
    let mut plan = code::CodePlan {
        tectum: None,
        cases: Vec::new(),
        rounds: None,
        out: checkout.join("bench/results"),
        data: checkout.join("target/bench-data"),
        peers: checkout.join("target/bench-peers"),
        corpora: checkout.join("target/code-corpora"),
    };
    while let Some(arg) = args.next() {
        let option = arg.to_str().unwrap_or_default();
        match option {
            "--tectum" => plan.tectum = Some(binary(value(&mut args, option)?)?),
            "--case" => plan.cases.extend(code::CodeCase::named(&text(&mut args, option)?)?),
            "--rounds" => plan.rounds = Some(number(&mut args, option)?),
            "--out" => plan.out = value(&mut args, option)?.into(),
            "--data" => plan.data = value(&mut args, option)?.into(),
            "--corpora" => plan.corpora = value(&mut args, option)?.into(),
            _ => bail!("no option `{}` of code; `tectum-bench help` lists them", arg.display()),
        }
    }
    if plan.cases.is_empty() {
        plan.cases = code::CodeCase::ALL.to_vec();
    }
    Ok(plan)
}

fn gateway_plan(mut args: impl Iterator<Item = OsString>) -> Result<gateway::GatewayPlan> {
    let checkout = checkout()?;
    let mut plan = gateway::GatewayPlan {
        tectum: None,
        cases: Vec::new(),
        fronts: Vec::new(),
        rounds: None,
        slice: Duration::from_millis(300),
        out: checkout.join("bench/results"),
        data: checkout.join("target/bench-data"),
        peers: checkout.join("target/bench-peers"),
        views: vec![View::AllCpus, View::OneCpu],
    };
    while let Some(arg) = args.next() {
        let option = arg.to_str().unwrap_or_default();
        match option {
            "--all-cpus" => plan.views = vec![View::AllCpus],
            "--one-cpu" => plan.views = vec![View::OneCpu],
            "--tectum" => plan.tectum = Some(binary(value(&mut args, option)?)?),
            "--case" => plan.cases.push(gateway::GatewayCase::named(&text(&mut args, option)?)?),
            "--server" => plan.fronts.push(gateway::Front::named(&text(&mut args, option)?)?),
            "--rounds" => plan.rounds = Some(number(&mut args, option)?),
            "--slice-ms" => plan.slice = Duration::from_millis(number(&mut args, option)? as u64),
            "--out" => plan.out = value(&mut args, option)?.into(),
            "--data" => plan.data = value(&mut args, option)?.into(),
            _ => bail!("no option `{}` of gateway; `tectum-bench help` lists them", arg.display()),
        }
    }
    if plan.cases.is_empty() {
        plan.cases = gateway::GatewayCase::ALL.to_vec();
    }
    Ok(plan)
}

fn turns_plan(mut args: impl Iterator<Item = OsString>) -> Result<turns::TurnsPlan> {
    let checkout = checkout()?;
    let mut plan = turns::TurnsPlan {
        tectum: None,
        cases: Vec::new(),
        rounds: None,
        out: checkout.join("bench/results"),
        data: checkout.join("target/bench-data"),
        peers: checkout.join("target/bench-peers"),
    };
    while let Some(arg) = args.next() {
        let option = arg.to_str().unwrap_or_default();
        match option {
            "--tectum" => plan.tectum = Some(binary(value(&mut args, option)?)?),
            "--case" => plan.cases.extend(turns::TurnsCase::named(&text(&mut args, option)?)?),
            "--rounds" => plan.rounds = Some(number(&mut args, option)?),
            "--out" => plan.out = value(&mut args, option)?.into(),
            "--data" => plan.data = value(&mut args, option)?.into(),
            _ => bail!("no option `{}` of turns; `tectum-bench help` lists them", arg.display()),
        }
    }
    if plan.cases.is_empty() {
        plan.cases = turns::TurnsCase::ALL.to_vec();
    }
    Ok(plan)
}

fn observe_plan(mut args: impl Iterator<Item = OsString>) -> Result<observe::ObservePlan> {
    let checkout = checkout()?;
    let mut plan = observe::ObservePlan {
        tectum: None,
        servers: Vec::new(),
        rounds: 20,
        // The pace of a quick agent, which thinks between calls.
        every: Duration::from_millis(5),
        // A call every 5 ms: enough of them for a p99.
        slice: Duration::from_secs(2),
        out: checkout.join("bench/results"),
        data: checkout.join("target/bench-data"),
        one_cpu: false,
    };
    while let Some(arg) = args.next() {
        let option = arg.to_str().unwrap_or_default();
        match option {
            "--one-cpu" => plan.one_cpu = true,
            "--tectum" => plan.tectum = Some(binary(value(&mut args, option)?)?),
            "--rounds" => plan.rounds = number(&mut args, option)?,
            "--server" => plan.servers.push(text(&mut args, option)?),
            "--every-ms" => plan.every = Duration::from_millis(number(&mut args, option)? as u64),
            "--slice-ms" => plan.slice = Duration::from_millis(number(&mut args, option)? as u64),
            "--out" => plan.out = value(&mut args, option)?.into(),
            "--data" => plan.data = value(&mut args, option)?.into(),
            _ => bail!("no option `{}` of observe; `tectum-bench help` lists them", arg.display()),
        }
    }
    Ok(plan)
}

fn find_plan(mut args: impl Iterator<Item = OsString>) -> Result<find::FindPlan> {
    let target = checkout()?.join("target");
    let mut plan =
        find::FindPlan { tectum: None, data: target.join("bench-data"), peers: target.join("bench-peers") };
    while let Some(arg) = args.next() {
        let option = arg.to_str().unwrap_or_default();
        match option {
            "--tectum" => plan.tectum = Some(binary(value(&mut args, option)?)?),
            "--data" => plan.data = value(&mut args, option)?.into(),
            _ => bail!("no option `{}` of find; `tectum-bench help` lists them", arg.display()),
        }
    }
    Ok(plan)
}

fn fetch_plan(mut args: impl Iterator<Item = OsString>) -> Result<fetch::FetchPlan> {
    let mut plan = fetch::FetchPlan { tectum: None, data: checkout()?.join("target/bench-data") };
    while let Some(arg) = args.next() {
        let option = arg.to_str().unwrap_or_default();
        match option {
            "--tectum" => plan.tectum = Some(binary(value(&mut args, option)?)?),
            "--data" => plan.data = value(&mut args, option)?.into(),
            _ => bail!("no option `{}` of fetch; `tectum-bench help` lists them", arg.display()),
        }
    }
    Ok(plan)
}

fn economy_plan(mut args: impl Iterator<Item = OsString>) -> Result<economy::EconomyPlan> {
    let checkout = checkout()?;
    let mut plan = economy::EconomyPlan {
        tectum: None,
        servers: Vec::new(),
        out: checkout.join("bench/results"),
        data: checkout.join("target/bench-data"),
        peers: checkout.join("target/bench-peers"),
    };
    while let Some(arg) = args.next() {
        let option = arg.to_str().unwrap_or_default();
        match option {
            "--tectum" => plan.tectum = Some(binary(value(&mut args, option)?)?),
            "--server" => plan.servers.push(economy::EconomyServer::named(&text(&mut args, option)?)?),
            "--out" => plan.out = value(&mut args, option)?.into(),
            "--data" => plan.data = value(&mut args, option)?.into(),
            _ => bail!("no option `{}` of economy; `tectum-bench help` lists them", arg.display()),
        }
    }
    Ok(plan)
}

fn floor(mut args: impl Iterator<Item = OsString>) -> Result<FloorOptions> {
    let mut floor = FloorOptions { root: ".".into(), tools: 0, port: None, upstream: Vec::new() };
    while let Some(arg) = args.next() {
        let option = arg.to_str().unwrap_or_default();
        match option {
            "--root" => floor.root = value(&mut args, option)?.into(),
            "--tools" => floor.tools = number(&mut args, option)?,
            "--port" => floor.port = Some(u16::try_from(number(&mut args, option)?)?),
            "--" => floor.upstream = args.by_ref().collect(),
            _ => bail!("no option `{}` of the floor; `tectum-bench help` lists them", arg.display()),
        }
    }
    if !floor.upstream.is_empty() && floor.port.is_none() {
        bail!("a gateway needs --port N");
    }
    Ok(floor)
}

fn checkout() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("bench has a parent directory")
}

fn binary(path: OsString) -> Result<PathBuf> {
    std::fs::canonicalize(&path).with_context(|| format!("no tectum binary at `{}`", path.display()))
}

fn value(args: &mut impl Iterator<Item = OsString>, option: &str) -> Result<OsString> {
    args.next().with_context(|| format!("{option} needs a value"))
}

fn text(args: &mut impl Iterator<Item = OsString>, option: &str) -> Result<String> {
    let value = value(args, option)?;
    value.into_string().ok().with_context(|| format!("{option} needs plain text"))
}

fn number(args: &mut impl Iterator<Item = OsString>, option: &str) -> Result<usize> {
    let text = text(args, option)?;
    let number = text.parse().with_context(|| format!("{option} needs a number, not `{text}`"))?;
    if number == 0 {
        bail!("{option} must be at least 1");
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(args: &[&str]) -> RunPlan {
        match parse(args.iter().map(OsString::from)) {
            Ok(Command::Run(plan)) => plan,
            _ => panic!("{args:?} is not a run"),
        }
    }

    #[test]
    fn options_alone_mean_run() {
        let plan = run(&["--case", "noop", "--rounds", "3"]);
        assert_eq!(plan.rounds, Some(3));
        assert_eq!(plan.cases.iter().map(|case| case.name()).collect::<Vec<_>>(), ["noop-ping", "noop-call"]);
    }

    #[test]
    fn nothing_at_all_means_every_case() {
        assert_eq!(run(&[]).cases.len(), Case::ALL.len());
        assert_eq!(run(&["run"]).slice, Duration::from_millis(300));
    }

    #[test]
    fn one_cpu_leaves_out_what_needs_two() {
        let names: Vec<_> = run(&["--one-cpu"]).cases.iter().map(|case| case.name()).collect();
        assert_eq!(names, ["read-4k", "noop-ping", "noop-call", "list-100", "edit-4k"]);
    }

    #[test]
    fn code_has_cases_of_its_own() {
        let cases = |args: &[&str]| match parse(args.iter().map(OsString::from)) {
            Ok(Command::Code(plan)) => plan.cases.iter().map(|case| case.name()).collect::<Vec<_>>(),
            _ => panic!("{args:?} is not about code"),
        };
        assert_eq!(cases(&["code"]).len(), code::CodeCase::ALL.len());
        assert_eq!(cases(&["code", "--case", "usages"]), ["code-usages-python", "code-usages-native"]);
        assert_eq!(cases(&["code", "--case", "code-outline-c"]), ["code-outline-c", "code-outline-cpp"]);
    }

    #[test]
    fn gateways_are_seen_in_both_views() {
        let views = |args: &[&str]| match parse(args.iter().map(OsString::from)) {
            Ok(Command::Gateway(plan)) => plan.views,
            _ => panic!("{args:?} is not about gateways"),
        };
        assert_eq!(views(&["gateway"]), [View::AllCpus, View::OneCpu]);
        assert_eq!(views(&["gateway", "--one-cpu"]), [View::OneCpu]);
    }

    #[test]
    fn what_follows_two_dashes_is_the_upstream() {
        let Ok(Command::Floor(floor)) =
            parse(["floor", "--port", "80", "--", "x", "--port"].iter().map(OsString::from))
        else {
            panic!("a floor")
        };
        assert_eq!((floor.port, floor.upstream), (Some(80), vec!["x".into(), "--port".into()]));
    }

    #[test]
    fn unknown_words_are_refused() {
        for args in [
            &["walk"][..],
            &["code", "--one-cpu"],
            &["observe", "--case", "x"],
            &["watcher", "odd", "file"],
            &["watcher", "fine"],
            &["--case", "nothing"],
            &["--rounds", "0"],
            &["--rounds"],
            &["--server", "x"],
            &["gateway", "--server", "floor"],
            &["floor", "--", "x"],
            &["floor", "--port", "70000"],
        ] {
            assert!(parse(args.iter().map(OsString::from)).is_err(), "{args:?}");
        }
    }
}
