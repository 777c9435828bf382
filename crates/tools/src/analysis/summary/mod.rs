//! What a data file holds, in a few lines: pure functions from text to text. Broken files are
//! told as broken and then shown as plain text; nothing here fails.

pub mod json;
pub mod markdown;
pub mod plain;
pub mod toml;
pub mod yaml;

use std::fmt;

/// Characters of a whole summary. It is read before a file is opened, so it must cost far less
/// than the file.
const MOST_CHARS: usize = 4_000;
/// Characters of one line of it.
const LINE_CHARS: usize = 120;

/// A text that is not what its name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// What is wrong with it.
    pub message: String,
    /// The line where it shows, from 1.
    pub line: Option<usize>,
    /// The character in that line, from 1.
    pub column: Option<usize>,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: {}", self.message),
            (Some(line), None) => write!(f, "line {line}: {}", self.message),
            _ => f.write_str(&self.message),
        }
    }
}

/// The language of a data file and the lines that sum it up; `None` for a name that is not
/// known to be one.
pub fn of_data_file(name: &str, text: &str) -> Option<(&'static str, String)> {
    type Summarise = fn(&str) -> Result<String, Unreadable>;
    let file = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    let (language, summarise): (_, Summarise) = match (file.as_str(), extension) {
        ("cargo.lock" | "poetry.lock" | "uv.lock" | "pipfile", _) | (_, "toml") => ("TOML", toml::summarise),
        ("pipfile.lock" | "composer.lock" | "flake.lock", _)
        | (_, "json" | "jsonc" | "json5" | "geojson" | "ipynb" | "webmanifest") => ("JSON", json::summarise),
        (_, "yaml" | "yml") => ("YAML", yaml::summarise),
        (_, "md" | "markdown" | "mdown" | "mkd") => ("Markdown", markdown::summarise),
        ("license" | "copying" | "authors" | "notice", _)
        | (
            _,
            "txt" | "text" | "log" | "csv" | "tsv" | "ini" | "cfg" | "conf" | "properties" | "rst" | "adoc",
        ) => ("Text", plain::summarise),
        _ => return None,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let summary = summarise(text).unwrap_or_else(|broken| {
        let shown = plain::summarise(text).unwrap_or_default();
        let mut sheet = Sheet::new();
        sheet.line(0, &format!("not valid {language}: {broken}"));
        shown.lines().for_each(|line| sheet.line(0, line));
        sheet.finish()
    });
    Some((language, summary))
}

/// Lines that grow up to a limit and then are only counted.
struct Sheet {
    text: String,
    chars: usize,
    more: usize,
}

impl Sheet {
    fn new() -> Self {
        Self { text: String::new(), chars: 0, more: 0 }
    }

    /// True once further lines are only counted.
    fn full(&self) -> bool {
        self.more > 0
    }

    /// Adds a line, indented by so many steps and cut if it is long.
    fn line(&mut self, level: usize, line: &str) {
        if self.full() {
            self.more += 1;
            return;
        }
        let indented = format!("{}{}", "  ".repeat(level), cut(line));
        let chars = indented.chars().count() + 1;
        // The note at the end needs some room too.
        const NOTE: usize = 40;
        if self.chars + chars > MOST_CHARS - NOTE {
            self.more = 1;
            return;
        }
        self.chars += chars;
        self.text.push_str(&indented);
        self.text.push('\n');
    }

    fn finish(mut self) -> String {
        if self.full() {
            self.text.push_str(&format!("[{} more lines left out]\n", self.more));
        }
        self.text
    }
}

/// A line on a summary: cut when it is long, its control characters shown as blanks. A tab is kept:
/// in a makefile it means something.
fn cut(line: &str) -> String {
    let mut shown: String =
        line.chars().take(LINE_CHARS).map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect();
    // Counting a giant line to its end would tell nothing more.
    if line.chars().nth(LINE_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// `1 key`, `2 keys`.
fn count(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// The line and the column of a byte, both from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let lines = crate::text::Lines::of(before);
    let ended = before.ends_with(['\n', '\r']);
    let start = if ended { before.len() } else { lines.range(lines.count()).map_or(0, |line| line.start) };
    (lines.count().max(1) + usize::from(ended), before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(name: &str, text: &str, language: &str, summary: &str) {
        assert_eq!(of_data_file(name, text), Some((language, summary.to_owned())), "{name}");
    }

    #[test]
    fn the_name_says_what_it_is() {
        check("Cargo.toml", "a = 1\n", "TOML", "a: integer\n");
        check("deep/Cargo.lock", "version = 4\n", "TOML", "version: integer\n");
        check("x.JSON", "{\"a\": 1}", "JSON", "a: number\n");
        check("x.yml", "a: 1\n", "YAML", "a: scalar\n");
        check("README.md", "# A\n", "Markdown", "A\n");
        check("notes.txt", "hello\n", "Text", "hello\n");
        check("LICENSE", "hello\n", "Text", "hello\n");
        check("x.toml", "\u{feff}a = 1\n", "TOML", "a: integer\n");
        for other in ["main.rs", "toml", "Makefile", "", "/", ".json.rs"] {
            assert_eq!(of_data_file(other, "x"), None, "{other}");
        }
    }

    #[test]
    fn a_broken_file_is_told_and_shown() {
        let (_, text) = of_data_file("x.toml", "a = 1\nb = = 2\n").expect("known");
        assert!(text.starts_with("not valid TOML: line 2, column 5: "), "{text}");
        assert!(text.ends_with("\na = 1\nb = = 2\n"), "{text}");
        let (_, text) = of_data_file("x.json", "{\n  \"a\": ]\n}").expect("known");
        assert!(text.starts_with("not valid JSON: line 2, column 8: "), "{text}");
        assert!(text.ends_with("\n{\n  \"a\": ]\n}\n"), "{text}");
    }

    #[test]
    fn a_summary_never_grows_beyond_its_limit() {
        let keys: String = (0..100_000).map(|n| format!("key{n} = [{}]\n", "1,".repeat(20))).collect();
        let json =
            format!("{{{}}}", (0..100_000).map(|n| format!("\"k{n}\":{{}}")).collect::<Vec<_>>().join(","));
        let yaml: String = (0..100_000).map(|n| format!("key{n}:\n  - a\n")).collect();
        let headings: String = (0..100_000).map(|n| format!("# Heading {n}\n")).collect();
        let giant = "é".repeat(10_000_000);
        for (name, text) in [("a.toml", &keys), ("a.json", &json), ("a.yaml", &yaml), ("a.md", &headings)] {
            let (_, summary) = of_data_file(name, text).expect("known");
            assert!(summary.chars().count() <= MOST_CHARS, "{name}");
            assert!(summary.ends_with(" more lines left out]\n"), "{name}: {summary}");
        }
        for name in ["a.toml", "a.json", "a.yaml", "a.md", "a.txt"] {
            let (_, summary) = of_data_file(name, &giant).expect("known");
            assert!(summary.chars().count() <= MOST_CHARS, "{name}");
        }
    }

    #[test]
    fn a_place_is_a_line_and_a_column() {
        let check = |text: &str, at, expect| assert_eq!(place(text, at), expect, "{text:?} {at}");
        check("", 0, (1, 1));
        check("ab", 1, (1, 2));
        check("a\nb", 2, (2, 1));
        check("a\r\nbé!", 6, (2, 3));
        check("a\n\n", 3, (3, 1));
        check("é", 1, (1, 1));
    }

    #[test]
    fn deep_nesting_ends_well() {
        let deep = 200_000;
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("{a=", "}"), ("- ", ""), ("> ", ""), ("a.", "")]
        {
            let text = format!("{}{}", open.repeat(deep), close.repeat(deep));
            for name in ["a.toml", "a.json", "a.yaml", "a.md", "a.txt"] {
                for text in
                    [text.clone(), format!("a = {text}"), format!("{{\"x\": {text}}}"), format!("a: {text}")]
                {
                    let (_, summary) = of_data_file(name, &text).expect("known");
                    assert!(summary.chars().count() <= MOST_CHARS, "{name}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_ends_well(text in "\\PC{0,80}|([ -~\\n\\r\\t\u{c}#`=:'\"\\[\\]{}|>-]|\\PC){0,200}") {
            for name in ["a.toml", "a.json", "a.yaml", "a.md", "a.txt"] {
                let (_, summary) = of_data_file(name, &text).expect("known");
                prop_assert!(summary.chars().count() <= MOST_CHARS);
                prop_assert!(summary.is_empty() || summary.ends_with('\n'));
            }
        }
    }
}
