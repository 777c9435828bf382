//! Markdown tables from records: each server's figures, then ratios with their quartiles and aims.

use std::fmt::Write;

use anyhow::Result;

use crate::aims::{self, Aim};
use crate::record::{Entry, Record, View};
use crate::stats::{Spread, median, ratios};

/// Prints a result: results go to standard output, progress to standard error.
pub(crate) fn say(text: &str) -> Result<()> {
    Ok(std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes())?)
}

struct Figure {
    key: &'static str,
    heading: &'static str,
    /// True if its ratios are shown; p99 is too noisy for one.
    compared: bool,
}

const FIGURES: [Figure; 56] = [
    figure("opening_tokens", "tokens before the first call", true),
    figure("reply_tokens", "tokens of all replies", true),
    figure("all_tokens", "tokens, a conversation for each task", true),
    figure("session_tokens", "tokens, all tasks in one conversation", true),
    figure("paced_p50_us", "p50 µs, a call every 5 ms", true),
    figure("paced_p99_us", "p99 µs, a call every 5 ms", true),
    figure("p50_us", "p50 µs", true),
    figure("p99_us", "p99 µs", false),
    figure("calls_per_s_1", "calls/s @1", true),
    figure("calls_per_s_64", "calls/s @64", true),
    figure("sessions_per_s_64", "calls/s, 64 sessions", true),
    figure("cpu_us_1", "CPU µs a call @1", true),
    figure("cpu_us_64", "CPU µs a call @64", true),
    figure("session_kb", "KB a session", true),
    figure("tools_list_us", "tools/list µs", true),
    figure("cold_init_ms", "first start to initialize ms", true),
    figure("cold_list_ms", "first start to tools/list ms", true),
    figure("init_ms", "to initialize ms", true),
    figure("list_ms", "to tools/list ms", true),
    figure("idle_mb", "idle MB", true),
    figure("after_mb", "after 64 in flight MB", true),
    figure("added_us", "added p50 µs", false),
    figure("private_mb", "private MB", false),
    figure("rare_ms", "rare word ms", true),
    figure("medium_ms", "medium word ms", true),
    figure("regex_ms", "regex ms", true),
    figure("mb_per_cpu_s", "MB per CPU second", true),
    figure("python_mb_per_s", "Python MB/s", true),
    figure("c_mb_per_s", "C MB/s", true),
    figure("cpp_mb_per_s", "C++ MB/s", true),
    figure("index_ms", "first question ms", true),
    figure("again_ms", "asked again ms", false),
    figure("changed_ms", "after a change ms", false),
    figure("more_ms", "more after a change ms", false),
    figure("outline_us", "outline µs", true),
    figure("rare_first_ms", "rare word, first, ms", true),
    figure("rare_warm_us", "rare word, again, µs", true),
    figure("rare_other_ms", "rare, another word, ms", true),
    figure("medium_first_ms", "medium word, first, ms", true),
    figure("medium_warm_us", "medium word, again, µs", true),
    figure("medium_other_ms", "medium, another word, ms", true),
    figure("common_first_ms", "common word, first, ms", true),
    figure("common_warm_us", "common word, again, µs", true),
    figure("common_other_ms", "common, another word, ms", true),
    figure("three_ms", "3 calls of 100 ms, ms", true),
    figure("six_ms", "6 calls of 200 ms, ms", true),
    figure("look_ms", "10,000 files, ms", true),
    figure("files", "files", false),
    figure("definitions", "definitions", false),
    figure("ast_pct", "as ast has them %", false),
    figure("ctags_pct", "of ctags' found %", false),
    figure("ctags_end_pct", "same end %", false),
    figure("known_pct", "of ours in ctags %", false),
    figure("tree_pct", "of tree-sitter's found %", false),
    figure("tree_end_pct", "same end %", false),
    figure("judged_pct", "right by two of three %", false),
];

const fn figure(key: &'static str, heading: &'static str, compared: bool) -> Figure {
    Figure { key, heading, compared }
}

pub(crate) fn all(records: &[Record]) -> String {
    records.iter().map(section).collect()
}

/// One case: its heading, the servers, the ratios, and what the figures do not say.
pub(crate) fn section(record: &Record) -> String {
    let mut out = heading(record);
    let figures: Vec<&Figure> = FIGURES
        .iter()
        .filter(|figure| record.servers.iter().any(|entry| entry.figures.contains_key(figure.key)))
        .collect();
    servers(&mut out, record, &figures);
    comparisons(&mut out, record, &figures);
    for entry in &record.servers {
        for remark in &entry.remarks {
            let _ = writeln!(out, "- {}: {remark}", entry.server);
        }
    }
    if record.servers.iter().any(|entry| !entry.remarks.is_empty()) {
        out.push('\n');
    }
    out
}

fn heading(record: &Record) -> String {
    let cpus = match record.view {
        View::AllCpus => format!("{} CPUs", record.machine.cpus),
        View::OneCpu => "one CPU".to_owned(),
    };
    let slices = match record.case.as_str() {
        "economy" | "start" | "search" | "gateway-start" | "gateway-memory" => String::new(),
        case if case.starts_with("code-") => String::new(),
        _ => format!(" of {} ms", record.slice_ms),
    };
    let mut out = format!("### {}, {cpus}\n\n{} rounds{slices}", record.case, record.rounds());
    if let Some(others) = median(&record.others_cpu) {
        let _ = write!(out, "; other work used {:.0} % of the machine", others * 100.0);
    }
    let _ = write!(out, " ({}, Linux {}).\n\n", record.machine.cpu, record.machine.kernel);
    out
}

fn servers(out: &mut String, record: &Record, figures: &[&Figure]) {
    out.push_str("| server |");
    for figure in figures {
        let _ = write!(out, " {} |", figure.heading);
    }
    out.push_str("\n| --- |");
    out.push_str(&" ---: |".repeat(figures.len()));
    for entry in &record.servers {
        let _ = write!(out, "\n| {} {} |", entry.server, entry.version);
        for figure in figures {
            let show = if figure.key.ends_with("_pct") { hundredths } else { number };
            let cell = median(entry.figure(figure.key)).map_or("-".to_owned(), show);
            let _ = write!(out, " {cell} |");
        }
    }
    out.push_str("\n\n");
}

fn comparisons(out: &mut String, record: &Record, figures: &[&Figure]) {
    let mut rows = String::new();
    for subject in subjects(record) {
        for figure in figures {
            own_aim(&mut rows, record, subject, figure);
            if !figure.compared {
                continue;
            }
            for other in others(record, subject) {
                let by_round = ratios(subject.figure(figure.key), other.figure(figure.key));
                let Some(spread) = Spread::of(&by_round) else { continue };
                let what = format!("{}, {} ÷ {}", figure.heading, subject.server, other.server);
                let aim = aim(record, subject, figure, Some(&other.server));
                row(&mut rows, &what, spread, aim);
            }
        }
    }
    if !rows.is_empty() {
        out.push_str(
            "| ratio, round by round | median | quartiles | aim | |\n| --- | ---: | :-: | ---: | --- |\n",
        );
        let _ = writeln!(out, "{rows}");
    }
}

/// The entries that are compared with others: Tectum, or the first one if it did not run.
fn subjects(record: &Record) -> Vec<&Entry> {
    let measured = || record.servers.iter().filter(|entry| !entry.figures.is_empty());
    let ours: Vec<&Entry> = measured().filter(|entry| entry.server.starts_with("tectum")).collect();
    if ours.is_empty() { measured().take(1).collect() } else { ours }
}

/// The entries that a subject is compared with. Questions about code differ too much to be compared
/// with each other. Observers are compared only with the run without discovery. A gateway in front of
/// many servers is compared with others in front of as many, and with itself in front of one.
fn others<'r>(record: &'r Record, subject: &Entry) -> impl Iterator<Item = &'r Entry> {
    let code = record.case.starts_with("code-");
    let numbered = matches!(record.case.as_str(), "gateway-many" | "gateway-start");
    let observed = record.case == "observe" || record.case.starts_with("record-");
    let own = subject.server.clone();
    let counts = move |other: &&Entry| {
        if observed && other.server != "tectum-off" {
            return false;
        }
        let apart = (code && other.server.starts_with("tectum")) || (numbered && !akin(&own, &other.server));
        other.server != own && !apart
    };
    record.servers.iter().filter(counts)
}

/// True if the two can be compared. Names end with the number of servers behind the gateway.
fn akin(subject: &str, other: &str) -> bool {
    let parts = subject.rsplit_once('-').zip(other.rsplit_once('-'));
    parts.is_some_and(|((name, count), (theirs, many))| count == many || (name == theirs && many == "1"))
}

fn own_aim(rows: &mut String, record: &Record, subject: &Entry, figure: &Figure) {
    let Some(aim) = aim(record, subject, figure, None) else { return };
    let Some(spread) = Spread::of(subject.figure(figure.key)) else { return };
    row(rows, &format!("{}, {} itself", figure.heading, subject.server), spread, Some(aim));
}

fn aim(record: &Record, subject: &Entry, figure: &Figure, against: Option<&str>) -> Option<&'static Aim> {
    aims::find(&record.case, record.view, &subject.server, figure.key, against)
}

fn row(rows: &mut String, what: &str, seen: Spread, aim: Option<&Aim>) {
    let (goal, verdict) =
        aim.map_or((String::new(), ""), |aim| (aim.goal.to_string(), aim.goal.verdict(seen)));
    let Spread { low, median, high } = seen;
    // A hundredth is too coarse if one side takes hardly any time.
    let digits = if median < 0.1 { 4 } else { 2 };
    let _ = writeln!(
        rows,
        "| {what} | {median:.digits$} | {low:.digits$} to {high:.digits$} | {goal} | {verdict} |"
    );
}

/// A percentage with hundredths, which count near a hundred per cent.
fn hundredths(value: f64) -> String {
    format!("{value:.2}")
}

/// About three significant digits, thousands separated.
fn number(value: f64) -> String {
    if value < 10.0 {
        return format!("{value:.2}");
    }
    if value < 100.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Machine;

    fn entry(server: &str, figure: &str, values: &[f64]) -> Entry {
        let mut entry = Entry::new(server);
        entry.version = "1".to_owned();
        values.iter().for_each(|value| entry.note(figure, *value));
        entry
    }

    fn record(case: &str, servers: Vec<Entry>) -> Record {
        let machine = Machine { cpu: "CPU".to_owned(), cpus: 2, kernel: "6".to_owned() };
        let (case, view) = (case.to_owned(), View::AllCpus);
        Record { case, view, slice_ms: 300, machine, others_cpu: vec![0.02], servers }
    }

    #[test]
    fn a_ratio_stands_beside_its_aim() {
        let peer = entry("rust-mcp-filesystem", "calls_per_s_64", &[1000.0, 2000.0]);
        let text =
            section(&record("read-4k", vec![entry("tectum", "calls_per_s_64", &[4000.0, 8000.0]), peer]));
        assert!(text.contains("2 rounds of 300 ms; other work used 2 %"), "{text}");
        assert!(text.contains("| tectum 1 | 6,000 |"), "{text}");
        let row = "| calls/s @64, tectum ÷ rust-mcp-filesystem | 4.00 | 4.00 to 4.00 | ≥ 3 | met |";
        assert!(text.contains(row), "{text}");
    }

    #[test]
    fn memory_has_a_ceiling_of_its_own() {
        let text = section(&record("memory", vec![entry("tectum", "idle_mb", &[13.0])]));
        assert!(
            text.contains("| idle MB, tectum itself | 13.00 | 13.00 to 13.00 | < 12 | missed |"),
            "{text}"
        );
    }

    #[test]
    fn without_tectum_the_first_is_compared() {
        let servers = vec![entry("floor", "p50_us", &[10.0]), entry("server-filesystem", "p50_us", &[40.0])];
        assert!(section(&record("read-4k", servers)).contains("floor ÷ server-filesystem | 0.25 |"));
    }

    #[test]
    fn an_absent_server_is_explained() {
        let mut absent = Entry::new("tectum");
        absent.remarks.push("absent: no binary".to_owned());
        let text = section(&record("read-4k", vec![entry("floor", "p50_us", &[10.0]), absent]));
        assert!(text.contains("- tectum: absent: no binary"), "{text}");
    }

    #[test]
    fn gateways_stand_beside_their_equals() {
        let names = ["tectum-1", "tectum-64", "mcp-proxy-rust-1", "mcp-proxy-rust-64"];
        let servers = names.map(|name| entry(name, "p50_us", &[10.0])).into();
        let text = section(&record("gateway-many", servers));
        assert!(
            text.contains("| p50 µs, tectum-64 ÷ tectum-1 | 1.00 | 1.00 to 1.00 | ≤ 1.03 | met |"),
            "{text}"
        );
        assert!(text.contains("tectum-64 ÷ mcp-proxy-rust-64"), "{text}");
        assert!(!text.contains("tectum-64 ÷ mcp-proxy-rust-1 "), "{text}");
        assert!(!text.contains("tectum-1 ÷ tectum-64"), "{text}");
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!([1.234, 45.67, 912.4, 1_234_567.0].map(number), ["1.23", "45.7", "912", "1,234,567"]);
    }
}
