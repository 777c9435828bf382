//! A list of beads as a reply: a row for each, the exact total, and what else is to be said.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Fault, Reply};

use super::bead::{Bead, BeadRow, REMOVED};
use crate::files::more::{framed, room};

/// Beads, and how many there are.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BeadList {
    /// Who keeps them: a program, or the file of our own store.
    pub source: String,
    /// How many there are, shown or not.
    pub total: usize,
    /// Those from the one that was asked for on.
    pub beads: Vec<BeadRow>,
    /// True when more follow.
    pub truncated: bool,
    /// The `from` that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// What is odd about the files they are kept in.
    pub notes: Vec<String>,
}

/// The parts of a list.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) source: String,
    pub(super) rows: Vec<BeadRow>,
    pub(super) notes: Vec<String>,
}

impl Listed {
    /// Rows of these beads; what was deleted has none.
    pub(super) fn new<'b>(
        source: &str,
        beads: impl IntoIterator<Item = &'b Bead>,
        notes: Vec<String>,
    ) -> Self {
        let beads = beads.into_iter().filter(|bead| bead.status != REMOVED);
        Self { source: source.into(), rows: beads.map(Bead::row).collect(), notes }
    }

    /// The reply, from the given bead on, in this many bytes.
    pub(super) fn page(self, from: Option<usize>, what: &str, most: usize) -> Result<Reply<BeadList>, Fault> {
        let Self { source, rows, notes } = self;
        let (total, from) = (rows.len(), from.unwrap_or(1));
        if from == 0 || (from > total && from > 1) {
            return Err(Fault::invalid(format!("`from` is {from}, and there are {total} beads"))
                .hint("beads count from 1; leave it out to begin with the first"));
        }
        let told: String = notes.iter().fold(String::new(), |told, note| told + "Note: " + note + ".\n");
        let most = room(most).saturating_sub(told.len());
        let (mut text, mut shown) = (String::new(), Vec::new());
        for row in rows.into_iter().skip(from - 1) {
            let line = row.to_string();
            if text.len() + line.len() > most && !shown.is_empty() {
                break;
            }
            text.push_str(&line);
            text.push('\n');
            shown.push(row);
        }
        let last = from - 1 + shown.len();
        let next = (last < total).then_some(last + 1);
        match total {
            0 => text.push_str("No beads found\n"),
            1 => _ = writeln!(text, "1 bead{what} ({source})"),
            _ => _ = writeln!(text, "{total} beads{what} ({source})"),
        }
        text.push_str(&told);
        text.truncate(text.trim_end().len());
        if let Some(next) = next {
            text = framed(&format!("beads {from} to {last} of {total}; continue with from={next}"), &text);
        }
        let truncated = next.is_some();
        Ok(Reply::new(text, BeadList { source, total, beads: shown, truncated, next, notes }))
    }
}
