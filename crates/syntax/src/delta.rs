//! The problems that an edit brought: what was wrong before never counts against it.

use std::{collections::HashMap, ops::Range};

use crate::Problem;

/// The problems of the new text that the old one did not have. `edited` is where the new text
/// differs.
pub fn introduced<'p>(
    before: (&str, &[Problem]),
    after: (&str, &'p [Problem]),
    edited: &[Range<usize>],
) -> Vec<&'p Problem> {
    let mut known: HashMap<(&str, &str), usize> = HashMap::new();
    for problem in before.1 {
        *known.entry(key(before.0, problem)).or_default() += 1;
    }
    let mut fresh: Vec<&Problem> = Vec::new();
    for problem in after.1 {
        match known.get_mut(&key(after.0, problem)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => fresh.push(problem),
        }
    }
    // A parser that recovers may tell an old problem in new words. Only what is more than
    // before, or lies in the new text itself, is new.
    let surplus = after.1.len() > before.1.len();
    let inside = |problem: &&Problem| {
        let at = problem.span.start as usize;
        edited.iter().any(|range| range.start <= at && at <= range.end)
    };
    // A bracket that is left open is told where it was opened, which may be anywhere before.
    let bracket = |problem: &&Problem| {
        problem.message.ends_with("is not closed") || problem.message.ends_with("closes nothing")
    };
    if !surplus {
        fresh.retain(|problem| inside(problem) || bracket(problem));
    }
    fresh
}

/// A problem and its line: where the line is does not matter.
fn key<'t>(text: &'t str, problem: &'t Problem) -> (&'t str, &'t str) {
    let at = (problem.span.start as usize).min(text.len());
    let at = text.floor_char_boundary(at);
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    (text[start..end].trim(), &problem.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    fn problem(text: &str, mark: &str, message: &str) -> Problem {
        Problem { span: Span::at(text.find(mark).expect("there")), message: message.to_owned() }
    }

    #[test]
    fn only_what_is_new_counts() {
        let (old, new) = ("a(\nok\n", "x\na(\nbad)\n");
        let before = [problem(old, "a(", "open")];
        let kept = [problem(new, "a(", "open")];
        assert_eq!(
            introduced((old, &before), (new, &kept), std::slice::from_ref(&(0..1))),
            Vec::<&Problem>::new()
        );
        let more = [problem(new, "a(", "open"), problem(new, "bad)", "closed")];
        assert_eq!(introduced((old, &before), (new, &more), std::slice::from_ref(&(5..9))), [&more[1]]);
        let other = [problem(new, "bad)", "closed")];
        assert_eq!(introduced((old, &before), (new, &other), std::slice::from_ref(&(5..9))), [&other[0]]);
        assert_eq!(
            introduced((old, &before), (new, &other), std::slice::from_ref(&(0..1))),
            Vec::<&Problem>::new()
        );
    }
}
