//! `search_content`: lines by regular expression or plain text, in a file or below a directory.

use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{
    Card, Fault, Wants,
    security::{Access, RawPath},
};
use tectum_native::NativeTool;

use super::{
    glob::Globs,
    list_directory::here,
    search::{self, Mode, Request},
};
use crate::{Settings, cards::SEARCHES};

/// Matching lines (or files) in one reply unless asked otherwise.
const PAGE: usize = 500;
/// The most that can be asked for at once.
const MOST_PER_PAGE: usize = 10_000;
/// Lines a search holds to sort them; paging ends there.
const MOST_HELD: usize = 200_000;
/// Context lines on either side.
const MOST_CONTEXT: usize = 50;
/// A compiled pattern may take this much memory, and its cache as much again.
const MOST_PATTERN: usize = 32 * 1024 * 1024;

/// Search code or text in files (grep): lines that match a regular expression.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "here")]
    path: RawPath,
    pattern: String,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    case: Case,
    #[serde(default)]
    word: bool,
    #[serde(default)]
    multiline: bool,
    /// Globs.
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    #[serde(default)]
    context: usize,
    #[serde(default)]
    mode: Mode,
    limit: Option<usize>,
    #[serde(default)]
    from: usize,
    #[serde(default)]
    include_ignored: bool,
    #[serde(default)]
    include_hidden: bool,
    max_per_file: Option<u64>,
}

/// How letter case counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub(super) enum Case {
    /// `a` is not `A`.
    #[default]
    Sensitive,
    /// `a` is `A`.
    Insensitive,
    /// Sensitive only if the pattern has a capital letter.
    Smart,
}

/// Searches the content of files.
pub fn search_content(settings: &Settings) -> NativeTool {
    let (threads, max_file) = (settings.threads, settings.max_file);
    let card = Card { name: "search_content", title: "Search content", ..SEARCHES };
    let wants = |args: &Args| Wants::path(&args.path, Access::Read);
    NativeTool::row(card, "", wants, move |ctx, args| {
        let request = compile(&args, threads.count(), max_file)?;
        let findings = search::run(ctx, &request)?;
        Ok(search::render(ctx, &request, findings))
    })
}

/// Compiles pattern and globs and checks the numbers.
fn compile(args: &Args, threads: usize, max_file: u64) -> Result<Request, Fault> {
    let globs = |globs: &[String]| match globs {
        [] => Ok(None),
        globs => Globs::compile(globs).map(Some),
    };
    let limit = args.limit.unwrap_or(PAGE);
    if limit == 0 || limit > MOST_PER_PAGE {
        return Err(Fault::invalid(format!("`limit` must be 1 to {MOST_PER_PAGE}, got {limit}")));
    }
    if args.context > MOST_CONTEXT {
        return Err(Fault::invalid(format!(
            "`context` must be at most {MOST_CONTEXT}, got {}",
            args.context
        )));
    }
    if args.max_per_file == Some(0) {
        return Err(Fault::invalid("`max_per_file` must be at least 1"));
    }
    let context = if args.mode == Mode::Lines { args.context } else { 0 };
    let most = MOST_HELD / (1 + 2 * context);
    if args.from >= most {
        return Err(Fault::invalid(format!("`from` must be less than {most} here, got {}", args.from))
                .hint("narrow the search: a smaller path, include globs, or mode=\"count\" to see where the matches are"));
    }
    let limit = limit.min(most - args.from);
    Ok(Request {
        matcher: matcher(args)?,
        include: globs(&args.include)?,
        exclude: globs(&args.exclude)?,
        multiline: args.multiline,
        context,
        mode: args.mode,
        from: args.from,
        limit,
        most,
        // Files and counts are told of as they are; only lines can be too many.
        max_per_file: args.max_per_file.filter(|_| args.mode == Mode::Lines),
        ignored: args.include_ignored,
        hidden: args.include_hidden,
        threads,
        max_file,
    })
}

fn matcher(args: &Args) -> Result<RegexMatcher, Fault> {
    if args.pattern.is_empty() {
        return Err(Fault::invalid("`pattern` is empty; it would match every line"));
    }
    let across = args.literal && args.multiline && args.pattern.contains('\n');
    let pattern = if across { any_line_end(&args.pattern) } else { args.pattern.clone() };
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .word(args.word)
        .fixed_strings(args.literal && !across)
        .case_insensitive(args.case == Case::Insensitive)
        .case_smart(args.case == Case::Smart)
        .size_limit(MOST_PATTERN)
        .dfa_size_limit(MOST_PATTERN)
        // `$` stands before `\r\n` as well as before `\n`.
        .crlf(true)
        .line_terminator(if args.multiline { None } else { Some(b'\n') });
    builder.build_many(&[&pattern]).map_err(|error| match error.kind() {
        ErrorKind::NotAllowed(_) => {
            Fault::invalid("the pattern asks for a line end, but lines are searched one by one")
                .hint("pass multiline=true to let a match cross line ends")
        }
        ErrorKind::Regex(said) if said.contains("size limit") => {
            Fault::invalid(format!("the pattern takes more than {} MiB once compiled", MOST_PATTERN >> 20))
                .hint("repeat less: `{1,1000}` of something large multiplies; or search for a part of it")
        }
        _ => Fault::invalid(format!("the pattern is not a regular expression: {error}")).hint(
            "escape special characters with a backslash, or pass literal=true to search for plain text",
        ),
    })
}

/// Plain text as a regular expression whose line ends stand for `\r\n` as well.
fn any_line_end(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        match c {
            '\n' => pattern.push_str(r"\r?\n"),
            c if r"\.+*?()|[]{}^$#&-~".contains(c) => pattern.extend(['\\', c]),
            c => pattern.push(c),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_plain_across_lines() {
        assert_eq!(any_line_end("a.b(\n\\n"), r"a\.b\(\r?\n\\n");
    }
}
