//! `issues.jsonl`, the export that `bd` and `br` write beside their databases. It is read where neither
//! is installed, and never written.

use serde::Deserialize;
use tectum_state::Moment;

use super::{bead::Bead, store::lines};

/// The content of an export.
#[derive(Debug, Default)]
pub(super) struct Export {
    pub(super) beads: Vec<Bead>,
    pub(super) broken: Vec<String>,
    /// Its newest change.
    pub(super) newest: Option<Moment>,
}

/// The members of a line that are read; whatever else it has is its own business.
#[derive(Debug, Deserialize)]
struct IssueLine {
    id: String,
    #[serde(default)]
    title: String,
    status: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
    defer_until: Option<String>,
    dependencies: Option<Vec<Dependency>>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    depends_on_id: String,
    #[serde(default, rename = "type")]
    kind: String,
}

impl Export {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut export = Self::default();
        for (number, place) in lines(bytes) {
            match serde_json::from_slice::<IssueLine>(&bytes[place]) {
                Ok(line) => export.take(line),
                Err(error) => export.broken.push(format!("line {number} is no bead ({error})")),
            }
        }
        export
    }

    fn take(&mut self, line: IssueLine) {
        let moment = |text: Option<String>| text.as_deref().and_then(Moment::parse);
        self.newest = self.newest.max(moment(line.updated_at));
        let mut bead = Bead {
            id: line.id,
            title: line.title,
            status: line.status.unwrap_or_else(|| "open".into()),
            created: moment(line.created_at),
            not_before: moment(line.defer_until),
            ..Bead::default()
        };
        for Dependency { depends_on_id, kind } in line.dependencies.unwrap_or_default() {
            match kind.as_str() {
                "blocks" | "conditional-blocks" | "waits-for" | "" => bead.depends_on.push(depends_on_id),
                // A child waits where its parent does; an open parent alone holds nobody.
                "parent-child" => bead.under.push(depends_on_id),
                _ => {}
            }
        }
        self.beads.push(bead);
    }
}
