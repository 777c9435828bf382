//! The place of new code: an anchor in a call becomes an offset, an indentation and the blank lines
//! that are usual there.

use tectum_core::{Ctx, Fault};
use tectum_syntax::{Bodies, Outline, Symbol, indent};

use super::{
    Opened,
    args::AnchorType,
    lookup::unparsed,
    remove::{blank_after, blank_before},
};

/// A place for new code.
#[derive(Debug)]
pub(super) struct Spot {
    /// Its offset in the text.
    offset: usize,
    /// The indentation of the code.
    base: String,
    /// One level deeper than that.
    unit: Option<String>,
    /// Blank lines before the code.
    before: usize,
    /// Blank lines after it.
    after: usize,
    /// The symbol the code will stand in.
    pub(super) parent: Option<u32>,
}

/// Finds the place an anchor means.
pub(super) fn find(
    ctx: &Ctx,
    opened: &Opened,
    outline: &Outline,
    anchor: AnchorType,
    symbol: Option<&str>,
) -> Result<Spot, Fault> {
    let named = || {
        let wanted = symbol.filter(|name| !name.trim().is_empty());
        wanted.ok_or_else(|| Fault::invalid("this anchor_type needs an anchor_symbol"))
    };
    match anchor {
        AnchorType::Before => {
            let index = opened.one(outline, named()?, |_| true)?;
            Ok(beside(opened, outline, index, InsertSide::Before))
        }
        AnchorType::After => {
            let index = opened.one(outline, named()?, |_| true)?;
            Ok(beside(opened, outline, index, InsertSide::After))
        }
        AnchorType::InsideStart | AnchorType::InsideEnd => {
            let index = holder(opened, outline, named()?)?;
            inside(opened, outline, index, anchor == AnchorType::InsideStart)
        }
        AnchorType::Top | AnchorType::Bottom if symbol.is_some_and(|name| !name.trim().is_empty()) => {
            Err(Fault::invalid("anchor_symbol has no meaning with anchor_type top or bottom")
                .hint("use before, after, inside_start or inside_end, or leave anchor_symbol out"))
        }
        AnchorType::Top => top(ctx, opened, outline),
        AnchorType::Bottom => Ok(bottom(opened, outline)),
    }
}

/// The symbol of a name that can hold others. A constructor has the name of its type, and only
/// the type holds definitions. Where fields stand in a type and its functions beside it, only the
/// caller knows which is meant.
fn holder(opened: &Opened, outline: &Outline, name: &str) -> Result<u32, Fault> {
    let has_body = |symbol: &Symbol| !symbol.body.is_empty();
    let found = opened.all(outline, name, has_body)?;
    let mut types = found.iter().filter(|index| outline.symbols[**index as usize].kind.is_type());
    match (types.next(), types.next()) {
        (Some(one), None) => Ok(*one),
        (Some(_), Some(_)) => Err(opened.ambiguous(outline, name, &found)),
        _ => opened.one(outline, name, has_body),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum InsertSide {
    Before,
    After,
}

fn beside(opened: &Opened, outline: &Outline, index: u32, side: InsertSide) -> Spot {
    let symbol = &outline.symbols[index as usize];
    let whole = opened.with_doc(symbol);
    let blank = usual_blank(opened, symbol);
    let (offset, before, after) = match side {
        InsertSide::Before => (opened.line_start(whole.start as usize), 0, blank),
        InsertSide::After => (opened.line_end(whole.end as usize - 1), blank, 0),
    };
    Spot {
        offset,
        base: opened.indent_at(whole.start as usize).to_owned(),
        unit: opened.unit(outline, Some(index)),
        before,
        after,
        parent: symbol.parent,
    }
}

/// Blank lines that separate definitions here: as many as around the symbol, else the usual.
fn usual_blank(opened: &Opened, symbol: &Symbol) -> usize {
    let usual = if symbol.parent.is_none() { blank_at_top(opened) } else { 1 };
    let text = opened.text();
    let whole = opened.with_doc(symbol);
    let (start, end) = (opened.line_start(whole.start as usize), opened.line_end(whole.end as usize - 1));
    let before = blank_before(opened, start);
    let after = blank_after(opened, end);
    let count = |blank: &str| crate::text::split(blank).len();
    let mut seen = Vec::new();
    if before > 0 {
        seen.push(count(&text[before..start]));
    }
    if after < text.len() {
        seen.push(count(&text[end..after]));
    }
    seen.into_iter()
        .max()
        .filter(|lines| *lines <= 3)
        .unwrap_or(usual)
        .max(usize::from(symbol.kind.is_callable()))
}

pub(super) fn blank_at_top(opened: &Opened) -> usize {
    if opened.source.language().pack().style.bodies == Bodies::Indented { 2 } else { 1 }
}

fn inside(opened: &Opened, outline: &Outline, index: u32, at_start: bool) -> Result<Spot, Fault> {
    let symbol = &outline.symbols[index as usize];
    let text = opened.text();
    let outer = opened.indent_at(symbol.head.start as usize);
    let unit = opened.unit(outline, Some(index));
    let step = unit.clone().unwrap_or_else(|| "    ".to_owned());
    let base = format!("{outer}{step}");
    let has_others = outline.children(Some(index)).next().is_some();
    let spot = |offset, before, after| Spot {
        offset,
        base: base.clone(),
        unit: unit.clone(),
        before,
        after,
        parent: Some(index),
    };
    let body = symbol.body.range();
    let one_line = opened.file.lines().at(body.start) == opened.file.lines().at(body.end.max(1) - 1);
    if opened.source.language().pack().style.bodies == Bodies::Braced {
        let open = body.start + 1;
        if one_line && !text[open..body.end - 1].trim().is_empty() {
            return Err(one_line_body(symbol.name.slice(text)));
        }
        let offset = if at_start {
            opened.line_end(body.start).min(body.end - 1)
        } else {
            opened.line_start(body.end - 1).max(open)
        };
        let gap = usize::from(has_others);
        return Ok(if at_start { spot(offset, 0, gap) } else { spot(offset, gap, 0) });
    }
    if opened.line_start(body.start) <= symbol.head.start as usize {
        return Err(one_line_body(symbol.name.slice(text)));
    }
    let gap = usize::from(has_others);
    if !at_start {
        return Ok(spot(opened.line_end(symbol.body.end as usize - 1), 1, 0));
    }
    // After the docstring, where there is one inside.
    let documented = symbol.body.start <= symbol.doc.start && !symbol.doc.is_empty();
    Ok(if documented {
        spot(opened.line_end(symbol.doc.end as usize - 1), 1, 0)
    } else {
        spot(opened.line_start(body.start), 0, gap)
    })
}

fn one_line_body(name: &str) -> Fault {
    Fault::conflict(format!("the body of {name} stands on one line, so nothing can be put into it"))
        .hint("rewrite it with code_update_definition")
}

/// After the imports and the documentation of the file.
fn top(ctx: &Ctx, opened: &Opened, outline: &Outline) -> Result<Spot, Fault> {
    let offset = after_imports(ctx, opened, outline)?;
    let blank = blank_at_top(opened);
    let (before, after) = (if offset == 0 { 0 } else { blank }, blank);
    // The blank run that stands there is used up.
    let existing = blank_after(opened, offset);
    let (offset, before) = match crate::text::split(&opened.text()[offset..existing]).len() {
        0 => (offset, before),
        lines => (existing, before.saturating_sub(lines)),
    };
    Ok(Spot { offset, base: String::new(), unit: opened.unit(outline, None), before, after, parent: None })
}

/// The end of the line after which the first definition may stand.
pub(super) fn after_imports(ctx: &Ctx, opened: &Opened, outline: &Outline) -> Result<usize, Fault> {
    let language = opened.source.language();
    let imports = language.imports(opened.text(), &|| ctx.cancel.is_cancelled());
    let imports = imports.map_err(|why| unparsed(&opened.name, why))?;
    let functions =
        outline.symbols.iter().filter(|symbol| symbol.kind.is_callable() || symbol.kind.is_type());
    let first = functions.map(|symbol| opened.with_doc(symbol).start).min().unwrap_or(u32::MAX);
    let indented = language.pack().style.bodies == Bodies::Indented;
    let leading = imports.iter().filter(|import| {
        let at_margin = opened.line_start(import.span.start as usize) == import.span.start as usize;
        import.span.end <= first && (at_margin || !indented)
    });
    if let Some(end) = leading.map(|import| import.span.end).max() {
        return Ok(opened.line_end(after_group(opened.text(), end as usize) - 1));
    }
    if let Some(end) = package_end(opened) {
        return Ok(end);
    }
    let doc = language.pack().front.module_doc.map(|doc| doc(opened.text())).unwrap_or_default();
    if !doc.is_empty() {
        return Ok(opened.line_end(doc.end as usize - 1));
    }
    // Before the first definition; a file without any begins with what explains it.
    let before = if first == u32::MAX { comment_end(opened) } else { opened.line_start(first as usize) };
    Ok(before)
}

/// The end of the group of imports that one stands in.
fn after_group(text: &str, end: usize) -> usize {
    let rest = text[end..].trim_start_matches(|c: char| c.is_whitespace() || c == ';' || c == ',');
    if rest.starts_with([')', '}']) { text.len() - rest.len() + 1 } else { end }
}

/// The end of the line with the clause that the file must begin with.
pub(super) fn package_end(opened: &Opened) -> Option<usize> {
    let word = opened.source.language().pack().style.package;
    let lines = crate::text::split(opened.text());
    let mut end = 0;
    for line in lines {
        end += line.len();
        let begins = line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t']));
        if !word.is_empty() && begins {
            return Some(end);
        }
    }
    None
}

/// The end of the comment lines at the start of a file.
fn comment_end(opened: &Opened) -> usize {
    let sign = opened.source.language().pack().style.comment;
    let mut end = 0;
    for line in crate::text::split(opened.text()) {
        if !line.starts_with(sign) && !line.starts_with("#!") {
            break;
        }
        end += line.len();
    }
    end
}

fn bottom(opened: &Opened, outline: &Outline) -> Spot {
    let text = opened.text();
    let end = text.trim_end().len();
    let offset = if end == 0 { 0 } else { opened.line_end(end - 1) };
    let before = if offset == 0 { 0 } else { blank_at_top(opened) };
    Spot { offset, base: String::new(), unit: opened.unit(outline, None), before, after: 0, parent: None }
}

impl Spot {
    /// Content as deep as the place.
    pub(super) fn fitted(&self, opened: &Opened, content: &str) -> String {
        indent::fit(opened.source.language(), content, &self.base, self.unit.as_deref())
    }

    /// The edit that puts content there.
    pub(super) fn filled(&self, opened: &Opened, content: &str) -> (std::ops::Range<usize>, String) {
        let fitted = self.fitted(opened, content);
        let before = &opened.text()[..self.offset];
        let mut inserted = String::new();
        // Behind a last line without an end, or between two braces on one line.
        let starts_line = before.is_empty() || before.ends_with(['\n', '\r']);
        if !starts_line {
            inserted.push('\n');
        }
        inserted.push_str(&"\n".repeat(self.before));
        inserted.push_str(&fitted);
        let rest = &opened.text()[self.offset..];
        let last = rest.is_empty() && !starts_line;
        if !last {
            inserted.push('\n');
        }
        // What stood on the same line, a closing brace, gets a line as deep as its own.
        if !starts_line && !rest.is_empty() && !rest.starts_with(['\n', '\r']) {
            inserted.push_str(opened.indent_at(self.offset));
        }
        inserted.push_str(&"\n".repeat(if rest.trim().is_empty() { 0 } else { self.after }));
        (self.offset..self.offset, inserted)
    }
}
