//! Replies that are longer than a client shows: cut after a whole line, said first and last.

/// Bytes left for what is said about a cut.
pub(super) const ROOM: usize = 512;

/// The length of the part of a text that fits: whole lines, or as much of the first as there is room
/// for.
pub(super) fn fitting(text: &str, most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }
    let most = text.floor_char_boundary(most);
    text[..most].rfind('\n').map_or(most, |end| end + 1)
}

/// A reply of at most so many bytes. What is cut off is said before and after it, with what to do
/// for `more`.
pub(super) fn capped(text: String, most: usize, more: &str) -> String {
    if text.len() <= most {
        return text;
    }
    let shown = fitting(&text, most.saturating_sub(ROOM));
    let note = format!("[cut: {shown} of {} bytes shown; {more}]", text.len());
    format!("{note}\n{}\n{note}", text[..shown].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_ends_on_a_whole_line_and_says_so_twice() {
        let long = "line\n".repeat(1_000);
        let shown = capped(long.clone(), 1_000, "ask for less");
        assert!(shown.len() <= 1_000, "{}", shown.len());
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!((lines[0], lines[1]), (*lines.last().expect("one"), "line"));
        assert!(lines[0].contains("of 5000 bytes shown; ask for less"), "{}", lines[0]);
        assert_eq!(capped(long.clone(), 5_000, ""), long);
        assert_eq!(fitting("äöü", 3), 2);
    }
}
