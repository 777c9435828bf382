//! Texts that no one writes: every pack answers them, or says why not.

use tectum_syntax::{Detail, Language, MOST_PARSED, Outline, Packs, Unparsed};

use crate::sample::tells;

/// The size of the texts. Grammars are some twenty times slower without optimisation, so a build for
/// development tries smaller ones.
const SIZE: usize = if cfg!(debug_assertions) { 6_000 } else { 100_000 };

/// Asks a pack everything about a text.
fn ask(language: &Language, text: &str) -> Outline {
    let go_on = || false;
    let outline = language.outline(text, Detail::Full, &go_on).unwrap();
    for symbol in &outline.symbols {
        assert!(text.get(symbol.whole.range()).is_some() && symbol.whole.holds(symbol.name));
    }
    language.mentions(text, "a", &go_on).unwrap();
    language.imports(text, &go_on).unwrap();
    language.shadows(text, "a", &go_on).unwrap();
    // A slow machine may run out of patience; that is an end, too.
    assert!(matches!(language.check(text, &go_on), Ok(_) | Err(Unparsed::Late(_))));
    if let Some(first) = outline.symbols.first() {
        language.calls(text, first.whole, &outline, &go_on).unwrap();
    }
    outline
}

fn each_pack(visit: impl Fn(&Language)) {
    let packs = Packs::all();
    let mut visited = 0;
    for language in packs.iter().filter(|language| tells(language)) {
        visit(language);
        visited += 1;
    }
    assert!(visited > 0);
}

#[test]
fn deep_nesting() {
    each_pack(|language| {
        for sign in ["(", "{", "["] {
            ask(language, &sign.repeat(SIZE));
        }
    });
}

#[test]
fn deep_nesting_that_is_closed() {
    each_pack(|language| {
        for (open, close) in [("(", ")"), ("{", "}"), ("[", "]"), ("f(a, ", ")")] {
            ask(language, &format!("a = {}a{};\n", open.repeat(SIZE / 5), close.repeat(SIZE / 5)));
        }
    });
}

#[test]
fn long_rows_of_signs() {
    each_pack(|language| {
        for sign in [",", ";", ".", "#", "@", "\\"] {
            ask(language, &format!("x = [{}]\n", sign.repeat(SIZE)));
        }
    });
}

#[test]
fn one_long_line() {
    each_pack(|language| {
        ask(language, &"a(1); ".repeat(SIZE / 4));
        ask(language, &"a".repeat(SIZE * 100));
        ask(language, &" ".repeat(SIZE * 50));
    });
}

#[test]
fn nothing_but_quotes() {
    each_pack(|language| {
        for quote in ["\"", "'", "`"] {
            ask(language, &quote.repeat(SIZE / 4));
        }
    });
}

#[test]
fn blanks_line_ends_and_nothing() {
    each_pack(|language| {
        for text in ["", "\n", "\r", "\r\n", "\u{c}", "\u{feff}", "\0", " \t ", "\u{2028}", "é", "\\\n"] {
            assert_eq!(ask(language, text).symbols, [], "{} {text:?}", language.pack().id);
        }
    });
}

#[test]
fn many_symbols_in_one_file() {
    let packs = Packs::all();
    let most = SIZE / 6;
    let line = |at: usize| format!("/// Doc.\n#[test]\nfn f{at}() {{ f(); }}\n");
    let text: String = (0..most).map(line).collect();
    let outline = ask(packs.named("rust").unwrap(), &text);
    assert_eq!(outline.symbols.len(), most);
    assert!(
        outline
            .symbols
            .iter()
            .all(|symbol| !symbol.doc.is_empty() && symbol.whole.slice(&text).starts_with("#["))
    );
    let names: String = (0..most).map(|at| format!("a{at} = {at},")).collect();
    let outline = ask(packs.named("javascript").unwrap(), &format!("var {names} z;\n"));
    assert_eq!(outline.symbols.len(), most + 1);
}

#[test]
fn who_wants_no_more_is_heard() {
    let text = "a(1);\n".repeat(SIZE);
    each_pack(|language| {
        if !language.skims() {
            let stopped = language.outline(&text, Detail::Outline, &|| true);
            assert_eq!(stopped.unwrap_err(), Unparsed::Stopped, "{}", language.pack().id);
        }
    });
}

#[test]
fn what_is_too_large_is_not_parsed_but_searched() {
    let text = format!("{}a", " ".repeat(MOST_PARSED));
    each_pack(|language| {
        if !language.skims() {
            let refused = language.outline(&text, Detail::Outline, &|| false);
            assert_eq!(refused.unwrap_err(), Unparsed::TooLarge(text.len()));
        }
        let mentions = language.mentions(&text, "a", &|| false).unwrap();
        assert_eq!(mentions.len(), 1, "{}", language.pack().id);
    });
}
