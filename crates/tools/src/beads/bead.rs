//! One bead, wherever it is kept, and the words it is made of.

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::Fault;
use tectum_state::Moment;

/// The statuses of our own store.
pub(super) const STATUSES: [&str; 5] = ["open", "in_progress", "blocked", "closed", "deferred"];
/// The longest title, which is that of `bd`.
const LONGEST_TITLE: usize = 500;
/// The longest description: it may have to fit on a command line.
const LONGEST_DESCRIPTION: usize = 64 * 1024;
/// The status that `bd` gives a bead that was deleted.
pub(super) const REMOVED: &str = "tombstone";
const LONGEST_ID: usize = 128;

/// One bead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bead {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) status: String,
    pub(super) created: Option<Moment>,
    /// The beads that must be closed before it.
    pub(super) depends_on: Vec<String>,
    /// The beads that it must be closed before.
    pub(super) blocks: Vec<String>,
    /// The beads that it waits with: where one of these waits, so does it.
    pub(super) under: Vec<String>,
    /// Not ready before this.
    pub(super) not_before: Option<Moment>,
}

/// A bead as a reply shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BeadRow {
    /// Its id.
    pub id: String,
    /// Its status.
    pub status: String,
    /// Its title.
    pub title: String,
}

impl Bead {
    pub(super) fn is_closed(&self) -> bool {
        matches!(self.status.as_str(), "closed" | REMOVED)
    }

    pub(super) fn row(&self) -> BeadRow {
        let plain = |text: &str| text.replace(char::is_control, " ");
        BeadRow { id: plain(&self.id), status: plain(&self.status), title: plain(&self.title) }
    }
}

impl std::fmt::Display for BeadRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ID: {}, Status: {}, Title: {}", self.id, self.status, self.title)
    }
}

/// Refuses what cannot be an id. No id can be taken for an option, since none begins with a dash.
pub(super) fn check_id(id: &str) -> Result<(), Fault> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if id.len() <= LONGEST_ID && id.bytes().all(fits) && id.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Ok(());
    }
    Err(Fault::invalid(format!("`{}` is not the id of a bead", id.escape_debug()))
        .hint("ids are like bd-a1b2; bd_list shows them"))
}

/// Refuses what cannot be a status anywhere.
pub(super) fn check_word(status: &str) -> Result<(), Fault> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let begins = status.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && status.len() <= 64 && status.bytes().all(fits) {
        return Ok(());
    }
    Err(no_status(status))
}

/// Refuses what is no status of our own store.
pub(super) fn check_status(status: &str) -> Result<(), Fault> {
    if STATUSES.contains(&status) { Ok(()) } else { Err(no_status(status)) }
}

fn no_status(status: &str) -> Fault {
    Fault::invalid(format!("`{}` is not a status", status.escape_debug()))
        .hint(format!("the statuses are {}", STATUSES.join(", ")))
}

/// Refuses a title that does not fit in a row, and a description that fits nowhere.
pub(super) fn check_words(title: &str, description: &str) -> Result<(), Fault> {
    if title.trim().is_empty() {
        return Err(Fault::invalid("the title is empty").hint("say in a few words what is to be done"));
    }
    if title.chars().count() > LONGEST_TITLE || title.contains(char::is_control) {
        return Err(Fault::invalid(format!("a title is one line of at most {LONGEST_TITLE} characters"))
            .hint("shorten it, and put the rest into the description"));
    }
    if description.len() > LONGEST_DESCRIPTION || description.contains('\0') {
        return Err(Fault::invalid(format!(
            "a description has at most {LONGEST_DESCRIPTION} bytes, none of them zero"
        ))
        .hint("put long texts into a file and name it in the description"));
    }
    Ok(())
}
