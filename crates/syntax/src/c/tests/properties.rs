//! Properties that hold for any text: no panic, spans in order and in the text, parents around
//! children.

use proptest::prelude::*;

use super::super::{bases, calls, imports, mentions_c, mentions_cpp, outline_c, outline_cpp, params_match};
use crate::{Detail, Span};

/// Pieces that meet every corner of the readers when they are shuffled.
const SHARDS: &[&str] = &[
    "int",
    " ",
    "f",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    ":",
    "::",
    "<",
    ">",
    "=",
    "*",
    "&",
    "~",
    "#",
    "\n",
    "\"",
    "'",
    "\\",
    "/*",
    "*/",
    "//",
    "R\"x(",
    ")x\"",
    "#if A\n",
    "\n#else\n",
    "\n#elif B\n",
    "\n#endif\n",
    "\n#define X(a) ",
    "struct ",
    "class ",
    "enum ",
    "union ",
    "namespace ",
    "template ",
    "typedef ",
    "using ",
    "operator",
    "extern \"C\" ",
    "FOO",
    "FOO(x)",
    "1'000",
    "u8'x'",
    "return ",
    "catch ",
    "try ",
    "requires ",
    "concept ",
    "static ",
    "const ",
    "->",
    ".",
    "é",
    "\r\n",
    "\u{c}",
    "__attribute__((x))",
    "= default",
    "friend ",
    "noexcept",
    "int f(void) {",
    "}\n",
    "void g();\n",
    "#include <x>\n",
    "public:",
    "...",
    "decltype(x)",
    "!",
    "^",
];

fn shuffled() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(SHARDS), 0..60).prop_map(|shards| shards.concat())
}

fn hold(text: &str) {
    for detail in [Detail::Outline, Detail::Full] {
        for outline in [outline_c(text, detail), outline_cpp(text, detail)] {
            for (index, symbol) in outline.symbols.iter().enumerate() {
                for span in [
                    symbol.whole,
                    symbol.head,
                    symbol.name,
                    symbol.scope,
                    symbol.params,
                    symbol.body,
                    symbol.doc,
                ] {
                    assert!(span.start <= span.end, "{symbol:?} in {text:?}");
                    assert!(text.get(span.range()).is_some(), "{span:?} of {symbol:?} in {text:?}");
                }
                assert!(symbol.whole.holds(symbol.name), "{symbol:?} in {text:?}");
                assert!(symbol.whole.holds(symbol.head), "{symbol:?} in {text:?}");
                assert!(symbol.body.is_empty() || symbol.whole.holds(symbol.body), "{symbol:?} in {text:?}");
                if let Some(parent) = symbol.parent {
                    assert!((parent as usize) < index, "{symbol:?} in {text:?}");
                    assert!(
                        outline.symbols[parent as usize].whole.holds(symbol.whole),
                        "{symbol:?} in {text:?}"
                    );
                }
            }
            assert!(outline.symbols.is_sorted_by_key(|symbol| symbol.whole.start), "{text:?}");
            for gap in &outline.gaps {
                assert!(text.get(gap.span.range()).is_some(), "{gap:?} in {text:?}");
            }
        }
    }
    for mention in mentions_c(text, "f").into_iter().chain(mentions_cpp(text, "FOO")) {
        assert!(text.get(mention.span.range()).is_some());
    }
    for import in imports(text) {
        assert!(text.get(import.span.range()).is_some());
    }
    let all = Span::new(0, text.len());
    for call in calls(text, all) {
        assert!(text.get(call.name.range()).is_some() && text.get(call.receiver.range()).is_some());
    }
    for base in bases(text, all) {
        assert!(text.get(base.range()).is_some());
    }
    assert!(params_match(text, text));
}

#[test]
fn a_twin_that_was_given_up_is_forgotten() {
    hold("#if A\nint f(int a) {\n#else\nint f(int a)\n{\n#endif");
    hold("#if A\nint f(int a) {\n#else\nint f(int a)\n{\n#endif\nint g(void) {\n");
    hold(
        "#if A\nint f(int a) {\n#else\nint f(int a)\nint f(int a)\n{\n#endif\n    for (;;) {\n        x();\n    }\n ",
    );
}

proptest! {
    #[test]
    fn any_text(text in "\\PC{0,200}") {
        hold(&text);
    }

    #[test]
    fn any_shards(text in shuffled()) {
        hold(&text);
    }

    #[test]
    fn mutated_source(cut in 0usize..400, length in 0usize..40, put in prop::sample::select(SHARDS)) {
        let mut text = SOURCE.to_owned();
        let cut = cut.min(text.len());
        let end = (cut + length).min(text.len());
        if text.is_char_boundary(cut) && text.is_char_boundary(end) {
            text.replace_range(cut..end, put);
        }
        hold(&text);
    }
}

const SOURCE: &str = "#ifdef A\nnamespace a {\n#endif\n/// Doc.\ntemplate <class T, int N = 3>\nclass B final : public \
C<T>, private d::E {\n public:\n  B() : x{1}, y(2) { f(); }\n  ~B() = default;\n  bool operator==(const B& o) const;\n\
  enum class K : int { One, Two = 2 };\n private:\n  int x GUARDED_BY(mu), y;\n};\ntypedef struct tag { int a; } Tag, \
*Ptr;\nstatic int\ng(a, b) int a; char *b;\n{ return a ? '}' : 1'000; }\nint (*h(int))(char);\n#ifdef A\n}\n#endif\n";

/// These would take hours if anything were not linear.
#[test]
fn nasty_texts_are_read_in_one_go() {
    let shards = [
        "{",
        "(",
        "[",
        "<",
        "\"",
        "'",
        "}",
        ")",
        ">",
        "#if A\n",
        "#else\n",
        "#if A\n{",
        "#if A\n(\n#else\n",
        "a{}",
        "a<",
        "a<b>::",
        "struct{",
        "struct a{",
        "namespace a{",
        "f(",
        "int f(){\n",
        "/*",
        "//",
        "R\"(",
        "a ",
        "A(x)\n",
        "template<",
        "operator",
        "::",
        "*(",
        "typedef int(",
        "int f(a)int a;",
        "using ",
        "f(a;",
        "int a,",
        "((a)(",
        "#define A(x)\n",
        "\\\n",
        "1'",
        "catch(x){",
        "requires ",
        "~a",
        "enum{A,",
        "x:",
        "= {",
        "#elif B\n}",
    ];
    for shard in shards {
        let text = shard.repeat(100_000 / shard.len());
        for detail in [Detail::Outline, Detail::Full] {
            outline_c(&text, detail);
            outline_cpp(&text, detail);
        }
        imports(&text);
        calls(&text, Span::new(0, text.len()));
        mentions_cpp(&text, "a");
    }
}
