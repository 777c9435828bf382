//! The ends of a file's lines, kept when its text was made anew by something that knows one kind only.

/// The mark that some editors put before a text in UTF-8.
pub(super) const MARK: &str = "\u{feff}";

/// The text with the mark at the beginning and the ends of lines that the file had. The document
/// knows one kind of end only; a line that is new gets the kind that most have.
pub(super) fn with_ends_of(before: &str, text: &str) -> String {
    if !before.contains('\r') && !before.starts_with(MARK) {
        return text.to_owned();
    }
    let (mark, body) = match before.strip_prefix(MARK) {
        Some(body) => (MARK, body),
        None => ("", before),
    };
    let lines: Vec<&str> = body.split_inclusive('\n').collect();
    let returns = lines.iter().filter(|line| line.ends_with("\r\n")).count();
    let usual = if returns * 2 > lines.len() { "\r\n" } else { "\n" };
    let plain = body.replace("\r\n", "\n");
    let text = text.strip_prefix(MARK).unwrap_or(text).replace("\r\n", "\n");
    let diff = similar::TextDiff::from_lines(&plain, &text);
    let mut out = String::from(mark);
    for change in diff.iter_all_changes().filter(|change| change.new_index().is_some()) {
        match change.old_index().and_then(|at| lines.get(at)) {
            Some(line) => out.push_str(line),
            None => out.push_str(&change.value().replace('\n', usual)),
        }
    }
    out
}
