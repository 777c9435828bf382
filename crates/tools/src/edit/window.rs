//! The part of two texts outside of which they are the same, line by line. A small edit of a
//! large file is compared there only.

use std::ops::Range;

/// Byte ranges of both texts: whole lines, with everything that differs and some lines around it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) before: Range<usize>,
    pub(super) after: Range<usize>,
}

impl Window {
    /// With this many unchanged lines at both ends, where there are so many.
    pub(super) fn around_changes(before: &str, after: &str, context: usize) -> Self {
        let (old, new) = (before.as_bytes(), after.as_bytes());
        let same = |(a, b): &(&u8, &u8)| a == b;
        let head = old.iter().zip(new).take_while(same).count();
        let (old_rest, new_rest) = (&old[head..], &new[head..]);
        let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();

        let mut start = head;
        // A `\r` at the edge may end a line in one text and begin a `\r\n` in the other.
        if start > 0 && old[start - 1] == b'\r' {
            start -= 1;
        }
        start = line_start(old, start);
        for _ in 0..context {
            start = line_start(old, start.saturating_sub(1));
        }
        // The first line end of the common tail is one in both texts.
        let mut end = line_end(old, old.len() - tail);
        for _ in 0..context {
            end = line_end(old, end);
        }
        Self { before: start..end, after: start..new.len() - (old.len() - end) }
    }
}

/// The beginning of the line that this offset is in.
fn line_start(text: &[u8], offset: usize) -> usize {
    (1..=offset).rev().find(|at| between_lines(text, *at)).unwrap_or(0)
}

/// The end of the line that this offset is in: behind its line end, or at the end of the text.
fn line_end(text: &[u8], offset: usize) -> usize {
    (offset + 1..=text.len()).find(|at| between_lines(text, *at)).unwrap_or(text.len())
}

fn between_lines(text: &[u8], at: usize) -> bool {
    match text[at - 1] {
        b'\n' => true,
        b'\r' => text.get(at) != Some(&b'\n'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::split;

    #[track_caller]
    fn check(before: &str, after: &str, expect: (&str, &str)) {
        let window = Window::around_changes(before, after, 1);
        assert_eq!((&before[window.before], &after[window.after]), expect);
    }

    #[test]
    fn a_window_holds_the_change_and_its_neighbours() {
        check("1\n2\n3\n4\n5\n", "1\n2\nx\n4\n5\n", ("2\n3\n4\n", "2\nx\n4\n"));
        check("1\n2\n3\n", "1\n2\n3\n4", ("3\n", "3\n4"));
        check("1\r\n2\r\n3", "1\r2\r\n3", ("1\r\n2\r\n3", "1\r2\r\n3"));
        check("", "a\n", ("", "a\n"));
    }

    proptest! {
        /// Outside the window both texts have the same lines, and so many are shown inside.
        #[test]
        fn nothing_differs_outside(before in "([ab]|\r|\n|\r\n|ä){0,24}", after in "([ab]|\r|\n|\r\n|ä){0,24}", context in 0_usize..4) {
            let window = Window::around_changes(&before, &after, context);
            let (old, new) = (split(&before), split(&after));
            let parts = |text: &str, range: Range<usize>| {
                [&text[..range.start], &text[range.clone()], &text[range.end..]].map(str::to_owned)
            };
            let (old_parts, new_parts) = (parts(&before, window.before), parts(&after, window.after));
            let lines = |parts: &[String; 3]| parts.iter().flat_map(|part| split(part)).map(str::to_owned).collect::<Vec<_>>();
            // The cuts are between lines.
            prop_assert_eq!(lines(&old_parts), old.clone());
            prop_assert_eq!(lines(&new_parts), new.clone());
            prop_assert_eq!(&old_parts[0], &new_parts[0]);
            prop_assert_eq!(&old_parts[2], &new_parts[2]);
            let (inner_old, inner_new) = (split(&old_parts[1]), split(&new_parts[1]));
            let same = inner_old.iter().zip(&inner_new).take_while(|(a, b)| a == b).count();
            prop_assert!(same >= context || old_parts[0].is_empty());
            let same = inner_old.iter().rev().zip(inner_new.iter().rev()).take_while(|(a, b)| a == b).count();
            prop_assert!(same >= context || old_parts[2].is_empty());
        }
    }
}
