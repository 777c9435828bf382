//! Parsing with a grammar, within limits: a file that is too large or takes too long is one
//! error of its own.

use std::ops::{ControlFlow, Range};

use tree_sitter::{InputEdit, Language, Node, ParseOptions, Parser, Point, Tree};

use crate::Span;

/// The largest text a grammar is given. At 5 MB a second that is about three seconds of work;
/// generated files beyond it are outlined by packs that skim, and refused by the others.
pub const MOST_PARSED: usize = 16 * 1024 * 1024;

/// Asked now and then during long work: true ends it.
pub type Stop<'s> = &'s dyn Fn() -> bool;

/// The reasons for having no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unparsed {
    /// Over [`MOST_PARSED`].
    #[error("the file has {0} bytes, and files over {MOST_PARSED} are not parsed")]
    TooLarge(usize),
    /// It took longer than this many seconds.
    #[error("it took longer than {0} seconds")]
    Late(u64),
    /// The caller wanted no more.
    #[error("parsing was stopped")]
    Stopped,
    /// The grammar does not fit this build.
    #[error("the {0} grammar cannot be loaded")]
    Grammar(&'static str),
}

/// Parses a text. `old` is a tree of a former text, already told of the edits.
pub(crate) fn parse(
    (grammar, title): (&Language, &'static str),
    text: &str,
    old: Option<&Tree>,
    stop: Stop<'_>,
) -> Result<Tree, Unparsed> {
    if text.len() > MOST_PARSED {
        return Err(Unparsed::TooLarge(text.len()));
    }
    let mut parser = Parser::new();
    parser.set_language(grammar).map_err(|_| Unparsed::Grammar(title))?;
    let mut watch = |_: &_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let bytes = text.as_bytes();
    let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, old, Some(options)).ok_or(Unparsed::Stopped)
}

/// Tells a tree that a range of its text was replaced.
pub(crate) fn edit(tree: &mut Tree, text: &str, range: &Range<usize>, inserted: &str) {
    let start_position = point(text, range.start);
    let grown = format!("{}{inserted}", &text[line_start(text, range.start)..range.start]);
    let new_end = point(&grown, grown.len());
    tree.edit(&InputEdit {
        start_byte: range.start,
        old_end_byte: range.end,
        new_end_byte: range.start + inserted.len(),
        start_position,
        old_end_position: point(text, range.end),
        new_end_position: Point { row: start_position.row + new_end.row, column: new_end.column },
    });
}

fn point(text: &str, offset: usize) -> Point {
    let before = &text.as_bytes()[..offset];
    Point {
        row: memchr::memchr_iter(b'\n', before).count(),
        column: offset - memchr::memrchr(b'\n', before).map_or(0, |at| at + 1),
    }
}

fn line_start(text: &str, offset: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..offset]).map_or(0, |at| at + 1)
}

pub(crate) fn span(node: Node<'_>) -> Span {
    Span::from(node.byte_range())
}
