//! The findings of each pack in its sample, as one snapshot a file. After a change of a query or a
//! front end, `INSTA_UPDATE=always cargo test -p tectum-syntax --test it samples` writes them anew, to
//! be read before they are kept.

use std::fmt::Write;

use tectum_syntax::{
    Detail, Import, Outline, Packs, Shadow, Source, Span,
    names::{self, Asked, Meaning},
};

use crate::sample::{self, Sample};

/// The questions about a pack's sample.
struct Questions {
    id: &'static str,
    /// Words whose mentions and shadows are told.
    words: &'static [&'static str],
    /// Functions whose calls are told.
    functions: &'static [&'static str],
}

const QUESTIONS: &[Questions] = &[
    Questions {
        id: "python",
        words: &["fetch", "station", "names"],
        functions: &["Station.fetch", "average", "After.after"],
    },
    Questions {
        id: "c",
        words: &["ring_put", "ring", "visit"],
        functions: &["ring_put", "ring_new", "after"],
    },
    Questions {
        id: "cpp",
        words: &["add", "at", "Sheet"],
        functions: &["Sheet::add", "main", "Broken::after"],
    },
    Questions {
        id: "rust",
        words: &["price", "count", "line"],
        functions: &["Line::total", "Line::reserve", "After::after"],
    },
    Questions {
        id: "typescript",
        words: &["find", "reader", "title"],
        functions: &["Book.lend", "find", "after"],
    },
    Questions {
        id: "tsx",
        words: &["Entry", "label", "Before"],
        functions: &["List", "App.render", "After"],
    },
    Questions {
        id: "javascript",
        words: &["water", "bed", "litres"],
        functions: &["water", "Bed.load", "after"],
    },
    Questions {
        id: "go",
        words: &["job", "Push", "log"],
        functions: &["Queue.Push", "State.Later", "Queue.After"],
    },
    Questions {
        id: "java",
        words: &["arrive", "name", "max"],
        functions: &["Station.arrive", "Ticket.Ticket", "Broken.after"],
    },
    Questions {
        id: "csharp",
        words: &["Cook", "pots", "Count"],
        functions: &["Stove.Cook", "Shelves.Count", "Broken.After"],
    },
    Questions {
        id: "ruby",
        words: &["moor", "boat", "load"],
        functions: &["Boat.load", "main", "Broken.after"],
    },
    Questions { id: "bash", words: &["say", "dir", "text"], functions: &["copy_one", "say", "after"] },
    Questions { id: "markdown", words: &[], functions: &[] },
    Questions { id: "yaml", words: &[], functions: &[] },
    Questions { id: "toml", words: &[], functions: &[] },
    Questions { id: "json", words: &[], functions: &[] },
];

#[test]
fn python() {
    check("python");
}

#[test]
fn c() {
    check("c");
}

#[test]
fn cpp() {
    check("cpp");
}

#[test]
fn rust() {
    check("rust");
}

#[test]
fn typescript() {
    check("typescript");
}

#[test]
fn tsx() {
    check("tsx");
}

#[test]
fn javascript() {
    check("javascript");
}

#[test]
fn go() {
    check("go");
}

#[test]
fn java() {
    check("java");
}

#[test]
fn csharp() {
    check("csharp");
}

#[test]
fn ruby() {
    check("ruby");
}

#[test]
fn bash() {
    check("bash");
}

#[test]
fn markdown() {
    check("markdown");
}

#[test]
fn yaml() {
    check("yaml");
}

#[test]
fn toml() {
    check("toml");
}

#[test]
fn json() {
    check("json");
}

/// Compares all that a pack says of its sample.
fn check(id: &str) {
    for sample in sample::all().iter().filter(|sample| sample.language.pack().id == id) {
        let name = format!("{id}__{}", sample.file);
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, told(sample));
        });
    }
}

#[test]
fn every_pack_is_asked() {
    let packs = Packs::all();
    let asked: Vec<&str> = QUESTIONS.iter().map(|questions| questions.id).collect();
    for language in packs.iter() {
        assert!(asked.contains(&language.pack().id), "{}", language.pack().id);
    }
}

#[test]
fn a_short_outline_is_a_full_one_without_details() {
    for Sample { language, file, text } in sample::all() {
        let short = language.outline(&text, Detail::Outline, &|| false).unwrap();
        let full = language.outline(&text, Detail::Full, &|| false).unwrap();
        assert!(short.symbols.len() <= full.symbols.len(), "{file}");
        for symbol in &short.symbols {
            let same = full.symbols.iter().find(|other| other.name == symbol.name);
            let same = same.unwrap_or_else(|| panic!("{file}: {}", symbol.name.slice(&text)));
            assert_eq!((symbol.kind, symbol.whole), (same.kind, same.whole), "{file}");
        }
    }
}

/// Everything a pack says of a file.
fn told(sample: &Sample) -> String {
    let Sample { language, text, .. } = sample;
    let id = language.pack().id;
    let questions = QUESTIONS.iter().find(|questions| questions.id == id);
    let questions = questions.unwrap_or_else(|| panic!("nothing is asked of {id}"));
    let source = Source::new(language.clone(), text.as_str().into());
    let outline = source.outline(Detail::Full, &|| false).unwrap();
    let mut out = String::new();
    symbols(&mut out, &source, &outline);
    if let Some(entries) = language.pack().front.entries {
        heading(&mut out, "entries");
        let _ = entries(text, &mut |entry| {
            let _ = writeln!(out, "{}{}", "  ".repeat(entry.level), entry.line);
        });
    }
    heading(&mut out, "imports");
    for import in language.imports(text, &|| false).unwrap() {
        let Import { span, module, name, local } = import;
        let name = name.map(|name| format!(" name {name}")).unwrap_or_default();
        let local = local.map(|local| format!(" as {local}")).unwrap_or_default();
        let _ = writeln!(out, "{}: {module}{name}{local}", lines(text, span));
    }
    for word in questions.words {
        words(&mut out, sample, word);
    }
    for function in questions.functions {
        calls(&mut out, sample, &outline, function);
    }
    heading(&mut out, "problems");
    for problem in source.check(&|| false).unwrap() {
        let _ = writeln!(out, "{}: {}", lines(text, problem.span), problem.message);
    }
    for gap in &outline.gaps {
        let _ = writeln!(out, "{}: gap: {}", lines(text, gap.span), gap.why);
    }
    out
}

fn heading(out: &mut String, title: &str) {
    let _ = writeln!(out, "\n{title}\n{}", "-".repeat(title.chars().count()));
}

/// One line a symbol: its kind and full name, its places, what it is, and its head.
fn symbols(out: &mut String, source: &Source, outline: &Outline) {
    let text = source.text();
    for (index, symbol) in (0u32..).zip(&outline.symbols) {
        let _ = write!(out, "{}", "  ".repeat(outline.depth(index)));
        let name = names::full_name(source.language().pack(), text, outline, index);
        let _ = write!(out, "[{}] {name} {}", symbol.kind.label(), lines(text, symbol.whole));
        for (what, span) in [("head", symbol.head), ("body", symbol.body), ("doc", symbol.doc)] {
            if !span.is_empty() {
                let _ = write!(out, ", {what} {}", lines(text, span));
            }
        }
        for (what, holds) in [("async", symbol.is_async), ("declaration", symbol.declaration)] {
            if holds {
                let _ = write!(out, ", {what}");
            }
        }
        let bases = match symbol.kind.is_type() {
            true => source.bases(Detail::Full, index, &|| false).unwrap(),
            false => Vec::new(),
        };
        for base in bases {
            let _ = write!(out, ", base {}", squeezed(base.slice(text)));
        }
        let _ = writeln!(out, " | {}", squeezed(symbol.head.slice(text)));
    }
}

/// Writes the places and roles of a word, and the places where it is bound anew.
fn words(out: &mut String, Sample { language, text, .. }: &Sample, word: &str) {
    let mentions = language.mentions(text, word, &|| false).unwrap();
    if mentions.is_empty() {
        return;
    }
    heading(out, &format!("mentions of {word}"));
    let shadows = language.shadows(text, word, &|| false).unwrap();
    for mention in mentions {
        let member = if mention.member { ", member" } else { "" };
        let bound = Shadow::over(&shadows, mention.span);
        let bound = bound.map_or(String::new(), |shadow| format!(", bound in {}", lines(text, shadow.scope)));
        let _ = writeln!(out, "{}: {}{member}{bound}", lines(text, mention.span), mention.role.label());
    }
}

fn calls(out: &mut String, Sample { language, text, .. }: &Sample, outline: &Outline, function: &str) {
    let asked = Asked::parse(function);
    let found = names::find(language.pack(), text, outline, &asked, |symbol| symbol.kind.is_callable());
    let Meaning::Some(found) = found else { return };
    heading(out, &format!("calls in {function}"));
    for index in found {
        let whole = outline.symbols[index as usize].whole;
        for call in language.calls(text, whole, outline, &|| false).unwrap() {
            let receiver = match call.receiver.is_empty() {
                true => String::new(),
                false => format!("{} -> ", squeezed(call.receiver.slice(text))),
            };
            let _ = writeln!(out, "{}: {receiver}{}", lines(text, call.name), call.name.slice(text));
        }
    }
}

/// The lines of a stretch: one, or the first and the last.
fn lines(text: &str, span: Span) -> String {
    let first = names::line_of(text, span.start as usize);
    match names::line_of(text, (span.end as usize).saturating_sub(1).max(span.start as usize)) {
        last if last > first => format!("{first}-{last}"),
        _ => first.to_string(),
    }
}

fn squeezed(written: &str) -> String {
    written.split_whitespace().collect::<Vec<_>>().join(" ")
}
