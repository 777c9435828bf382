//! `get_file_summary`: what a file holds, in a few lines, whatever it is.

mod sheet;

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Bodies, Detail, Kind, Outline, Pack, pack::Entries};

use self::sheet::{Sheet, place};
use super::{Code, Only, Opened, outline};
use crate::{files::spelling::count, text::TextFile};

/// Characters of a whole summary: it is read instead of the file.
const MOST: usize = 4_000;
/// Names of one line; the rest is counted.
const NAMES: usize = 60;
/// Entries of a data file that are deeper are left to whoever reads it.
const LEVELS: usize = 3;

/// A summary.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// What it is written in.
    pub language: String,
    /// How many lines it has.
    pub lines: usize,
    /// The summary.
    pub summary: String,
}

/// Sums up the call's file.
pub(super) fn run(code: &Code, ctx: &Ctx) -> Result<Reply<Output>, Fault> {
    let (name, file) = TextFile::of_call(ctx, 0, code.languages.max_file)?;
    let lines = file.lines().count();
    let (language, body) = match code.languages.find(&name, file.text(), Only::Outlined) {
        Err(_) => ("Text", start_of(file.text())),
        Ok(language) => {
            let pack = language.pack();
            let body = match pack.front.entries {
                Some(entries) => of_data(pack, entries, file.text()),
                None => of_code(ctx, &code.opened(name.clone(), file, Only::Any)?)?,
            };
            (pack.title, body)
        }
    };
    let language = language.to_owned();
    let mut summary =
        format!("**{language}** — {}\n{}", count(lines as u64, "line", "lines"), body.trim_end());
    if summary.chars().count() > MOST {
        let end = summary.char_indices().nth(MOST - 40).map_or(summary.len(), |(at, _)| at);
        summary.truncate(end);
        summary.push_str("\n[cut: code_outline shows all of it]");
    }
    Ok(Reply::new(summary.clone(), Output { path: name, language, lines, summary }))
}

fn of_data(pack: &Pack, entries: Entries, text: &str) -> String {
    let mut sheet = Sheet::new();
    let read = entries(text, &mut |entry| {
        if entry.level < LEVELS {
            sheet.line(entry.level, &entry.line);
        }
    });
    if let Err(problem) = read {
        let (line, column) = place(text, problem.span.start as usize);
        sheet = Sheet::new();
        let (title, message) = (pack.title, problem.message);
        sheet.line(0, &format!("not valid {title}: line {line}, column {column}: {message}"));
        sheet.start_of(text);
    }
    sheet.finish()
}

/// The beginning of a text.
fn start_of(text: &str) -> String {
    let mut sheet = Sheet::new();
    sheet.start_of(text);
    sheet.finish()
}

fn of_code(ctx: &Ctx, opened: &Opened) -> Result<String, Fault> {
    let stop = || ctx.cancel.is_cancelled();
    let mut body = String::new();
    // Errors first, then whatever could still be read.
    let problems = opened.source.check(&stop).unwrap_or_default();
    if let Some(first) = problems.first() {
        let place = super::check::place(&opened.file, first);
        let _ = writeln!(body, "syntax error at line {}: {}", place.line, place.message);
        let indented = opened.source.language().pack().style.bodies == Bodies::Indented;
        if indented {
            body.push_str(&start_of(opened.text()));
        }
    }
    let Ok(outline) = opened.source.outline(Detail::Full, &stop) else {
        body.push_str(&start_of(opened.text()));
        return Ok(body);
    };
    let imports = opened.source.language().imports(opened.text(), &stop).unwrap_or_default();
    let separator = opened.source.language().pack().style.separator;
    let mut modules: Vec<&str> = imports.iter().map(|import| top(&import.module, separator)).collect();
    modules.sort_unstable();
    modules.dedup();
    list(&mut body, "imports", &modules);
    let text = opened.text();
    let named = |kinds: &[Kind]| -> Vec<&str> {
        let fits = |(_, symbol): &(u32, &tectum_syntax::Symbol)| {
            kinds.contains(&symbol.kind) && symbol.scope.is_empty() && !symbol.name.is_empty()
        };
        let mut names: Vec<&str> =
            top_level(&outline).filter(fits).map(|(_, symbol)| symbol.name.slice(text)).collect();
        names.dedup();
        names
    };
    list(&mut body, "constants", &named(&[Kind::Constant]));
    for (index, symbol) in (0u32..).zip(&outline.symbols).filter(|(_, symbol)| symbol.kind.is_type()) {
        let bases = outline::bases(opened, ctx, Detail::Full, index, symbol)?;
        let bases = if bases.is_empty() { String::new() } else { format!("({})", bases.join(", ")) };
        let mut members: Vec<&str> = outline
            .children(Some(index))
            .filter(|(_, member)| member.kind.is_callable())
            .map(|(_, member)| member.name.slice(text))
            .collect();
        members.dedup();
        let word = symbol.kind.label().to_lowercase();
        let title = format!("{word} {}{bases}", outline::own_name(opened, symbol));
        if members.is_empty() {
            let _ = writeln!(body, "{title}");
        } else {
            list(&mut body, &title, &members)
        }
    }
    list(&mut body, "functions", &named(&[Kind::Function, Kind::Method]));
    list(&mut body, "macros", &named(&[Kind::Macro]));
    list(&mut body, "types", &named(&[Kind::Typedef]));
    Ok(body)
}

/// Symbols that stand in nothing but namespaces.
fn top_level(outline: &Outline) -> impl Iterator<Item = (u32, &tectum_syntax::Symbol)> {
    (0u32..).zip(&outline.symbols).filter(|(_, symbol)| {
        std::iter::successors(symbol.parent, |at| outline.symbols[*at as usize].parent)
            .all(|at| outline.symbols[at as usize].kind == Kind::Namespace)
    })
}

/// The first part of a module's name; all of a path.
fn top<'m>(module: &'m str, separator: &str) -> &'m str {
    if module.starts_with(['.', '<', '@']) || module.contains('/') {
        return module;
    }
    module.split(separator).next().unwrap_or(module)
}

fn list(body: &mut String, title: &str, names: &[&str]) {
    if names.is_empty() {
        return;
    }
    let shown = names[..names.len().min(NAMES)].join(", ");
    let more =
        if names.len() > NAMES { format!(", … {} more", names.len() - NAMES) } else { String::new() };
    let _ = writeln!(body, "{title}: {shown}{more}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{sheet::MOST_CHARS, *};

    fn of_data_file(name: &str, text: &str) -> Option<(&'static str, String)> {
        let packs = tectum_syntax::Packs::all();
        let pack = packs.by_name(name)?.pack();
        Some((pack.title, of_data(pack, pack.front.entries?, text)))
    }

    #[test]
    fn a_broken_file_is_told_and_shown() {
        let (_, text) = of_data_file("x.toml", "a = 1\nb = = 2\n").expect("known");
        assert!(text.starts_with("not valid TOML: line 2, column 5: "), "{text}");
        assert!(text.ends_with("\na = 1\nb = = 2\n"), "{text}");
        let (_, text) = of_data_file("x.json", "{\n  \"a\": ]\n}").expect("known");
        assert!(text.starts_with("not valid JSON: line 2, column 8: "), "{text}");
        assert!(text.ends_with("\n{\n  \"a\": ]\n}\n"), "{text}");
    }

    #[test]
    fn a_summary_never_grows_beyond_its_limit() {
        let keys: String = (0..100_000).map(|n| format!("key{n} = [{}]\n", "1,".repeat(20))).collect();
        let json =
            format!("{{{}}}", (0..100_000).map(|n| format!("\"k{n}\":{{}}")).collect::<Vec<_>>().join(","));
        let yaml: String = (0..100_000).map(|n| format!("key{n}:\n  - a\n")).collect();
        let headings: String = (0..100_000).map(|n| format!("# Heading {n}\n")).collect();
        let giant = "é".repeat(10_000_000);
        for (name, text) in [("a.toml", &keys), ("a.json", &json), ("a.yaml", &yaml), ("a.md", &headings)] {
            let (_, summary) = of_data_file(name, text).expect("known");
            assert!(summary.chars().count() <= MOST_CHARS, "{name}");
            assert!(summary.ends_with(" more lines left out]\n"), "{name}: {summary}");
        }
        for name in ["a.toml", "a.json", "a.yaml", "a.md"] {
            let (_, summary) = of_data_file(name, &giant).expect("known");
            assert!(summary.chars().count() <= MOST_CHARS, "{name}");
        }
    }

    #[test]
    fn deep_nesting_ends_well() {
        let deep = 200_000;
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("{a=", "}"), ("- ", ""), ("> ", ""), ("a.", "")]
        {
            let text = format!("{}{}", open.repeat(deep), close.repeat(deep));
            for name in ["a.toml", "a.json", "a.yaml", "a.md"] {
                for text in
                    [text.clone(), format!("a = {text}"), format!("{{\"x\": {text}}}"), format!("a: {text}")]
                {
                    let (_, summary) = of_data_file(name, &text).expect("known");
                    assert!(summary.chars().count() <= MOST_CHARS, "{name}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_ends_well(text in "\\PC{0,80}|([ -~\\n\\r\\t\u{c}#`=:'\"\\[\\]{}|>-]|\\PC){0,200}") {
            for name in ["a.toml", "a.json", "a.yaml", "a.md"] {
                let (_, summary) = of_data_file(name, &text).expect("known");
                prop_assert!(summary.chars().count() <= MOST_CHARS);
                prop_assert!(summary.is_empty() || summary.ends_with('\n'));
            }
        }
    }
}
