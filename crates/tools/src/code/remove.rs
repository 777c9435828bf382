//! `code_remove`: a definition taken away, with its decorators and documentation.

use std::ops::Range;

use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Bodies, Kind, Outline, Span, Symbol, delta, names};

use super::{
    Code, Only, Opened,
    args::Removal,
    change::{Edits, Output, change},
    lookup::unparsed,
};
use crate::files::spelling::count;

/// Removes a definition.
pub(super) fn run(code: &Code, ctx: &Ctx, args: Removal, only: Only) -> Result<Reply<Output>, Fault> {
    change(code, ctx, only, args.dry_run, |opened, outline| {
        let index = opened.one(outline, &args.name, |_| true)?;
        let symbol = &outline.symbols[index as usize];
        refuse_shared(opened, outline, index)?;
        let name = names::full_name(opened.source.language().pack(), opened.text(), outline, index);
        let (edits, filled) = without(ctx, opened, opened.with_doc(symbol))?;
        let verb = if args.dry_run { "Would remove" } else { "Removed" };
        let lines = opened.lines(symbol.whole);
        let mut notes = vec![format!("{verb} {name} from {} (was {lines})", opened.name)];
        if filled {
            notes.push("Note: nothing else was in its block, so `pass` stands there now".to_owned());
        }
        notes.extend(added_to(opened, outline, index));
        Ok((edits, notes))
    })
}

/// A note about blocks that add to a type which goes, and stay.
fn added_to(opened: &Opened, outline: &Outline, index: u32) -> Option<String> {
    let gone = &outline.symbols[index as usize];
    let name = gone.name.slice(opened.text());
    let adds = |symbol: &&Symbol| {
        let same = symbol.parent == gone.parent && symbol.name.slice(opened.text()) == name;
        same && symbol.kind == Kind::Impl && gone.kind != Kind::Impl
    };
    let blocks = outline.symbols.iter().filter(adds).count();
    let counted = count(blocks as u64, "block that adds", "blocks that add");
    (blocks > 0).then(|| format!("Note: {counted} to {name} stayed in {}", opened.name))
}

/// Refuses to take away a statement that defines other names too.
pub(super) fn refuse_shared(opened: &Opened, outline: &Outline, index: u32) -> Result<(), Fault> {
    let symbol = &outline.symbols[index as usize];
    let others: Vec<&str> = outline
        .symbols
        .iter()
        .filter(|other| other.whole == symbol.whole && other.name != symbol.name)
        .map(|other| other.name.slice(opened.text()))
        .filter(|name| !name.is_empty() && *name != symbol.name.slice(opened.text()))
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    Err(Fault::conflict(format!(
        "the statement that defines {} also defines {}; nothing was changed",
        super::outline::own_name(opened, symbol),
        others.join(", ")
    ))
    .hint("change the statement with edit_file"))
}

/// The edits that take a stretch away. In languages with indented blocks a block left empty
/// gets `pass`; then the second part is true.
pub(super) fn without(ctx: &Ctx, opened: &Opened, span: Span) -> Result<(Edits, bool), Fault> {
    let plain = vec![(excised(opened, span), String::new())];
    let language = opened.source.language();
    if language.pack().style.bodies != Bodies::Indented {
        return Ok((plain, false));
    }
    let stop = || ctx.cancel.is_cancelled();
    let check = |text: &str| language.check(text, &stop).map_err(|why| unparsed(&opened.name, why));
    let after = opened.file.edited(&plain)?;
    let (was, is) = (check(opened.text())?, check(after.text())?);
    let at = plain[0].0.start;
    let place = at..at;
    let fresh = delta::introduced((opened.text(), &was), (after.text(), &is), std::slice::from_ref(&place));
    let broken = !fresh.is_empty();
    if broken {
        return Ok((vec![(span.range(), "pass".to_owned())], true));
    }
    Ok((plain, false))
}

/// The lines of a stretch, with one of the two blank runs around them. A stretch that shares
/// its lines with other code goes alone, with the sign that separates it from that.
fn excised(opened: &Opened, span: Span) -> Range<usize> {
    let text = opened.text();
    let (first, last) = (opened.line_start(span.start as usize), opened.line_end(span.end as usize - 1));
    let (before, after) = (&text[first..span.start as usize], &text[span.end as usize..last]);
    let Range { start, mut end } = span.range();
    let behind = after.trim_start();
    let separated = behind.starts_with([',', ';']);
    if separated {
        end += after.len() - behind.len() + 1;
    }
    if !before.trim().is_empty() || !text[end..last].trim().is_empty() {
        if separated {
            return start
                ..end + (text[end..last].len() - text[end..last].trim_start_matches([' ', '\t']).len());
        }
        let ahead = before.trim_end();
        let joined = ahead.len() - ahead.trim_end_matches(';').len();
        return if joined > 0 { first + ahead.len() - joined..end } else { start..end };
    }
    let before = blank_before(opened, first);
    let after = blank_after(opened, last);
    if after == text.len() {
        // Nothing follows: the blank run before it would end the file.
        return before..after;
    }
    if before == 0 {
        return 0..after;
    }
    // The first and the last thing of a block leave no blank line behind.
    let opens = text[..before].trim_end().ends_with(['{', ':', '(']);
    let closes =
        text[after..].trim_start().starts_with(['}', ')']) || text[after..].trim_start().starts_with("end");
    let more_before = text[before..first].matches('\n').count() >= text[last..after].matches('\n').count();
    match (opens, closes) {
        (true, _) => first..after,
        (false, true) => before..last,
        _ if more_before => first..after,
        _ => before..last,
    }
}

/// The beginning of the blank lines before a line.
pub(super) fn blank_before(opened: &Opened, line_start: usize) -> usize {
    let mut start = line_start;
    while start > 0 {
        let before = opened.line_start(start - 1);
        if !opened.text()[before..start].trim().is_empty() {
            break;
        }
        start = before;
    }
    start
}

/// The end of the blank lines after a line.
pub(super) fn blank_after(opened: &Opened, line_end: usize) -> usize {
    let mut end = line_end;
    while end < opened.text().len() {
        let next = opened.line_end(end);
        if !opened.text()[end..next].trim().is_empty() {
            break;
        }
        end = next;
    }
    end
}
