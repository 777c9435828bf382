//! The start and end of a literal value: in quotes of any language, in a block of YAML, in an element
//! of XML. The text may be cut anywhere, and the meaning of a value does not matter.

use std::ops::Range;

/// The most characters right before a quote that belong to it: `b"…"`, `r#"…"#`, `@"…"`.
const MOST_PREFIX: usize = 4;
/// The most bytes of text in an element; more is a document rather than a value.
const MOST_ELEMENT: usize = 4 * 1024;
/// The most bytes of attributes of an element that holds a secret.
const MOST_TAG: usize = 400;
/// The opening of a text that is not read as XML.
const CDATA: &str = "<![CDATA[";
/// The most bytes after the sign of a block on its line: two signs and perhaps a comment.
const MOST_HEADER: usize = 200;
/// The most bytes of a type that is written before its value.
const MOST_TYPE: usize = 120;

/// The text inside the quotes that open here.
pub(crate) fn quoted(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let prefix = rest.bytes().take(MOST_PREFIX + 1).position(|byte| b"\"'`\\".contains(&byte))?;
    if !rest[..prefix].chars().all(|c| c.is_ascii_alphabetic() || "#@$".contains(c)) {
        return None;
    }
    let rest = &rest[prefix..];
    let slashes = rest.len() - rest.trim_start_matches('\\').len();
    let quote = rest[slashes..].chars().next().filter(|c| "\"'`".contains(*c))?;
    let open = at + prefix + slashes + 1;
    let inside = &text[open..];
    let double: String = [quote, quote].iter().collect();
    let length = match inside.strip_prefix(&double) {
        Some(long) if slashes == 0 && quote != '`' => {
            let start = open + double.len();
            let close: String = [quote, quote, quote].iter().collect();
            return filled(text, start..start + long.find(&close).unwrap_or(long.len()));
        }
        _ => closed(inside, quote, slashes),
    };
    filled(text, open..open + length)
}

/// The length up to the closing quote, or to the end of the line if it is missing. A quote that opens
/// after some backslashes closes after as many; more of them belong to the text inside.
fn closed(inside: &str, quote: char, slashes: usize) -> usize {
    let mut run = 0;
    for (at, c) in inside.char_indices() {
        match c {
            '\\' => run += 1,
            '\n' | '\r' if quote != '`' => return at,
            _ if c == quote && run % (2 * (slashes + 1)) == slashes => return at - slashes,
            _ => run = 0,
        }
    }
    inside.len()
}

/// The length and the character of a JSON escape that begins here, or of two if the character takes two.
pub(crate) fn unicode(text: &str) -> Option<(usize, char)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex { u16::from_str_radix(digits, 16).ok() } else { None }
    };
    let first = unit(0)?;
    let pair = [first, unit(6).unwrap_or_default()];
    match char::decode_utf16(pair).next() {
        Some(Ok(c)) => Some((if c.len_utf16() == 2 { 12 } else { 6 }, c)),
        _ => Some((6, char::REPLACEMENT_CHARACTER)),
    }
}

/// The block of YAML that begins here: all lines below that are indented further than the line of its name.
pub(crate) fn block(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    // The other form is that of HTML.
    let announced = rest.strip_prefix(['|', '>']).or_else(|| rest.strip_prefix("&gt;"))?;
    let length = announced.bytes().take(MOST_HEADER).position(|byte| byte == b'\n')?;
    let (header, body) = (&announced[..length], &announced[length + 1..]);
    let sign = header.split('#').next().unwrap_or_default().trim();
    if !sign.chars().all(|c| c.is_ascii_digit() || "+-".contains(c)) {
        return None;
    }
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    let margin = indent(line);
    let start = text.len() - body.len();
    let mut end = start;
    for line in body.split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        if !is_blank && indent(line) <= margin {
            break;
        }
        end += line.len();
    }
    let inner = text[start..end].trim_end();
    filled(text, start + indent(inner)..start + inner.len())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The end of an opening tag whose name ended here.
pub(crate) fn past_tag(text: &str, at: usize) -> Option<usize> {
    let length = text[at..].bytes().take(MOST_TAG).position(|byte| b"<>".contains(&byte))?;
    let is_closed = text[at + length..].starts_with('>') && !text[at..at + length].ends_with('/');
    is_closed.then_some(at + length + 1)
}

/// The text of an element whose opening tag ends here.
pub(crate) fn element(text: &str, at: usize) -> Option<Range<usize>> {
    let begun = text[at..].trim_start();
    if let Some(data) = begun.strip_prefix(CDATA) {
        let start = text.len() - data.len();
        let most = data.floor_char_boundary(MOST_ELEMENT);
        return filled(text, start..start + data[..most].find("]]>")?);
    }
    let length = text[at..].bytes().take(MOST_ELEMENT).position(|byte| byte == b'<')?;
    let is_closed = text[at + length..].starts_with("</");
    if is_closed { filled(text, at..at + length) } else { None }
}

/// The offset of a value after the type that begins here and an equals sign.
pub(crate) fn past_type(text: &str, at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, c) in text[at..].char_indices().take(MOST_TYPE) {
        match c {
            '=' if depth == 0 && offset > 0 => {
                let value = &text[at + offset + 1..];
                return Some(text.len() - value.trim_start_matches([' ', '\t']).len());
            }
            '[' | '<' => depth += 1,
            ']' | '>' => depth = depth.checked_sub(1)?,
            ',' if depth > 0 => {}
            _ if c.is_alphanumeric() || "_&' .|?:*".contains(c) => {}
            _ => return None,
        }
    }
    None
}

fn filled(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    (!text[range.clone()].trim().is_empty()).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_close_where_their_language_closes_them() {
        for (text, inside) in [
            (r#""a b" c"#, "a b"),
            (r#""a\"b" c"#, r#"a\"b"#),
            (r#""a\\" c"#, r"a\\"),
            (r#"\"a\\\"b\", \"c\""#, r#"a\\\"b"#),
            (r"'it\'s' c", r"it\'s"),
            ("\"open\nnext\"", "open"),
            ("\"\"\"two\nlines\"\"\" c", "two\nlines"),
            ("`two\nlines` c", "two\nlines"),
            ("rb'x' c", "x"),
            ("r#\"x\"#", "x"),
        ] {
            assert_eq!(quoted(text, 0).map(|range| &text[range]), Some(inside), "{text}");
        }
        for text in ["", "word \"x\"", "\"\"", "a.b\"x\"", "\\n", "longer\"x\""] {
            assert_eq!(quoted(text, 0), None, "{text}");
        }
    }

    #[test]
    fn nothing_is_too_odd_to_be_read() {
        for odd in ["\"", "'", "\\", "\\\"", "|", "|\n", "<", "é\"", ">\n\n\n", "\"é", "é="] {
            for at in (0..=odd.len()).filter(|at| odd.is_char_boundary(*at)) {
                let all = [quoted(odd, at), block(odd, at), element(odd, at)];
                assert!(all.into_iter().flatten().all(|range| odd.get(range).is_some()), "{odd}");
                assert!(past_type(odd, at).is_none_or(|start| odd.get(start..).is_some()), "{odd}");
            }
        }
    }
}
