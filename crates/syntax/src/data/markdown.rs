//! Markdown: its headings, by level.

use super::{DataFormat, lines, span_of};
use crate::{Entry, Kind, Problem, Span};

/// Nothing shows more of a heading over several lines.
const HEADING_BYTES: usize = 480;

/// The headings. Code between fences and the front matter at the start have none.
pub struct Markdown;

impl DataFormat for Markdown {
    const KIND: Kind = Kind::Heading;

    fn read(text: &str, show: &mut dyn FnMut(Entry)) -> Result<(), Problem> {
        let mut fence: Option<(char, usize)> = None;
        // The lines since the last blank one: an underline makes a heading of them.
        let mut paragraph: Vec<&str> = Vec::new();
        for line in lines(&text[front_matter(text)..]) {
            let (indent, words) = unindented(line);
            if let Some((mark, length)) = fence {
                if indent < 4 && closes(words, mark, length) {
                    fence = None;
                }
                continue;
            }
            if indent >= 4 {
                // Code, or a further line of a paragraph.
                if !paragraph.is_empty() {
                    append(&mut paragraph, words);
                }
                continue;
            }
            if let Some(opened) = opens(words) {
                fence = Some(opened);
                paragraph.clear();
            } else if let Some((level, heading)) = marked(words) {
                show(entry(text, line, level, &[heading]));
                paragraph.clear();
            } else if let (Some(level), Some(first)) = (underline(words), paragraph.first()) {
                show(entry(text, first, level, &paragraph));
                paragraph.clear();
            } else if words.is_empty() || is_block(words) {
                paragraph.clear();
            } else {
                append(&mut paragraph, words);
            }
        }
        Ok(())
    }
}

/// A heading that begins with this line. Its name is what stands in the first line of it.
fn entry(text: &str, line: &str, level: usize, words: &[&str]) -> Entry {
    let whole = Span::at(span_of(text, line).start as usize);
    let name = words.first().map_or(whole, |first| span_of(text, first));
    Entry { level: level - 1, line: words.join(" "), name, whole }
}

/// The beginning of the text after lines between `---` at its very start.
fn front_matter(text: &str) -> usize {
    let mut rules = lines(text).map(|line| (line.trim_end() == "---", line));
    match (rules.next(), rules.find(|(rule, _)| *rule)) {
        (Some((true, _)), Some((_, end))) => span_of(text, end).end as usize,
        _ => 0,
    }
}

/// The indentation of a line, and the rest of it.
fn unindented(line: &str) -> (usize, &str) {
    let words = line.trim_start_matches([' ', '\t']);
    let indent = line[..line.len() - words.len()].chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    (indent, words.trim_end())
}

/// `## Heading ##`: its level and its words.
fn marked(words: &str) -> Option<(usize, &str)> {
    let level = words.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &words[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let heading = rest.trim();
    let open = heading.trim_end_matches('#');
    // A closing run of `#` stands apart from the words.
    let closed = open.is_empty() || open.ends_with([' ', '\t']);
    Some((level, if closed { open.trim_end() } else { heading }))
}

/// The level of a heading whose words stand above this line.
fn underline(words: &str) -> Option<usize> {
    let all = |mark: char| !words.is_empty() && words.chars().all(|c| c == mark);
    if all('=') { Some(1) } else { all('-').then_some(2) }
}

/// The mark and the length of an opening fence.
fn opens(words: &str) -> Option<(char, usize)> {
    let mark = words.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let length = words.chars().take_while(|c| *c == mark).count();
    // A backtick after the fence would make it code inside a line.
    (length >= 3 && !(mark == '`' && words[length..].contains('`'))).then_some((mark, length))
}

fn closes(words: &str, mark: char, length: usize) -> bool {
    words.len() >= length && words.chars().all(|c| c == mark)
}

/// Lists, quotes and tables: no underline makes a heading of them.
fn is_block(words: &str) -> bool {
    let bullet = words.starts_with(['-', '*', '+']) && words[1..].starts_with([' ', '\t']);
    let digits = words.bytes().take_while(u8::is_ascii_digit).count();
    let number =
        digits > 0 && words[digits..].starts_with(['.', ')']) && words[digits + 1..].starts_with(' ');
    bullet || number || words.starts_with(['>', '|', '<'])
}

fn append<'t>(paragraph: &mut Vec<&'t str>, words: &'t str) {
    if paragraph.iter().map(|line| line.len() + 1).sum::<usize>() <= HEADING_BYTES {
        paragraph.push(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::tests::{outlined, told};

    fn check(text: &str, expect: &str) {
        assert_eq!(told::<Markdown>(text), Ok(expect.to_owned()), "{text:?}");
    }

    #[test]
    fn headings_are_indented_by_level() {
        check(
            "# One\ntext\n## Two\n### Three\n#### Four\n# Again\r\n",
            "One\n  Two\n    Three\n      Four\nAgain\n",
        );
        check("  ## In\t\n#No\n####### No\n#\n## Closed ##\n# C#\n", "  In\n\n  Closed\nC#\n");
        check("    # code\n\t# code\n", "");
        check("", "");
    }

    #[test]
    fn underlined_headings_count_too() {
        check("One\n===\nTwo\n---\n", "One\n  Two\n");
        check("Two\nlines\n=\n", "Two lines\n");
        check("\n---\n", "");
        check("- list\n---\n", "");
        check("1. list\n---\n> quote\n---\n| table |\n---\n", "");
        check("# A\n---\n", "A\n");
    }

    #[test]
    fn fences_hide_what_looks_like_a_heading() {
        check("```sh\n# no\n```\n# yes\n", "yes\n");
        check("~~~\n# no\n```\n# no\n~~~~\n# yes\n", "yes\n");
        check("````\n```\n# no\n````\n# yes\n", "yes\n");
        check("```\n# never closed\n", "");
        check("``` a`b\n# yes\n", "yes\n");
        check("words\n```\nx\n```\n===\n", "");
    }

    #[test]
    fn front_matter_is_passed_over() {
        check("---\ntitle: x\n# no\n---\n# yes\n", "yes\n");
        check("---\n# yes\n", "yes\n");
    }

    #[test]
    fn a_section_holds_those_below_it() {
        let text = "# One\ntext\n\n## Two ##\nmore\n\nLong\nTitle\n===\nend\n";
        let long = "Long\nTitle\n===\nend";
        let expect = [("One", "# One\ntext\n\n## Two ##\nmore"), ("Two", "## Two ##\nmore"), ("Long", long)];
        assert_eq!(outlined::<Markdown>(text), expect);
    }
}
