//! Saying which directories lie too deep to be entered, and where.

use tectum_core::security::{MAX_DEPTH, WalkReport};

use super::{ground::Ground, spelling::count};

/// Characters of the place that is named: as much as a path that can be asked for has at most.
const MOST_NAMED: usize = 4096;

/// `1 directory lies more than 256 levels down and was not entered: …`; nothing when all were.
pub(super) fn not_entered(report: &WalkReport, ground: &Ground) -> Option<String> {
    let first = ground.spell(report.too_deep_at.as_deref()?);
    let place: String = first.chars().take(MOST_NAMED).collect();
    let (directories, lie) = match report.too_deep {
        1 => ("1 directory".to_owned(), "lies more than"),
        many => (count(many as u64, "directory", "directories"), "lie more than"),
    };
    let entered = if report.too_deep == 1 { "was not entered" } else { "were not entered, the first" };
    Some(format!(
        "{directories} {lie} {MAX_DEPTH} levels down and {entered}: {place} (name it as `path` to go on there)"
    ))
}
