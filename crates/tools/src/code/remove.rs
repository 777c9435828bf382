//! `code_remove`: a definition taken away, with its decorators and documentation.

use std::ops::Range;

use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Bodies, Span, delta, names};

use super::{
    Code, Only, Opened,
    args::Removal,
    change::{Edits, Output, change},
    lookup::unparsed,
};

/// Removes a definition.
pub(super) fn run(code: &Code, ctx: &Ctx, args: &Removal, only: Only) -> Result<Reply<Output>, Fault> {
    change(code, ctx, only, args.dry_run, |opened, outline| {
        let index = opened.one(outline, &args.name, |_| true)?;
        let symbol = &outline.symbols[index as usize];
        let name = names::full_name(opened.source.language().pack(), opened.text(), outline, index);
        let (edits, filled) = without(ctx, opened, opened.with_doc(symbol))?;
        let mut notes =
            vec![format!("Removed {name} from {} (was {})", opened.name, opened.lines(symbol.whole))];
        if filled {
            notes.push("Note: nothing else was in its block, so `pass` stands there now".to_owned());
        }
        Ok((edits, notes))
    })
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
    let broken =
        !delta::introduced((opened.text(), &was), (after.text(), &is), std::slice::from_ref(&(at..at)))
            .is_empty();
    let alone = opened.text()[opened.line_start(span.start as usize)..span.start as usize].trim().is_empty();
    if broken && alone {
        return Ok((vec![(span.range(), "pass".to_owned())], true));
    }
    Ok((plain, false))
}

/// The lines of a stretch, with one of the two blank runs around them. A stretch that shares
/// its lines with other code goes alone.
fn excised(opened: &Opened, span: Span) -> Range<usize> {
    let text = opened.text();
    let (first, last) = (opened.line_start(span.start as usize), opened.line_end(span.end as usize - 1));
    let alone =
        text[first..span.start as usize].trim().is_empty() && text[span.end as usize..last].trim().is_empty();
    if !alone {
        return span.range();
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
    let more_before = text[before..first].matches('\n').count() >= text[last..after].matches('\n').count();
    if more_before { first..after } else { before..last }
}

/// Where the blank lines before a line begin.
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

/// Where the blank lines after a line end.
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
