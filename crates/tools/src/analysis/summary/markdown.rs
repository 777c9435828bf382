//! Markdown: its headings of the first three levels, indented by level.

use super::sheet::{LINE_CHARS, Sheet, Unreadable};
use crate::text::{body, split};

/// Deeper headings are left to whoever reads the file.
const DEEPEST: usize = 3;

/// The headings. Code between fences and the front matter at the start have none.
pub fn summarise(text: &str) -> Result<String, Unreadable> {
    let mut sheet = Sheet::new();
    let mut fence: Option<(char, usize)> = None;
    // The words since the last blank line: an underline makes a heading of them.
    let mut paragraph = String::new();
    for line in split(&text[front_matter(text)..]) {
        let line = body(line);
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
            if level <= DEEPEST {
                sheet.line(level - 1, heading);
            }
            paragraph.clear();
        } else if let Some(level) = underline(words).filter(|_| !paragraph.is_empty()) {
            sheet.line(level - 1, &paragraph);
            paragraph.clear();
        } else if words.is_empty() || is_block(words) {
            paragraph.clear();
        } else {
            append(&mut paragraph, words);
        }
    }
    Ok(sheet.finish())
}

/// Where the text begins after lines between `---` at its very start.
fn front_matter(text: &str) -> usize {
    let lines = crate::text::Lines::of(text);
    let is_rule =
        |number: usize| lines.range(number).is_some_and(|line| body(&text[line]).trim_end() == "---");
    if !is_rule(1) {
        return 0;
    }
    let end = (2..=lines.count()).find(|number| is_rule(*number));
    end.and_then(|end| lines.range(end)).map_or(0, |line| line.end)
}

/// How far a line is indented, and the rest of it.
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

fn append(paragraph: &mut String, words: &str) {
    // Beyond the length of a line nothing more of it will show.
    if paragraph.len() > LINE_CHARS * 4 {
        return;
    }
    if !paragraph.is_empty() {
        paragraph.push(' ');
    }
    paragraph.extend(words.chars().take(LINE_CHARS + 1));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(summarise(text), Ok(expect.to_owned()), "{text:?}");
    }

    #[test]
    fn headings_are_indented_by_level() {
        check("# One\ntext\n## Two\n### Three\n#### Four\n# Again\r\n", "One\n  Two\n    Three\nAgain\n");
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
}
