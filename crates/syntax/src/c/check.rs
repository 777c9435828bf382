//! The problems that a compiler would report, as far as a grammar that knows no preprocessor can tell:
//! what it calls wrong counts only where no reading of the macros and branches around makes it right.

use std::{
    collections::HashSet,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use memchr::memmem;
use tree_sitter::{Language, Node, ParseOptions, Parser, Point, Tree};

use super::{
    brackets,
    bytes::{in_word, is_loud},
    repair::{self, Change, Keep, RepairForm},
};
use crate::{MOST_PARSED, Problem, Span, Unparsed};

/// A text that takes longer is not checked.
const PATIENCE: Duration = Duration::from_secs(15);

/// Repairs stop after this time, whatever is left.
const REPAIR_TIME: Duration = Duration::from_secs(3);

/// So many changes are tried on one text.
const TRIALS: usize = 400;

/// So many problems are told.
const MOST: usize = 50;

/// So many flaws are counted, to see whether a change helps.
const COUNTED: usize = 2000;

/// Lines before and after a problem in which macros may be its cause.
const LINES_AROUND: usize = 3;

/// The problems of a text.
pub(super) fn check(text: &str, language: &Language, cpp: bool) -> Result<Vec<Problem>, Unparsed> {
    if text.len() > MOST_PARSED {
        return Err(Unparsed::TooLarge(text.len()));
    }
    let late = Unparsed::Late(PATIENCE.as_secs());
    let mut problems = brackets::problems(text, cpp);
    let mut grammar = Grammar { parser: Parser::new(), started: Instant::now(), lines: line_starts(text) };
    if grammar.parser.set_language(language).is_err() {
        return Err(Unparsed::Grammar(if cpp { "C++" } else { "C" }));
    }
    let Some(plain) = grammar.parse(text.as_bytes()) else {
        return Err(late);
    };
    if !plain.root_node().has_error() {
        return Ok(problems);
    }
    let known = flaws(&plain, text.as_bytes());
    let (first, branched) = repair::reading(text, cpp, Keep::First);
    let Some(mut left) = grammar.repaired(first.clone(), cpp) else {
        // A bracket without a partner is wrong in any reading.
        return if problems.is_empty() { Err(late) } else { Ok(problems) };
    };
    if branched {
        let (last, _) = repair::reading(text, cpp, Keep::Last);
        // Only what the first reading left out.
        let other = grammar.repaired(last, cpp).unwrap_or_default().into_iter();
        left.extend(other.filter(|flaw| first[flaw.span.range()].iter().all(u8::is_ascii_whitespace)));
    }
    left.retain(|flaw| known.iter().any(|known| grammar.near(known.span, flaw.span)));
    // After a bracket without a partner everything looks wrong.
    if let Some(first) = problems.first() {
        left.retain(|flaw| flaw.span.end < first.span.start && !grammar.near(flaw.span, first.span));
    }
    problems.extend(left);
    problems.sort_by_key(|problem| problem.span.start);
    problems.truncate(MOST);
    Ok(problems)
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect()
}

struct Grammar {
    parser: Parser,
    started: Instant,
    lines: Vec<usize>,
}

impl Grammar {
    /// Parses; none where it takes too long.
    fn parse(&mut self, source: &[u8]) -> Option<Tree> {
        let started = self.started;
        let mut progress = |_: &tree_sitter::ParseState| {
            if started.elapsed() > PATIENCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let mut read = |at: usize, _: Point| source.get(at..).unwrap_or_default();
        let tree = self.parser.parse_with_options(&mut read, None, Some(options));
        self.parser.reset();
        tree
    }

    /// The problems of a reading after every change of macros that makes it better. A change that helps
    /// in one place is tried on every mention of the macro first.
    fn repaired(&mut self, mut source: Vec<u8>, cpp: bool) -> Option<Vec<Problem>> {
        let mut left = flaws(&self.parse(&source)?, &source);
        let lonely = repair::without_lonely_macros(&source, cpp);
        if !left.is_empty()
            && let Some(tree) = self.parse(&lonely)
            && let flaws = flaws(&tree, &lonely)
            && flaws.len() <= left.len()
        {
            (source, left) = (lonely, flaws);
        }
        let mut trials = 0;
        let mut tried = HashSet::new();
        let mut at = 0;
        while at < left.len() {
            let (from, to) = self.around(left[at].span);
            let mut best: Option<(Vec<u8>, Vec<Problem>)> = None;
            let mut word = Span::default();
            let changes = repair::changes(&source, from, to, cpp);
            let bare = without(&source, &changes, cpp);
            if let Some(tree) = self.parse(&bare) {
                let flaws = flaws(&tree, &bare);
                if flaws.len() < left.len() {
                    best = Some((bare, flaws));
                }
            }
            for change in changes {
                // The best of the forms of one word is taken.
                if change.word != word && best.is_some() {
                    break;
                }
                word = change.word;
                let name = source[word.range()].to_vec();
                let everywhere = tried.insert((name, change.form));
                for everywhere in [true, false].into_iter().skip(usize::from(!everywhere)) {
                    trials += 1;
                    if trials > TRIALS || self.started.elapsed() > REPAIR_TIME {
                        return Some(best.map_or(left, |(_, flaws)| flaws));
                    }
                    let Some(changed) = with(&source, change, everywhere, cpp) else { continue };
                    let Some(tree) = self.parse(&changed) else { return Some(left) };
                    let flaws = flaws(&tree, &changed);
                    if weight(&flaws) < weight(best.as_ref().map_or(&left, |(_, flaws)| flaws)) {
                        best = Some((changed, flaws));
                    }
                }
            }
            let found = best.is_some();
            if let Some(better) = best {
                (source, left) = better;
            }
            // Everything may have moved: what is left is looked at from the first on.
            at = if found { 0 } else { at + 1 };
        }
        Some(left)
    }

    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// The lines around a problem.
    fn around(&self, span: Span) -> (usize, usize) {
        let first = self.line(span.start as usize).saturating_sub(LINES_AROUND);
        let last = self.line(span.start as usize) + LINES_AROUND;
        let end = self.lines.get(last).copied().unwrap_or(self.lines[self.lines.len() - 1]);
        (self.lines[first], end.max(self.lines[first]))
    }

    /// True if two stretches are on neighbouring lines.
    fn near(&self, one: Span, other: Span) -> bool {
        let lines = |span: Span| (self.line(span.start as usize), self.line(span.end as usize));
        let ((from, to), (start, end)) = (lines(one), lines(other));
        from <= end + 1 && start <= to + 1
    }
}

/// A text without any of the loud macros among some changes.
fn without(source: &[u8], changes: &[Change], cpp: bool) -> Vec<u8> {
    let mut changed = source.to_vec();
    for change in changes.iter().filter(|change| change.form == RepairForm::Gone) {
        if is_loud(&source[change.word.range()]) {
            repair::apply(&mut changed, change.word, RepairForm::Gone, cpp);
        }
    }
    changed
}

/// A text with a change in one place, or at every mention of the same word.
fn with(source: &[u8], change: Change, everywhere: bool, cpp: bool) -> Option<Vec<u8>> {
    let mut changed = source.to_vec();
    if !everywhere {
        return repair::apply(&mut changed, change.word, change.form, cpp).then_some(changed);
    }
    let name = &source[change.word.range()];
    let places: Vec<usize> = memmem::find_iter(source, name)
        .filter(|at| {
            let before = at.checked_sub(1).is_some_and(|before| in_word(source[before]));
            !before && !source.get(at + name.len()).is_some_and(|byte| in_word(*byte))
        })
        .collect();
    if places.len() < 2 {
        return None;
    }
    for at in places {
        repair::apply(&mut changed, Span::new(at, at + name.len()), change.form, cpp);
    }
    Some(changed)
}

/// The weight of some problems: their number, and the bytes they cover.
fn weight(flaws: &[Problem]) -> (usize, u32) {
    (flaws.len(), flaws.iter().map(|flaw| flaw.span.end - flaw.span.start).sum())
}

/// The innermost errors of a tree.
fn flaws(tree: &Tree, source: &[u8]) -> Vec<Problem> {
    let mut flaws = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let wrong = node.is_missing() || node.is_error() && !has_error_inside(node);
        if wrong {
            flaws.push(flaw(node, source));
        }
        if flaws.len() >= COUNTED {
            return flaws;
        }
        if !wrong && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return flaws;
            }
        }
    }
}

fn has_error_inside(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| child.is_missing() || child.has_error())
}

fn flaw(node: Node<'_>, source: &[u8]) -> Problem {
    let range = node.byte_range();
    if node.is_missing() {
        let end = source[..range.start.min(source.len())].trim_ascii_end().len();
        return Problem { span: Span::at(end), message: format!("missing `{}`", node.kind()) };
    }
    let stretch = &source[range.clone()];
    let line = stretch.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let shown: String = String::from_utf8_lossy(line).trim().chars().take(40).collect();
    Problem {
        span: Span::new(range.start, range.start + line.len()),
        message: format!("unexpected `{shown}`"),
    }
}

#[cfg(test)]
#[cfg(all(feature = "lang-c", feature = "lang-cpp"))]
mod tests {
    use crate::{
        MOST_PARSED, Unparsed,
        c::{check_c, check_cpp},
    };

    fn good_c(text: &str) {
        assert_eq!(check_c(text).expect("checked"), [], "{text}");
    }

    fn good_cpp(text: &str) {
        assert_eq!(check_cpp(text).expect("checked"), [], "{text}");
    }

    /// The lines, from 1, at which something is wrong.
    fn bad(text: &str, lines: &[usize]) {
        for problems in [check_c(text).expect("checked"), check_cpp(text).expect("checked")] {
            let found: Vec<usize> = problems
                .iter()
                .map(|problem| text[..problem.span.start as usize].matches('\n').count() + 1)
                .collect();
            assert_eq!(found, lines, "{problems:?} in {text}");
        }
    }

    #[test]
    fn good_sources() {
        good_c("");
        good_c("int f(void)\n{\n    return 1;\n}\n");
        good_cpp("template <class T> struct A : B<T> { A() : x{1} {} int x; };\n");
        good_c("#ifdef A\nint f(int a)\n#else\nint f(long a)\n#endif\n{\n    return 0;\n}\n");
        good_c("void f(void)\n{\n#if A\n    if (x) {\n#else\n    if (y) {\n#endif\n    z();\n    }\n}\n");
    }

    #[test]
    fn macros_are_forgiven() {
        good_c("static NOINLINE int API_CALL(3) f(int a)\n{\n    return a;\n}\n");
        good_c("EXPORT_SYMBOL(f)\nMODULE_THING(g)\nint f(void)\n{\n    return 1;\n}\n");
        good_c("void f(void)\n{\n    list_for_each(x, y) {\n        g(x);\n    }\n}\n");
        good_c("char *p(void)\n{\n    return NEXT_OF(a, struct b *);\n}\n");
        good_cpp("class A {\n  Q_OBJECT\n  int x GUARDED_BY(mu);\n};\n");
        good_c("char *s = \"a\" PRId64 \"b\";\n");
    }

    #[test]
    fn mistakes_are_found() {
        bad("int f(void)\n{\n    g(1;\n}\nint h(void)\n{\n    return 2;\n}\n", &[3]);
        bad("int f(void)\n{\n    int a = 1\n    return a;\n}\n", &[3]);
        bad("int f(void)\n{\n    return (1;\n}\n", &[3]);
        bad("int f(void)\n{\n    if (x {\n    }\n}\n", &[3]);
        bad("int f(void)\n{\n    a = b];\n}\n", &[3]);
        bad("int f(void)\n{\n    if (x) {\n}\n", &[2]);
        bad("int f(void)\n{\n}\n}\n", &[4]);
        bad("int a;\n#if A\nint b;\n", &[2]);
        bad("int a;\n#endif\n", &[2]);
        bad("#else\nint a;\n", &[1]);
    }

    #[test]
    fn long_texts_end() {
        let long = " ".repeat(MOST_PARSED + 1);
        assert_eq!(check_c(&long).unwrap_err(), Unparsed::TooLarge(MOST_PARSED + 1));
        for shard in ["(", "{", "<", "\"", "a(", "if(", "#if A\n{", "struct{"] {
            let text = shard.repeat(20_000 / shard.len());
            let _ = check_c(&text);
            let _ = check_cpp(&text);
        }
    }
}
