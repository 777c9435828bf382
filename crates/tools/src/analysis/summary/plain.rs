//! Any text: how it begins. How many lines it has is said of every file.

use super::sheet::Sheet;
use crate::text::{Lines, body};

/// Lines shown from the start.
const SHOWN: usize = 8;

/// The first lines.
pub fn summarise(text: &str) -> String {
    let lines = Lines::of(text);
    let mut sheet = Sheet::new();
    for range in (1..=lines.count().min(SHOWN)).filter_map(|number| lines.range(number)) {
        sheet.line(0, body(&text[range]));
    }
    sheet.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(summarise(text), expect);
    }

    #[test]
    fn the_start() {
        check("", "");
        check("a\r\nb", "a\nb\n");
        check(&"x\n".repeat(20), &"x\n".repeat(8));
        check(&"é".repeat(121), &format!("{}…\n", "é".repeat(120)));
        check("a\x1b[31m\tb\n", "a [31m\tb\n");
    }
}
