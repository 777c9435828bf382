//! Properties of the places of every symbol, in the samples and in what is left of them after lines
//! were lost, doubled or cut.

use proptest::{collection::vec, prelude::*, sample::Index, test_runner::TestRunner};
use tectum_syntax::{Detail, Language, Mention, Outline, Source, Span};

use crate::sample::{self, Sample};

/// Changed texts tried for each file of a sample.
const TRIES: u32 = 16;

#[test]
fn the_samples_have_sound_places() {
    each_sample(|Sample { language, text, .. }| sound(language, text));
}

#[test]
fn changed_samples_have_sound_places() {
    each_sample(|Sample { language, text, .. }| {
        let changed = vec((0..5u8, any::<Index>(), any::<Index>()), 1..5).prop_map(|changes| {
            changes.into_iter().fold(text.clone(), |text, change| mutated(&text, change))
        });
        let outcome = runner().run(&changed, |text| sound(language, &text).map_err(TestCaseError::fail));
        outcome.map_err(|error| error.to_string())
    });
}

#[test]
fn an_edited_source_has_the_outline_of_a_fresh_one() {
    each_sample(|Sample { language, text, .. }| {
        let edits = vec((any::<Index>(), 0..40usize, 0..INSERTED.len()), 1..4);
        let outcome = runner().run(&edits, |edits| {
            let mut source = Source::new(language.clone(), text.as_str().into());
            for (start, length, inserted) in edits {
                source.outline(Detail::Full, &|| false).unwrap();
                source = edited(&source, start, length, INSERTED[inserted]);
                let fresh = language.outline(source.text(), Detail::Full, &|| false).unwrap();
                let again = source.outline(Detail::Full, &|| false).unwrap();
                prop_assert_eq!(&*again, &fresh, "after {:?}", source.text());
            }
            Ok(())
        });
        outcome.map_err(|error| error.to_string())
    });
}

/// Tries every file, and tells of all that fail: packs are independent of each other.
fn each_sample(check: impl Fn(&Sample) -> Result<(), String>) {
    let failed = |sample: &Sample| check(sample).err().map(|error| format!("{}: {error}", sample.file));
    let failures: Vec<String> = sample::all().iter().filter_map(failed).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn runner() -> TestRunner {
    TestRunner::new(ProptestConfig { cases: TRIES, failure_persistence: None, ..ProptestConfig::default() })
}

#[test]
fn what_a_word_is_does_not_depend_on_where_else_it_stands() {
    each_sample(|Sample { language, text, .. }| {
        // A first line that names an interpreter must stay the first.
        if text.starts_with("#!") {
            return Ok(());
        }
        let outline = language.outline(text, Detail::Full, &|| false).map_err(|error| error.to_string())?;
        for word in
            outline.symbols.iter().map(|symbol| symbol.name.slice(text)).filter(|word| !word.is_empty())
        {
            let comment = format!("{} {word}\n", language.pack().style.comment);
            let more = format!("{comment}{text}{comment}");
            let alone = language.mentions(text, word, &|| false).map_err(|error| error.to_string())?;
            let among = language.mentions(&more, word, &|| false).map_err(|error| error.to_string())?;
            let roles = |list: &[Mention]| list.iter().map(|mention| mention.role).collect::<Vec<_>>();
            // Signs of which names are made, as of operators, are no words and found nowhere.
            if !alone.is_empty() && roles(&among)[1..among.len() - 1] != roles(&alone) {
                return Err(format!(
                    "{word:?} is {:?} alone and {:?} among others",
                    roles(&alone),
                    roles(&among)
                ));
            }
        }
        Ok(())
    });
}

#[test]
fn line_ends_do_not_matter() {
    each_sample(|Sample { language, text, .. }| {
        let told = |text: &str| -> Result<Vec<String>, String> {
            let outline =
                language.outline(text, Detail::Full, &|| false).map_err(|error| error.to_string())?;
            let told = outline.symbols.iter().map(|symbol| {
                let words = |span: Span| span.slice(text).split_whitespace().collect::<Vec<_>>().join(" ");
                format!(
                    "{:?} {} | {} | {}",
                    symbol.kind,
                    words(symbol.name),
                    words(symbol.head),
                    words(symbol.doc)
                )
            });
            Ok(told.collect())
        };
        let (with, without) = (told(&text.replace('\n', "\r\n"))?, told(text)?);
        match with.iter().zip(&without).find(|(with, without)| with != without) {
            Some((with, without)) => Err(format!("{with:?} is {without:?}")),
            None if with.len() != without.len() => Err(format!("{} are {}", with.len(), without.len())),
            None => Ok(()),
        }
    });
}

/// The texts that an edit puts in: nothing, signs that open and close, words, and letters of many
/// bytes.
const INSERTED: &[&str] = &[
    "",
    "\n",
    "}\n",
    "{",
    "(",
    ")",
    "\"",
    "'",
    "/*",
    "# ",
    "é",
    "日本",
    "x",
    "\r\n\r\n",
    "class K {}\n",
    "def f(): pass\n",
    "fn f() {}\n",
];

fn edited(source: &Source, start: Index, length: usize, inserted: &str) -> Source {
    let text = source.text();
    let start = text.floor_char_boundary(start.index(text.len() + 1));
    let end = text.floor_char_boundary((start + length).min(text.len())).max(start);
    let after = format!("{}{inserted}{}", &text[..start], &text[end..]);
    source.edited(&(start..end), inserted, after.as_str().into(), &|| false)
}

/// One change of a text.
fn mutated(text: &str, (kind, first, second): (u8, Index, Index)) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() {
        return String::new();
    }
    let (at, other) = (first.index(lines.len()), second.index(lines.len()));
    match kind {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at]),
        2 => lines.swap(at, other),
        3 => return text[..text.floor_char_boundary(first.index(text.len() + 1))].to_owned(),
        _ => return text[text.floor_char_boundary(first.index(text.len() + 1))..].to_owned(),
    }
    lines.concat()
}

/// Everything that must hold whatever the text is.
fn sound(language: &Language, text: &str) -> Result<(), String> {
    for detail in [Detail::Outline, Detail::Full] {
        let outline = language.outline(text, detail, &|| false).map_err(|error| error.to_string())?;
        places(text, &outline)?;
        order(text, &outline)?;
        for symbol in outline.symbols.iter().step_by(13) {
            let word = symbol.name.slice(text);
            for mention in language.mentions(text, word, &|| false).map_err(|error| error.to_string())? {
                fits(text, mention.span)?;
                if mention.span.slice(text) != word {
                    return Err(format!("{word:?} is not {:?}", mention.span.slice(text)));
                }
            }
            let shadows = language.shadows(text, word, &|| false).map_err(|error| error.to_string())?;
            for shadow in &shadows {
                fits(text, shadow.span)?;
                fits(text, shadow.scope)?;
            }
            if !shadows.is_sorted_by(|one, next| one.span.end <= next.span.start) {
                return Err(format!("shadows of {word:?} lie over one another"));
            }
            for call in language.calls(text, symbol.whole, &outline, &|| false).unwrap_or_default() {
                fits(text, call.name)?;
                fits(text, call.receiver)?;
                if !symbol.whole.holds(call.name) {
                    return Err(format!("a call outside of {word:?}"));
                }
            }
        }
    }
    for import in language.imports(text, &|| false).map_err(|error| error.to_string())? {
        fits(text, import.span)?;
    }
    for problem in language.check(text, &|| false).map_err(|error| error.to_string())? {
        fits(text, problem.span)?;
    }
    Ok(())
}

/// Each place lies in the text, and in the place it is a part of.
fn places(text: &str, outline: &Outline) -> Result<(), String> {
    for symbol in &outline.symbols {
        let name = symbol.name.slice(text);
        for span in
            [symbol.whole, symbol.head, symbol.name, symbol.params, symbol.scope, symbol.body, symbol.doc]
        {
            fits(text, span).map_err(|error| format!("{name:?}: {error}"))?;
        }
        // What has no name of its own, such as a union in a struct, has an empty one.
        if !name.is_empty() && !symbol.whole.holds(symbol.name) {
            return Err(format!("the name {name:?} is not in {:?}", symbol.whole.slice(text)));
        }
        if !symbol.whole.holds(symbol.head) {
            return Err(format!("{name:?}: the head {:?} is outside", symbol.head.slice(text)));
        }
        if !symbol.body.is_empty() && !symbol.whole.holds(symbol.body) {
            return Err(format!("{name:?}: the body {:?} is outside", symbol.body.slice(text)));
        }
    }
    for gap in &outline.gaps {
        fits(text, gap.span)?;
    }
    Ok(())
}

/// Parents stand before their children and hold them; symbols stand in the order of the text.
fn order(text: &str, outline: &Outline) -> Result<(), String> {
    for (index, symbol) in (0u32..).zip(&outline.symbols) {
        let name = symbol.name.slice(text);
        if let Some(parent) = symbol.parent {
            if parent >= index {
                return Err(format!("{name:?} stands before its parent"));
            }
            let around = outline.symbols[parent as usize];
            if !around.whole.holds(symbol.whole) {
                return Err(format!("{name:?} is not in {:?}", around.name.slice(text)));
            }
        }
    }
    let in_order = outline.symbols.is_sorted_by_key(|symbol| symbol.whole.start);
    if in_order { Ok(()) } else { Err("symbols are out of order".to_owned()) }
}

fn fits(text: &str, span: Span) -> Result<(), String> {
    let sound = span.start <= span.end && text.get(span.range()).is_some();
    if sound { Ok(()) } else { Err(format!("{span:?} does not fit a text of {} bytes", text.len())) }
}
