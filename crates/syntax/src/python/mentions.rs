//! The places of a word in a Python file, and its role there. Only lines that hold the word are looked
//! at closely; a file without it costs one search.

use super::{
    glance::Glance,
    imports::is_import,
    lex::{Lexer, PythonToken, Sort},
    lines::{Lines, whole_words},
    roles::PythonRoles,
    statements::statements,
    variables::is_keyword,
};
use crate::{Mention, Role, Span};

/// Every place where a word stands as a whole word, in order.
///
/// A name is a definition after `def`, `class`, `as` and `for`, as a parameter, as a target of an
/// assignment or of `:=`, and where a pattern binds it. The name of a keyword argument,
/// `f(word=1)`, names a parameter of something else: it is an attribute that is no member. Code
/// in the fields of f-strings is code.
pub fn mentions(text: &str, word: &str) -> Vec<Mention> {
    let places = whole_words(text, word);
    let mut found = Vec::with_capacity(places.len());
    let mut lines = Lines::new(text.as_bytes(), 0);
    let mut look = Look { text, word, keyword: is_keyword(word), code: Vec::new(), names: Vec::new() };
    let comment = |start: &usize| Mention {
        span: Span::new(*start, start + word.len()),
        role: Role::Comment,
        member: false,
    };
    let mut rest = places.as_slice();
    while !rest.is_empty()
        && let Some((start, _)) = lines.begin()
    {
        let end = lines.finish(start);
        // What stands between lines is in comments.
        let before = first_from(rest, start);
        found.extend(rest[..before].iter().map(comment));
        rest = &rest[before..];
        let inside = first_from(rest, end);
        if inside > 0 {
            look.at_line(Span::new(start, end), &rest[..inside], &mut found);
            rest = &rest[inside..];
        }
    }
    found.extend(rest.iter().map(comment));
    found
}

/// The number of the first place that is not before another. It is near: places are passed in
/// order.
fn first_from(places: &[usize], from: usize) -> usize {
    places.iter().position(|place| *place >= from).unwrap_or(places.len())
}

/// Looks at lines with the word, one after another.
struct Look<'t> {
    text: &'t str,
    word: &'t str,
    keyword: bool,
    /// The tokens of code in the line being looked at.
    code: Vec<PythonToken>,
    /// Those of them that are the word.
    names: Vec<usize>,
}

impl Look<'_> {
    fn at_line(&mut self, line: Span, places: &[usize], found: &mut Vec<Mention>) {
        let begin = found.len();
        if !self.glance(line, places, found) {
            found.truncate(begin);
            self.lex(line, places, found);
        }
    }

    /// Judges the places by what stands beside them; false where that does not tell about all.
    fn glance(&self, line: Span, places: &[usize], found: &mut Vec<Mention>) -> bool {
        let Some(last) = places.last().filter(|_| !self.keyword) else { return false };
        let glance = Glance::at(self.text.as_bytes(), line, *last);
        for start in places {
            let span = Span::new(*start, start + self.word.len());
            let Some((role, member)) = glance.role(span) else { return false };
            found.push(Mention { span, role, member });
        }
        true
    }

    fn lex(&mut self, line: Span, places: &[usize], found: &mut Vec<Mention>) {
        let begin = found.len();
        self.code.clear();
        self.names.clear();
        let mut rest = places.iter().copied().peekable();
        for token in Lexer::new(&self.text.as_bytes()[..line.end as usize], line.start as usize) {
            while let Some(start) = rest.next_if(|start| *start < token.end as usize) {
                let span = Span::new(start, start + self.word.len());
                match token.sort {
                    // The letters before a quote are no mention of anything.
                    Sort::Literal | Sort::Enter if start == token.start as usize => {}
                    Sort::Literal | Sort::Enter | Sort::Piece | Sort::Leave => {
                        found.push(Mention { span, role: Role::String, member: false });
                    }
                    Sort::Comment => found.push(Mention { span, role: Role::Comment, member: false }),
                    Sort::Name if token.span() == span => self.names.push(self.code.len()),
                    // Words that are no names, such as `a.b` or `->`.
                    _ => found.push(Mention { span, role: Role::Reference, member: false }),
                }
            }
            // Behind the last place only code matters, and without a name not even that.
            if rest.peek().is_none() && self.names.is_empty() {
                break;
            }
            if token.is_code() {
                self.code.push(token);
            }
        }
        let in_text = found.len() > begin;
        in_code(self.text, &self.code, &self.names, found);
        if in_text {
            found[begin..].sort_by_key(|mention| mention.span);
        }
    }
}

/// The roles of the names at these places among the code tokens of a line.
fn in_code(text: &str, code: &[PythonToken], names: &[usize], found: &mut Vec<Mention>) {
    let mut names = names.iter().copied().peekable();
    for statement in statements(text, code) {
        let Some(next) = names.peek() else { return };
        let start = statement.tokens[0].start;
        let end = statement.tokens[statement.tokens.len() - 1].end;
        if code[*next].start >= end {
            continue;
        }
        let first = code.partition_point(|token| token.start < start);
        let mut wanted = Vec::new();
        while let Some(name) = names.next_if(|name| code[*name].start < end) {
            wanted.push(name.saturating_sub(first));
        }
        if is_import(text, &statement) {
            found.extend(wanted.iter().map(|name| Mention {
                span: statement.tokens[*name].span(),
                role: Role::Import,
                member: false,
            }));
            continue;
        }
        PythonRoles::new(text, statement).judge(&wanted, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line is judged in the same way with a glance and without, where a glance is enough.
    #[test]
    fn a_glance_tells_what_the_lexer_tells() {
        let mut glanced = 0;
        for text in [
            "w.a = w.b(w.c)",
            "x.w = a.w (1) + a.w\n",
            "return not w(1) and w.x",
            "f(a,\n  w.x,\n  b.w)",
            "def f(w, w): pass",
            "def  f ( w): pass",
            "def f[w](a): pass",
            "def w(a): pass",
            "class A(w.x, w(1)): pass",
            "with w(1) as w.x: w.y",
            "for a in w.x: w(1)",
            "case w.x(w): pass",
            "import w.x",
            "from w.x import w",
            "lazy import w.x",
            "@w.x",
            "@w(1)",
            "x = 1.w; y = 1..w",
            "w.5",
            "a.w'x' + a.w\n",
            "f(a.w # (\n)",
            "f(a.w\n(1))",
            "a.w \\\n(1)",
            "'w' + w.x",
            "f'{w.x}' + w(1)",
            "print w.x",
            "raise w(1) from w.x",
            "if w.x: import w.y",
            "lambda a: w.x",
            "w(w=1, a=w.x)",
            "async with w.x: pass",
            "type X = w.x",
            ".w",
            "w(",
            "w.",
        ] {
            let end = Lines::new(text.as_bytes(), 0).finish(0);
            let line = Span::new(0, end);
            let places = whole_words(&text[..end], "w");
            let mut look = Look { text, word: "w", keyword: false, code: Vec::new(), names: Vec::new() };
            let (mut at_once, mut closely) = (Vec::new(), Vec::new());
            look.lex(line, &places, &mut closely);
            if look.glance(line, &places, &mut at_once) {
                glanced += 1;
                assert_eq!(at_once, closely, "{text:?}");
            }
        }
        assert!(glanced >= 12, "most lines need no closer look: {glanced}");
    }
}
