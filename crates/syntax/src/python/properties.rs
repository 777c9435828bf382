//! Properties that hold for any text: nothing panics, every span lies in the text on whole characters,
//! and parents hold their children.

use proptest::prelude::*;

use super::{bases, calls, check, docstring, imports, mentions, outline, shadows};
use crate::{Detail, Span};

/// Real forms of the language, to be cut and mixed.
const SAMPLE: &str = r#"# -*- coding: utf-8 -*-
from . import a as b, (c)
@deco(1)  # c
@deco
async def größe[T: int](a, /, b: dict[str, int] = {1: 2}, *c, d=lambda x: x, **e) -> "x:y":
    '''Doc "with" \'quotes\'.

    More.'''
    x = f"{a!r:>{b}} {d["k"]} {{}}" rf'\{x}' + t'''{
        y}''' \
        + b'z'
    if (n := x[1:2]): global w; w = 1
    yield [i async for i in x if i]; return
class A(B[T], c.D, metaclass=M): x = 1; y: int = 2
class C:
	@property
	def m(self): return self.w(1).x()
	try:
	    def n(self): 'doc'
	except E as err: pass
match p:
    case [1, *rest] | [*rest, A(k=1)] if rest: pass
    case {"k": w, **kw}: pass
    case _: w += 1
X, (Y, *z) = 1, (2, 3)
type L[T] = list[T]
"#;

fn holds(text: &str) -> Result<(), TestCaseError> {
    let whole = Span::new(0, text.len());
    let fits = |span: Span| span.start <= span.end && text.get(span.range()).is_some();
    for detail in [Detail::Outline, Detail::Full] {
        let found = outline(text, detail);
        let mut last = 0;
        for (index, symbol) in found.symbols.iter().enumerate() {
            let parts = [symbol.whole, symbol.head, symbol.name, symbol.params, symbol.body, symbol.doc];
            prop_assert!(parts.iter().all(|span| fits(*span)), "{symbol:?}");
            prop_assert!(symbol.whole.holds(symbol.head) && symbol.head.holds(symbol.name), "{symbol:?}");
            prop_assert!(symbol.body.is_empty() || symbol.whole.holds(symbol.body), "{symbol:?}");
            prop_assert!(symbol.doc.is_empty() || symbol.body.holds(symbol.doc), "{symbol:?}");
            prop_assert!(last <= symbol.whole.start, "{symbol:?}");
            last = symbol.whole.start;
            if let Some(parent) = symbol.parent {
                prop_assert!((parent as usize) < index);
                prop_assert!(found.symbols[parent as usize].whole.holds(symbol.whole), "{symbol:?}");
            }
            prop_assert!(calls(text, symbol.body).iter().all(|call| fits(call.name) && fits(call.receiver)));
            prop_assert!(bases(text, symbol.head).iter().all(|base| fits(*base)));
            docstring(text, symbol.doc);
        }
        prop_assert!(found.gaps.iter().all(|gap| fits(gap.span)));
    }
    for word in ["w", "x", "größe", "def", "f"] {
        let found = mentions(text, word);
        prop_assert!(found.iter().all(|mention| mention.span.slice(text) == word));
        prop_assert!(found.is_sorted_by(|a, b| a.span < b.span));
        let spans: Vec<_> = shadows(text, word).iter().map(|shadow| shadow.span).collect();
        prop_assert!(spans.iter().all(|span| fits(*span) && !span.is_empty()));
        prop_assert!(spans.is_sorted_by(|a, b| a.end <= b.start));
    }
    prop_assert!(imports(text).iter().all(|import| fits(import.span) && !import.module.is_empty()));
    prop_assert!(calls(text, whole).iter().all(|call| fits(call.name) && fits(call.receiver)));
    prop_assert!(check(text).iter().all(|problem| fits(problem.span) && !problem.message.is_empty()));
    docstring(text, whole);
    Ok(())
}

/// A character boundary near a place.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at % (text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[test]
fn holds_for_the_sample() {
    assert_eq!(check(&SAMPLE.replace(", (c)", "")), []);
    holds(SAMPLE).unwrap();
}

#[test]
fn holds_for_every_beginning() {
    for (at, _) in SAMPLE.char_indices() {
        holds(&SAMPLE[..at]).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn holds_for_any_text(text in any::<String>()) {
        holds(&text)?;
    }

    #[test]
    fn holds_for_any_mixture(parts in prop::collection::vec(prop::sample::select(vec![
        "def ", "class ", "async ", "f", "w", "(", ")", "[", "]", "{", "}", ":", ",", ".", "=", "\n", "\r", "\r\n",
        " ", "    ", "\t", "\x0c", "\\", "'", "\"", "'''", "\"\"\"", "f'", "rb'", "t\"\"\"", "#", ";", "@", "lambda ",
        "é", "1", "import ", "from ", "as ", "for ", "in ", "match ", "case ", "if ", "*", "->", ":=", "type ", "\u{0}",
    ]), 0..60)) {
        holds(&parts.concat())?;
    }

    #[test]
    fn holds_for_what_is_cut_and_mixed(
        cuts in prop::collection::vec((any::<usize>(), 0usize..40, "[(){}\\[\\]'\":\\\\\n #f]{0,3}"), 1..6),
    ) {
        let mut text = SAMPLE.to_owned();
        for (at, len, new) in cuts {
            let start = boundary(&text, at);
            let end = boundary(&text, (start + len).min(text.len())).max(start);
            text.replace_range(start..end, &new);
        }
        holds(&text)?;
    }
}
