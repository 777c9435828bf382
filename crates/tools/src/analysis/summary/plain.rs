//! Any text: how many lines it has and how it begins.

use super::{Sheet, Unreadable, count};
use crate::text::{Lines, body};

/// Lines shown from the start.
const SHOWN: usize = 8;

/// The number of lines and the first of them.
pub fn summarise(text: &str) -> Result<String, Unreadable> {
    let lines = Lines::of(text);
    let mut sheet = Sheet::new();
    sheet.line(0, &count(lines.count(), "line"));
    for range in (1..=lines.count().min(SHOWN)).filter_map(|number| lines.range(number)) {
        sheet.line(0, body(&text[range]));
    }
    Ok(sheet.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(summarise(text), Ok(expect.to_owned()));
    }

    #[test]
    fn the_start_and_the_number_of_lines() {
        check("", "0 lines\n");
        check("a\r\nb", "2 lines\na\nb\n");
        check(&"x\n".repeat(20), &format!("20 lines\n{}", "x\n".repeat(8)));
        check(&"é".repeat(121), &format!("1 line\n{}…\n", "é".repeat(120)));
        check("a\x1b[31m\tb\n", "1 line\na [31m b\n");
    }
}
