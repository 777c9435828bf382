//! `tectum log stats`: sums by tool and by session, with small bars.

use clap::Args;
use serde_json::{Value, json};
use tectum_journal::{index::Total, report::took, when::Span};

use super::{
    super::{
        failure::Failure,
        screen::{Colour, Screen, counted},
    },
    record::{RecordPlace, between, columns, fitted, session, time},
};

/// The characters of the longest bar, where there is room.
const WIDTH: usize = 20;
/// The characters of a row without its name and its bars.
const NUMBERS: usize = 43;
/// The names of a table; the rest is one line.
const MOST_ROWS: usize = 15;

/// Sum up calls, errors, time and tokens by tool and by session.
#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Only this session: its name, the beginning of it, or `last`
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Calls since then: 2h, yesterday, 2026-11-17
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Span>,
    /// Calls until then
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Span>,
}

impl Stats {
    pub(super) fn run(self, record: &RecordPlace, screen: &Screen) -> Result<(), Failure> {
        let mut index = record.index(screen)?;
        let (from, to) = between(self.since, self.until);
        let session = match &self.session {
            Some(named) => Some(session(&mut index, named)?.session),
            None => None,
        };
        let tools = index.by_tool(from, to, session.as_deref())?;
        let sessions = index.by_session(from, to, session.as_deref())?;
        let all = sum(&tools);
        if screen.json {
            return screen.print_json(&json!({
                "total": data(&all),
                "tools": tools.iter().map(data).collect::<Vec<Value>>(),
                "sessions": sessions.iter().map(data).collect::<Vec<Value>>(),
            }));
        }
        if all.calls == 0 {
            return screen.print("no calls were recorded here then");
        }
        let mut text = format!(
            "{}, {} ({:.1} %), {} in tools\nabout {} tokens: {} in, {} out\n",
            counted(all.calls, "call"),
            counted(all.failed, "error"),
            all.failed as f64 * 100.0 / all.calls as f64,
            took(all.took),
            all.tokens_in + all.tokens_out,
            all.tokens_in,
            all.tokens_out,
        );
        text.push_str(&format!("\n{}", table("TOOL", &tools, screen)));
        if session.is_none() {
            text.push_str(&format!("\n{}", table("SESSION", &sessions, screen)));
        }
        screen.print(&text)
    }
}

fn sum(totals: &[Total]) -> Total {
    totals.iter().fold(Total::default(), |sum, one| Total {
        name: sum.name,
        calls: sum.calls + one.calls,
        failed: sum.failed + one.failed,
        took: sum.took + one.took,
        longest: sum.longest.max(one.longest),
        tokens_in: sum.tokens_in + one.tokens_in,
        tokens_out: sum.tokens_out + one.tokens_out,
    })
}

fn table(what: &str, totals: &[Total], screen: &Screen) -> String {
    let widest = totals.iter().take(MOST_ROWS).map(|total| total.name.chars().count()).max().unwrap_or(0);
    let columns = columns();
    let names = widest.clamp(what.len(), columns.saturating_sub(NUMBERS + 8).max(18));
    let width = (columns.saturating_sub(NUMBERS + names) / 2).clamp(4, WIDTH);
    let most_calls = totals.iter().map(|total| total.calls).max().unwrap_or(0);
    let tokens = |total: &Total| total.tokens_in + total.tokens_out;
    let most_tokens = totals.iter().map(tokens).max().unwrap_or(0);
    let head = format!(
        "{what:<names$}  {:>7}  {:<width$}  {:>6}  {:>9}  {:>9}",
        "CALLS", "", "ERRORS", "TIME", "TOKENS"
    );
    let mut text = format!("{}\n", screen.paint(Colour::Bold, &head));
    for total in totals.iter().take(MOST_ROWS) {
        let errors = format!("{:>6}", total.failed);
        let row = format!(
            "{:<names$}  {:>7}  {}  {}  {:>9}  {:>9}  {}",
            fitted(&total.name, names),
            total.calls,
            screen.paint(Colour::Cyan, &format!("{:<width$}", bar(total.calls, most_calls, width))),
            if total.failed > 0 { screen.paint(Colour::Red, &errors) } else { errors },
            took(total.took),
            tokens(total),
            screen.paint(Colour::Cyan, &bar(tokens(total), most_tokens, width)),
        );
        text.push_str(&format!("{}\n", row.trim_end()));
    }
    if totals.len() > MOST_ROWS {
        let rest = sum(&totals[MOST_ROWS..]);
        let line = format!("and {} more with {} calls", totals.len() - MOST_ROWS, rest.calls);
        text.push_str(&format!("{}\n", screen.paint(Colour::Dim, &line)));
    }
    text
}

/// A bar in eighths of a character, as long as a value is of the largest one, which has this width.
fn bar(value: u64, most: u64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if most == 0 || value == 0 {
        return String::new();
    }
    let units = (u128::from(value) * (width as u128) * 8).div_ceil(u128::from(most)) as usize;
    format!("{}{}", "█".repeat(units / 8), EIGHTHS[units % 8])
}

fn data(total: &Total) -> Value {
    json!({
        "name": total.name,
        "calls": total.calls,
        "errors": total.failed,
        "took_us": total.took,
        "longest_us": total.longest,
        "tokens_in": total.tokens_in,
        "tokens_out": total.tokens_out,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_values() {
        assert_eq!(bar(10, 10, WIDTH), "█".repeat(20));
        assert_eq!(bar(5, 10, WIDTH), "█".repeat(10));
        assert_eq!(bar(1, 1000, WIDTH), "▏");
        assert_eq!(bar(0, 10, WIDTH), "");
        assert_eq!(bar(0, 0, WIDTH), "");
        assert_eq!(bar(u64::MAX, u64::MAX, WIDTH), "█".repeat(20));
    }
}
