//! `py_region_wrap`: a stretch of lines between two comments that name it.

use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::indent;

use super::{
    Code, Only,
    args::Region,
    change::{Output, change},
};

/// Wraps lines in a region.
pub(super) fn run(code: &Code, ctx: &Ctx, args: Region, only: Only) -> Result<Reply<Output>, Fault> {
    let name = args.region_name.trim();
    if name.is_empty() || name.contains(['\n', '\r']) {
        return Err(Fault::invalid("region_name must be one line of text"));
    }
    change(code, ctx, only, args.dry_run, |opened, _| {
        let (first, last, count) = (args.start_line, args.end_line, opened.file.lines().count());
        if first < 1 || first > last || last > count {
            return Err(Fault::invalid(format!(
                "lines {first}-{last} are not in {}, which has {count} lines",
                opened.name
            ))
            .hint("start_line and end_line count from 1, and both are included"));
        }
        let start = opened.file.lines().range(first).map_or(0, |line| line.start);
        let end = opened.file.lines().range(last).map_or(opened.text().len(), |line| line.end);
        // The line after the last begins a statement too, or a statement is cut in two.
        let goes_on = indent::goes_on(opened.source.language(), opened.text());
        let cut = |line: usize| goes_on.get(line).copied().unwrap_or(false);
        if cut(first - 1) || cut(last) {
            return Err(Fault::invalid(format!("lines {first}-{last} begin or end inside a statement"))
                .hint("choose lines so that whole statements are wrapped"));
        }
        let comment = opened.source.language().pack().style.comment;
        let indent = opened.indent_at(start);
        let before = format!("{indent}{comment}region: {name}\n");
        let ended = opened.text()[..end].ends_with(['\n', '\r']);
        let after = if ended {
            format!("{indent}{comment}endregion: {name}\n")
        } else {
            format!("\n{indent}{comment}endregion: {name}")
        };
        let note = format!("Wrapped lines {first}-{last} of {} in region {name}", opened.name);
        Ok((vec![(start..start, before), (end..end, after)], vec![note]))
    })
}
