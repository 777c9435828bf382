//! The one door to the full parser, which recurses: no text passes that could exhaust its stack.

use ruff_python_ast::{ModModule, PythonVersion};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};

use super::depth::{bound, measure};
use crate::{Problem, Span};

/// The newest stable version of the language: what it accepts is right.
pub(super) const VERSION: PythonVersion = PythonVersion::latest();

/// Levels that fit the stack of any thread, the parser's own frames and ours together.
const SHALLOW: usize = 64;

/// The stack a thread needs before any nesting.
const STACK_BASE: usize = 4 << 20;

/// The stack that one level of a tree may take while it is visited or dropped. Frames are several times
/// larger where they are not optimised.
const STACK_PER_LEVEL: usize = if cfg!(debug_assertions) { 8 << 10 } else { 1 << 10 };

/// Levels for which a thread's stack is reserved; of a stack only what is touched is committed.
/// Beyond it a text must be plain, so that its levels are known and not only bounded.
const MOST_RESERVED: usize = (1 << 30) / STACK_PER_LEVEL;

/// Texts up to this size are given a level for every byte, which is cheaper than counting.
const SMALL: usize = MOST_RESERVED / 8;

/// Parses a text and hands the tree over, on a thread with a larger stack if it may be deep. The
/// error says why the text is not parsed.
pub(super) fn with_tree<T: Send>(
    text: &str,
    job: impl FnOnce(&Parsed<ModModule>) -> T + Send,
) -> Result<T, Problem> {
    let refuse = |message: &str| Problem { span: Span::at(0), message: message.to_owned() };
    if u32::try_from(text.len()).is_err() {
        return Err(refuse("too large to be checked"));
    }
    let depth = measure(text)?;
    let run = move || {
        let parse = |text: &str| {
            let options = ParseOptions::from(Mode::Module).with_target_version(VERSION);
            parse_unchecked(text, options).try_into_module()
        };
        let parsed = parse(text)?;
        if parsed.errors().is_empty() {
            return Some(job(&parsed));
        }
        let named =
            plainly_named(text).and_then(|text| parse(&text)).filter(|other| other.errors().is_empty());
        Some(job(named.as_ref().unwrap_or(&parsed)))
    };
    let done = if depth.plain && depth.levels <= SHALLOW {
        run()
    } else {
        let levels = match () {
            () if depth.plain => depth.levels,
            () if text.len() <= SMALL => text.len(),
            () => bound(text),
        };
        if levels > MOST_RESERVED {
            return Err(refuse("too large to be checked while strings or brackets are in doubt"));
        }
        let stack = STACK_BASE + levels * STACK_PER_LEVEL;
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("python-parser".into()).stack_size(stack);
            thread.spawn_scoped(scope, run).ok().and_then(|handle| handle.join().ok()).flatten()
        })
    };
    done.ok_or_else(|| refuse("could not be checked"))
}

/// The text with another name for every `match` that follows a semicolon: only simple statements
/// stand there, so that it is a name, but the parser takes it for the keyword. None if there is
/// no such place. Inside strings and comments the change means nothing.
fn plainly_named(text: &str) -> Option<String> {
    const NAME: &str = "match";
    const OTHER: &str = "m_tch";
    let mut changed: Option<String> = None;
    for (at, _) in text.match_indices(NAME) {
        let before = text[..at].trim_end_matches([' ', '\t', '\x0c']);
        let joins = |c: char| c == '_' || c.is_alphanumeric();
        if before.ends_with(';') && !text[at + NAME.len()..].starts_with(joins) {
            changed.get_or_insert_with(|| text.to_owned()).replace_range(at..at + NAME.len(), OTHER);
        }
    }
    changed
}
