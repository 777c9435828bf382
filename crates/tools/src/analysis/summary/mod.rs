//! What a data file holds, in a few lines: pure functions from text to text. Broken files are
//! told as broken and then shown as plain text; nothing here fails.

pub mod json;
pub mod markdown;
pub mod plain;
mod sheet;
pub mod toml;
pub mod yaml;

use self::sheet::{Sheet, Unreadable};

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
        ) => ("Text", |text| Ok(plain::summarise(text))),
        _ => return None,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let summary = summarise(text).unwrap_or_else(|broken| {
        let mut sheet = Sheet::new();
        sheet.line(0, &format!("not valid {language}: {broken}"));
        plain::summarise(text).lines().for_each(|line| sheet.line(0, line));
        sheet.finish()
    });
    Some((language, summary))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{sheet::MOST_CHARS, *};

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
