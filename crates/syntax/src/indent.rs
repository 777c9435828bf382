//! Fitting a piece of code to the place it goes to: its depth, and the file's own unit.

use crate::{Bodies, Language, Span};

/// Re-indents `content` so that its first line stands at `base` and each level below it is one
/// `unit` deep; without a unit the content keeps its own. Lines inside strings are not touched,
/// lines that go on with an open bracket keep their distance. Line ends become `\n`; blank
/// lines around the content go.
pub fn fit(language: &Language, content: &str, base: &str, unit: Option<&str>) -> String {
    let content = trimmed(&content.replace("\r\n", "\n").replace('\r', "\n"));
    let strings = language.strings(&content);
    let lines = read(&content, &strings, language.pack().style.bodies);
    let levels = Levels::of(&lines);
    let mut fitted = String::with_capacity(content.len() + lines.len() * base.len());
    let (mut start_width, mut start_indent) = (0, base.to_owned());
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            fitted.push('\n');
        }
        match line.place {
            Place::InString => fitted.push_str(line.whole),
            _ if line.words.is_empty() => {}
            Place::Starts => {
                start_width = line.width;
                start_indent = levels.indent(line.width, base, unit);
                fitted.push_str(&start_indent);
                fitted.push_str(line.words);
            }
            Place::GoesOn => {
                fitted.push_str(&start_indent);
                fitted.push_str(&" ".repeat(line.width.saturating_sub(start_width)));
                fitted.push_str(line.words);
            }
        }
    }
    fitted
}

/// Without blank lines before and after.
fn trimmed(content: &str) -> String {
    let mut start = 0;
    for line in content.split_inclusive('\n') {
        if !line.trim().is_empty() {
            break;
        }
        start += line.len();
    }
    content[start..].trim_end().to_owned()
}

struct Line<'t> {
    whole: &'t str,
    words: &'t str,
    /// Columns before the words; a tab goes to the next multiple of eight.
    width: usize,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A line of its own.
    Starts,
    /// Goes on with what was open: a bracket, a joined line.
    GoesOn,
    /// Begins inside a string.
    InString,
}

fn read<'t>(content: &'t str, strings: &[Span], bodies: Bodies) -> Vec<Line<'t>> {
    let mut lines = Vec::new();
    let (mut at, mut depth, mut joined) = (0, 0usize, false);
    for whole in content.split('\n') {
        let (start, end) = (at, at + whole.len());
        at = end + 1;
        let inside = |offset: usize| {
            let index = strings.partition_point(|string| (string.start as usize) < offset);
            strings[..index].last().is_some_and(|string| offset < string.end as usize)
        };
        let words = whole.trim_start_matches([' ', '\t', '\x0c']);
        let goes_on = bodies == Bodies::Indented && (depth > 0 || joined);
        let place = match (inside(start), goes_on) {
            (true, _) => Place::InString,
            (false, true) => Place::GoesOn,
            (false, false) => Place::Starts,
        };
        lines.push(Line { whole, words, width: columns(&whole[..whole.len() - words.len()]), place });
        // Brackets only count in languages whose bodies they do not mark.
        for (offset, byte) in (start..end).zip(whole.bytes()) {
            match byte {
                _ if inside(offset) || strings.iter().any(|string| string.start as usize == offset) => {}
                b'#' if bodies == Bodies::Indented => break,
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        joined = whole.ends_with('\\');
    }
    lines
}

fn columns(blanks: &str) -> usize {
    blanks.bytes().fold(0, |width, byte| if byte == b'\t' { (width / 8 + 1) * 8 } else { width + 1 })
}

/// The depths that occur in a content, shallow to deep.
struct Levels {
    /// Widths of the lines on the way down to each line, by width.
    widths: Vec<usize>,
    /// One step of the content itself.
    step: usize,
    tabs: bool,
}

impl Levels {
    fn of(lines: &[Line<'_>]) -> Self {
        let starts = || lines.iter().filter(|line| line.place == Place::Starts && !line.words.is_empty());
        let mut widths: Vec<usize> = starts().map(|line| line.width).collect();
        // A first line that lost its indentation in quoting counts as the shallowest other one,
        // if that cannot be its body.
        let first = widths.first().copied().unwrap_or(0);
        let second = widths.get(1).copied().unwrap_or(0);
        let opens = starts().next().is_some_and(|line| {
            let words = line.words.trim_end();
            words.ends_with([':', '{', '(', '[', ',', '\\']) || words.ends_with("do") || words.contains(':')
        });
        if first < second && !opens {
            widths.remove(0);
        }
        widths.sort_unstable();
        widths.dedup();
        let step = widths.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(0);
        let tabs = starts().any(|line| line.whole.starts_with('\t'));
        Self { widths, step, tabs }
    }

    /// The indentation for a line of this width.
    fn indent(&self, width: usize, base: &str, unit: Option<&str>) -> String {
        let shallowest = self.widths.first().copied().unwrap_or(0);
        let over = width.saturating_sub(shallowest);
        if over == 0 {
            return base.to_owned();
        }
        match unit {
            Some(unit) if self.step > 0 => {
                format!("{base}{}{}", unit.repeat(over / self.step), " ".repeat(over % self.step))
            }
            _ if self.tabs => format!("{base}{}", "\t".repeat(over / 8)),
            _ => format!("{base}{}", " ".repeat(over)),
        }
    }
}

#[cfg(all(test, feature = "lang-python", feature = "lang-rust"))]
mod tests {
    use super::*;
    use crate::Packs;

    #[track_caller]
    fn check(id: &str, content: &str, base: &str, unit: Option<&str>, expect: &str) {
        let packs = Packs::all();
        assert_eq!(fit(packs.named(id).expect("a pack"), content, base, unit), expect, "{content:?}");
    }

    #[test]
    fn depth_and_unit_are_those_of_the_place() {
        let content = "def f():\n    if a:\n        return 1\n";
        check("python", content, "", None, "def f():\n    if a:\n        return 1");
        check("python", content, " ", Some(" "), " def f():\n  if a:\n   return 1");
        check("python", content, "\t", Some("\t"), "\tdef f():\n\t\tif a:\n\t\t\treturn 1");
        check(
            "python",
            "\n\n        def f():\r\n            pass\n\n",
            "    ",
            Some("    "),
            "    def f():\n        pass",
        );
        check("rust", "fn f() {\n  a();\n}", "    ", Some("    "), "    fn f() {\n        a();\n    }");
    }

    #[test]
    fn a_first_line_without_its_indentation_is_understood() {
        check(
            "python",
            "@a\n    def f(self):\n        pass",
            "    ",
            Some("    "),
            "    @a\n    def f(self):\n        pass",
        );
        check("python", "def f(self):\n        pass", "    ", Some("    "), "    def f(self):\n        pass");
    }

    #[test]
    fn strings_and_continuations_keep_their_shape() {
        let content = "def f():\n    x = g(1,\n          2)\n    return '''\n  a\n'''";
        let expect = "  def f():\n    x = g(1,\n          2)\n    return '''\n  a\n'''";
        check("python", content, "  ", Some("  "), expect);
    }
}
