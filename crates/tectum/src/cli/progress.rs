//! A run as people see it: the model's text on standard output as it comes, a dim line on standard
//! error for each call. What a model or a tool wrote cannot steer a terminal.

use std::io::{self, IsTerminal as _, Write as _};

use tectum::engine::Event;
use tokio_util::sync::CancellationToken;

use super::screen::{Colour, Screen, harmless};

/// Characters of a line about a call.
const MOST_LINE: usize = 160;

/// The progress that was shown so far.
#[derive(Debug)]
pub(crate) struct Progress {
    screen: Screen,
    /// Cancelled when nobody reads any more.
    cancel: CancellationToken,
    terminal: bool,
    /// True if the model's text stopped in the middle of a line.
    mid_line: bool,
    calls: usize,
    failed: usize,
}

impl Progress {
    pub(crate) fn new(screen: Screen, cancel: CancellationToken) -> Self {
        let terminal = io::stdout().is_terminal();
        Self { screen, cancel, terminal, mid_line: false, calls: 0, failed: 0 }
    }

    /// The number of calls.
    pub(crate) fn calls(&self) -> usize {
        self.calls
    }

    /// The number of calls that failed.
    pub(crate) fn failed(&self) -> usize {
        self.failed
    }

    /// Shows what happened.
    pub(crate) fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Said(text) => self.say(text),
            Event::Calls(call) => {
                self.calls += 1;
                self.line(&format!("{} {}", call.name, call.arguments));
            }
            Event::Called { call, failed: true, text, .. } => {
                self.failed += 1;
                let why = text.lines().next().unwrap_or_default();
                self.line(&format!("{} failed: {}", call.name, why.trim_start_matches("ERROR: ")));
            }
            Event::Called { .. } | Event::Scarce { .. } => {}
            Event::Note { key, data } => self.line(&format!("{key}: {data}")),
            Event::Tier { from, to, reason: "" } => self.line(&format!("{from} hands over to {to}")),
            Event::Tier { from, to, reason } => self.line(&format!("{from} hands over to {to}: {reason}")),
            Event::Kept { to, why } => self.line(&format!("not handed over to {to}: {why}")),
            Event::Compacted { before, after } => {
                self.line(&format!("compacted from about {before} to {after} tokens"));
            }
            Event::Pruned(count) => self.line(&format!("{count} older results left out")),
        }
    }

    /// Ends the line that was begun.
    pub(crate) fn end(&mut self) {
        if std::mem::take(&mut self.mid_line) {
            self.write("\n");
        }
    }

    fn say(&mut self, text: &str) {
        if self.screen.json || text.is_empty() {
            return;
        }
        if self.terminal {
            self.write(&harmless(text))
        } else {
            self.write(text)
        }
        self.mid_line = !text.ends_with('\n');
    }

    fn write(&self, text: &str) {
        let mut out = io::stdout().lock();
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            // Nobody reads: the work has nobody to do it for.
            self.cancel.cancel();
        }
    }

    fn line(&mut self, text: &str) {
        if self.screen.json || self.screen.quiet {
            return;
        }
        self.end();
        self.screen.tell(&self.screen.paint_error(Colour::Dim, &format!("  {}", one_line(text, MOST_LINE))));
    }
}

/// A text on one line, without what steers a terminal, and not longer than this.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let line = harmless(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_single() {
        assert_eq!(one_line("a\n  b\x07\u{202e}", 20), "a b\\u{7}\\u{202e}");
        assert_eq!(one_line("äöüß", 2), "äö…");
    }
}
