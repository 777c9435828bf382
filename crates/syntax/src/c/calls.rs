//! The calls in a stretch of code. Casts, declarations of variables and words of the language
//! that take parentheses are not calls.

use super::{
    bytes::{self, CLASS, Class},
    mentions::{arguments_end, called_at, skip_blanks},
    skim,
    words::{self, Key},
};
use crate::{CallSite, Span};

/// The calls in a stretch, in the order of the text.
pub(super) fn calls(text: &str, within: Span) -> Vec<CallSite> {
    let end = (within.end as usize).min(text.len());
    let bytes = &text.as_bytes()[..end];
    let mut scan = Scan {
        bytes,
        before: Before::Nothing,
        chain: 0,
        separator: None,
        open: Vec::new(),
        calls: Vec::new(),
    };
    let mut at = (within.start as usize).min(end);
    while at < end {
        at = scan.step(at);
    }
    scan.calls
}

/// The token before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// A name or a type: another name after it is declared.
    Name,
    /// `return`, `new` and other words that a call may follow.
    Word,
    /// `.`, `->` or `::`.
    Separator,
    Closed,
}

struct Scan<'a> {
    bytes: &'a [u8],
    before: Before,
    /// The beginning of the expression that the next separator continues.
    chain: usize,
    /// The place of the separator before the next name.
    separator: Option<usize>,
    open: Vec<usize>,
    calls: Vec<CallSite>,
}

impl Scan<'_> {
    fn step(&mut self, at: usize) -> usize {
        let bytes = self.bytes;
        match (CLASS[bytes[at] as usize], bytes[at]) {
            (Class::Blank, _) => at + 1,
            (Class::Word, _) => self.word(at),
            (Class::Digit, _) => {
                self.before = Before::Closed;
                skim::number_end(bytes, at, true)
            }
            (_, b'"') => {
                self.before = Before::Closed;
                self.chain = at;
                skim::string(bytes, at, true)
            }
            (_, b'\'') => {
                self.before = Before::Closed;
                skim::apostrophe(bytes, at, true)
            }
            (_, b'#') if skim::begins_line(bytes, at) => skim::directive(bytes, at),
            (_, b'/') => match skim::comment(bytes, at) {
                Some(end) => end,
                None => self.mark(at),
            },
            (_, b'(' | b'[') => {
                if !matches!(self.before, Before::Name | Before::Closed) {
                    self.chain = at;
                }
                self.open.push(self.chain);
                self.before = Before::Nothing;
                at + 1
            }
            (_, b')' | b']') => {
                self.chain = self.open.pop().unwrap_or(at);
                self.before = Before::Closed;
                at + 1
            }
            (_, b'.') => self.separate(at, 1),
            (_, b'-') if bytes.get(at + 1) == Some(&b'>') => self.separate(at, 2),
            (_, b':') if bytes.get(at + 1) == Some(&b':') => self.separate(at, 2),
            _ => self.mark(at),
        }
    }

    fn mark(&mut self, at: usize) -> usize {
        self.before = Before::Nothing;
        at + 1
    }

    fn separate(&mut self, at: usize, length: usize) -> usize {
        self.separator = matches!(self.before, Before::Name | Before::Closed).then_some(at);
        self.before = Before::Separator;
        at + length
    }

    fn word(&mut self, at: usize) -> usize {
        let end = bytes::word_end(self.bytes, at);
        let word = &self.bytes[at..end];
        if matches!(self.bytes.get(end), Some(b'"' | b'\'')) && end - at <= 3 {
            return end;
        }
        let before = std::mem::replace(&mut self.before, Before::Name);
        let separator = self.separator.take().filter(|_| before == Before::Separator);
        if before != Before::Separator {
            self.chain = at;
        }
        if takes_parentheses(word) || words::key(word, true).is_some_and(|key| key != Key::Trailing) {
            let type_word = matches!(
                words::key(word, true),
                Some(Key::Primitive | Key::Qualifier | Key::Struct | Key::Class | Key::Union | Key::Enum)
            );
            self.before = if type_word { Before::Name } else { Before::Word };
            return end;
        }
        let declared = before == Before::Name;
        if !declared && called_at(self.bytes, end).is_some() {
            let receiver = separator.map_or(Span::at(at), |separator| Span::new(self.chain, separator));
            self.calls.push(CallSite { name: Span::new(at, end), receiver: self.trimmed(receiver) });
        }
        // Template arguments belong to the name.
        let open = skip_blanks(self.bytes, end);
        if self.bytes.get(open) == Some(&b'<')
            && let Some(close) = arguments_end(self.bytes, open)
            && self.bytes.get(skip_blanks(self.bytes, close)).is_some_and(|next| {
                bytes::in_word(*next) && !next.is_ascii_digit()
                    || matches!(next, b'(' | b':' | b'{' | b'*' | b'&')
            })
        {
            return close;
        }
        end
    }

    fn trimmed(&self, span: Span) -> Span {
        let length = self.bytes[span.range()].trim_ascii_end().len();
        Span::new(span.start as usize, span.start as usize + length)
    }
}

/// Words before parentheses that are not called.
fn takes_parentheses(word: &[u8]) -> bool {
    matches!(
        word,
        b"static_cast"
            | b"dynamic_cast"
            | b"reinterpret_cast"
            | b"const_cast"
            | b"alignof"
            | b"_Alignof"
            | b"__alignof__"
            | b"typeid"
            | b"delete"
            | b"defined"
            | b"and"
            | b"or"
            | b"not"
            | b"_Generic"
            | b"__builtin_offsetof"
            | b"offsetof"
            | b"va_arg"
            | b"throw"
            | b"noexcept"
            | b"co_await"
            | b"const"
    )
}

#[cfg(test)]
mod tests {
    use super::calls;
    use crate::Span;

    fn check(text: &str, expect: &[(&str, &str)]) {
        let found = calls(text, Span::new(0, text.len()));
        let found: Vec<_> =
            found.iter().map(|call| (call.receiver.slice(text), call.name.slice(text))).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn plain_calls() {
        check("{ f(); g (1, h(2)); }", &[("", "f"), ("", "g"), ("", "h")]);
        check("{ return f(x); }", &[("", "f")]);
        check(
            "if (f()) while (g()) for (;;h()) ; switch (k()) {}",
            &[("", "f"), ("", "g"), ("", "h"), ("", "k")],
        );
        check("x = sizeof(a) + (int)(b) + int(c) + static_cast<T>(d);", &[]);
        check("new Foo(1); throw Bar(2); else baz(3);", &[("", "Foo"), ("", "Bar"), ("", "baz")]);
        check("f<int>(1); g<std::pair<int, long>>(2);", &[("", "f"), ("", "g")]);
        check("// f()\n/* g() */ \"h()\"\n#define X k()\n", &[]);
    }

    #[test]
    fn declarations_are_not_calls() {
        check("Foo x(1); std::vector<int> v(10); struct s t(2); int n(3);", &[]);
        check("const Foo x(f(1));", &[("", "f")]);
    }

    #[test]
    fn receivers() {
        check("a.f(); a->f(); A::f(); ::f();", &[("a", "f"), ("a", "f"), ("A", "f"), ("", "f")]);
        check("a.b->c.f(); A::B::f(); this->f();", &[("a.b->c", "f"), ("A::B", "f"), ("this", "f")]);
        check(
            "g(1).f(); a[i].f(); (x + y).f();",
            &[("", "g"), ("g(1)", "f"), ("a[i]", "f"), ("(x + y)", "f")],
        );
        check("Foo<T>::f(); a.g().h();", &[("Foo<T>", "f"), ("a", "g"), ("a.g()", "h")]);
    }

    #[test]
    fn only_the_stretch() {
        let text = "a(); b(); c();";
        let found = calls(text, Span::new(5, 9));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name.slice(text), "b");
        assert!(calls(text, Span::new(90, 99)).is_empty());
    }
}
