//! Fitting a piece of code to the place it goes to: its depth, and the file's own unit.

use crate::{Bodies, Detail, Docs, Language, Span, Style};

/// Re-indents `content` so that its first line stands at `base`. Where the content steps in
/// units other than the file's, each of its levels becomes one `unit`; otherwise it is only
/// shifted, and every other blank stays as it was. What has the place's depth and unit already is
/// taken as it is. Lines inside strings are not touched, but for docstrings, which move along;
/// lines that go on with an open bracket or comment keep their distance. Line ends become `\n`;
/// blank lines around the content go.
pub fn fit(language: &Language, content: &str, base: &str, unit: Option<&str>) -> String {
    let content = plain(content);
    let mut lines = read(language, &content);
    let right = lines.first().is_some_and(|line| line.indent == base);
    // Only where depth is syntax is a deeper second line a sign that the first lost its blanks.
    if !right || language.pack().style.bodies == Bodies::Indented {
        mend_first(&mut lines);
    }
    let old_base = lines.first().map_or(String::new(), |line| line.indent.clone());
    let steps = unit.filter(|unit| has_other_unit(&lines, unit, &language.pack().style));
    if steps.is_none() && old_base == base {
        return format!("{base}{}", content.trim_start_matches([' ', '\t', '\x0c']));
    }
    let mut levels: Vec<usize> = Vec::new();
    let (mut start, mut start_now) = (old_base.clone(), base.to_owned());
    let mut fitted = String::with_capacity(content.len() + lines.len() * base.len());
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            fitted.push('\n');
        }
        if matches!(line.place, IndentPlace::InString | IndentPlace::Fixed) {
            fitted.push_str(line.whole);
            continue;
        }
        if line.words.is_empty() {
            continue;
        }
        let indent = match (line.place, steps) {
            (IndentPlace::Starts, Some(unit)) => {
                let width = columns(&line.indent);
                while levels.last().is_some_and(|last| *last > width) {
                    levels.pop();
                }
                if levels.last().is_none_or(|last| *last < width) {
                    levels.push(width);
                }
                format!("{base}{}", unit.repeat(levels.len() - 1))
            }
            (IndentPlace::Starts, None) => shifted(&line.indent, &old_base, base),
            _ => shifted(&line.indent, &start, &start_now),
        };
        if line.place == IndentPlace::Starts {
            (start, start_now) = (line.indent.clone(), indent.clone());
        }
        fitted.push_str(&indent);
        fitted.push_str(line.words);
    }
    fitted
}

/// True if fitting a content changed the indentation of any of its lines but the first.
pub fn is_changed(content: &str, fitted: &str) -> bool {
    let content = plain(content);
    !content.lines().skip(1).eq(fitted.lines().skip(1))
}

/// With `\n` at the end of lines, and without blank lines around.
fn plain(content: &str) -> String {
    trimmed(&content.replace("\r\n", "\n").replace('\r', "\n"))
}

/// True for each line of a text that goes on with what the line before opened: a bracket, a string, a
/// comment, a joined line.
pub fn goes_on(language: &Language, text: &str) -> Vec<bool> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let joins = |line: &Line<'_>| matches!(line.place, IndentPlace::GoesOn | IndentPlace::InString);
    read(language, &text).iter().map(joins).collect()
}

/// The brackets of a text that have no other half, outside comments and strings. Strings are told
/// by their quotes alone, so this is for languages in which that suffices.
pub fn unpaired(pack: &crate::Pack, text: &str) -> Vec<char> {
    let bytes = text.as_bytes();
    let comment = pack.style.comment.as_bytes();
    let (mut open, mut unpaired, mut at) = (Vec::new(), Vec::new(), 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        at += match rest[0] {
            _ if rest.starts_with(comment) => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") => {
                memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2)
            }
            b'R' if rest.starts_with(b"R\"") => raw_string(rest),
            quote @ (b'"' | b'\'') => literal(rest, quote),
            byte @ (b'(' | b'[' | b'{') => {
                open.push(byte);
                1
            }
            byte @ (b')' | b']' | b'}') => {
                let half = match byte {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                if open.last() == Some(&half) {
                    open.pop();
                } else {
                    unpaired.push(char::from(byte));
                }
                1
            }
            _ => 1,
        };
    }
    unpaired.extend(open.into_iter().map(char::from));
    unpaired
}

/// The length of a literal that ends on its line; of the quote alone where it does not, as in a
/// number with separators.
fn literal(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return 1,
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    1
}

/// The length of `R"x(…)x"`.
fn raw_string(rest: &[u8]) -> usize {
    let Some(open) = rest.iter().take(20).position(|byte| *byte == b'(') else { return 2 };
    let mut end = vec![b')'];
    end.extend_from_slice(&rest[2..open]);
    end.push(b'"');
    memchr::memmem::find(rest, &end).map_or(rest.len(), |at| at + end.len())
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
    /// The blanks before the words.
    indent: String,
    words: &'t str,
    place: IndentPlace,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum IndentPlace {
    /// A line of its own.
    Starts,
    /// A comment on a line of its own: its indentation says nothing.
    Remark,
    /// Goes on with what was open: a bracket, a comment, a joined line.
    GoesOn,
    /// Begins inside a string.
    InString,
    /// A directive at the margin, where it belongs at any depth.
    Fixed,
}

fn read<'t>(language: &Language, content: &'t str) -> Vec<Line<'t>> {
    let strings = language.strings(content);
    let style = &language.pack().style;
    let docs = docstrings(language, content);
    let mut lines = Vec::new();
    let mut open = OpenBracket::default();
    let (mut at, mut next) = (0, 0);
    for whole in content.split('\n') {
        let (start, end) = (at, at + whole.len());
        at = end + 1;
        let words = whole.trim_start_matches([' ', '\t', '\x0c']);
        let place = match () {
            () if inside(&docs, start) => IndentPlace::GoesOn,
            () if inside(&strings, start) => IndentPlace::InString,
            () if is_directive(words, whole, style) => IndentPlace::Fixed,
            () if open.is() => IndentPlace::GoesOn,
            () if words.starts_with(style.comment) => IndentPlace::Remark,
            () => IndentPlace::Starts,
        };
        let indent = whole[..whole.len() - words.len()].to_owned();
        lines.push(Line { whole, indent, words, place });
        open.joined = false;
        let bytes = content.as_bytes();
        let mut offset = start.max(next);
        while offset < end {
            if let Some(string) = at_string(&strings, offset) {
                offset = string.end as usize;
                continue;
            }
            offset += open.read(&bytes[offset..end], style.comment.as_bytes(), style.bodies);
        }
        next = offset;
    }
    lines
}

/// The strings that document what they stand in, in order.
fn docstrings(language: &Language, content: &str) -> Vec<Span> {
    if language.pack().style.docs != Docs::FirstString || !language.skims() {
        return Vec::new();
    }
    let outline = language.outline(content, Detail::Outline, &|| false).unwrap_or_default();
    let mut docs: Vec<Span> =
        outline.symbols.iter().map(|symbol| symbol.doc).filter(|doc| !doc.is_empty()).collect();
    docs.sort();
    docs
}

/// True if a line is for a preprocessor: `#if`, and neither an attribute nor a comment.
fn is_directive(words: &str, whole: &str, style: &Style) -> bool {
    let at_margin = words.len() == whole.len();
    let sign = words.starts_with('#') && !words.starts_with("#[") && !words.starts_with("#!");
    at_margin && sign && style.bodies == Bodies::Braced && style.comment != "#"
}

/// The brackets and strings that are open at the end of a line.
#[derive(Default)]
struct OpenBracket {
    brackets: usize,
    comment: bool,
    joined: bool,
}

impl OpenBracket {
    fn is(&self) -> bool {
        self.brackets > 0 || self.comment || self.joined
    }

    /// Reads a little, and says how much.
    fn read(&mut self, rest: &[u8], comment: &[u8], bodies: Bodies) -> usize {
        if self.comment {
            self.comment = !rest.starts_with(b"*/");
            return if self.comment { 1 } else { 2 };
        }
        if rest.starts_with(comment) {
            return rest.len();
        }
        let indented = bodies == Bodies::Indented;
        match rest[0] {
            // Where lines have a comment of their own sign, `/*` is a pattern for file names.
            b'/' if comment == b"//" && rest.starts_with(b"/*") => {
                self.comment = true;
                return 2;
            }
            b'(' | b'[' => self.brackets += 1,
            b')' | b']' => self.brackets = self.brackets.saturating_sub(1),
            // Braces mark bodies in the other languages.
            b'{' if indented => self.brackets += 1,
            b'}' if indented => self.brackets = self.brackets.saturating_sub(1),
            b'\\' if rest.len() == 1 => self.joined = true,
            _ => {}
        }
        1
    }
}

fn at_string(strings: &[Span], offset: usize) -> Option<Span> {
    let index = strings.partition_point(|string| string.start as usize <= offset);
    strings[..index].last().copied().filter(|string| offset < string.end as usize)
}

/// True if an offset lies inside a string, not at its start.
fn inside(strings: &[Span], offset: usize) -> bool {
    at_string(strings, offset).is_some_and(|string| (string.start as usize) < offset)
}

/// A first line that lost its indentation in quoting gets it back: that of its closing brace,
/// or of the line after it where that cannot be its body.
fn mend_first(lines: &mut [Line<'_>]) {
    let starts: Vec<usize> = (0..lines.len())
        .filter(|at| lines[*at].place == IndentPlace::Starts && !lines[*at].words.is_empty())
        .collect();
    let [first, second, ..] = starts[..] else { return };
    let width = |at: usize| columns(&lines[at].indent);
    if width(first) >= width(second) {
        return;
    }
    let last = starts[starts.len() - 1];
    let closes = lines[last].words.starts_with(['}', ')', ']']) || lines[last].words.trim_end() == "end";
    let opens = lines[first].words.trim_end().ends_with([':', '{', '(', '[', ',', '\\'])
        || lines[first].words.contains(": ")
        || closes;
    if closes && width(last) > width(first) && width(last) < width(second) {
        lines[first].indent = lines[last].indent.clone();
    } else if !opens {
        lines[first].indent = lines[second].indent.clone();
    }
}

/// True if a content steps in another unit than this one: it goes deeper, and never by one of
/// those. Where braces mark bodies, only what follows an open one tells; a line may go on below
/// its beginning in any way.
fn has_other_unit(lines: &[Line<'_>], unit: &str, style: &Style) -> bool {
    let starts: Vec<&Line<'_>> =
        lines.iter().filter(|line| line.place == IndentPlace::Starts && !line.words.is_empty()).collect();
    let braced = style.bodies == Bodies::Braced && style.comment == "//";
    let steps = starts.windows(2).filter_map(|pair| {
        let opens = !braced || without_remark(pair[0].words, style).ends_with('{');
        let step = pair[1].indent.strip_prefix(pair[0].indent.as_str())?;
        (opens && !step.is_empty()).then_some(step)
    });
    let steps: Vec<&str> = steps.collect();
    !steps.is_empty() && !steps.contains(&unit)
}

/// A line without the comment at its end.
fn without_remark<'l>(words: &'l str, style: &Style) -> &'l str {
    words.split_once(style.comment).map_or(words, |(before, _)| before).trim_end()
}

/// The blanks of a line whose neighbour went from one indentation to another.
fn shifted(indent: &str, from: &str, to: &str) -> String {
    if let Some(rest) = indent.strip_prefix(from) {
        return format!("{to}{rest}");
    }
    let (width, from, wide) = (columns(indent), columns(from), columns(to));
    if from == wide {
        return indent.to_owned();
    }
    " ".repeat((width + wide).saturating_sub(from))
}

/// Columns of some blanks; a tab goes to the next multiple of eight.
fn columns(blanks: &str) -> usize {
    blanks.bytes().fold(0, |width, byte| if byte == b'\t' { (width / 8 + 1) * 8 } else { width + 1 })
}

#[cfg(test)]
#[cfg(all(feature = "lang-python", feature = "lang-rust"))]
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

    #[test]
    fn a_content_in_the_files_own_unit_is_only_shifted() {
        // The same text at the same depth stays as it is, whatever its blanks.
        for text in [
            "\tdef f(self):\n\t\tx = g(1,\n\t\t\t2)\n\t\treturn x",
            "    def f(self, a,\n  b):\n        if a:\n          return 1\n     # odd\n        return 2",
        ] {
            let base = &text[..text.len() - text.trim_start().len()];
            check("python", text, base, Some(if base == "\t" { "\t" } else { "    " }), text);
        }
        let javadoc = "/**\n * Doc.\n */\nint f(int a,\n      int b) {\n    return a;\n}";
        let expect = "  /**\n   * Doc.\n   */\n  int f(int a,\n        int b) {\n      return a;\n  }";
        check("rust", javadoc, "  ", Some("    "), expect);
    }

    #[test]
    #[cfg(feature = "lang-cpp")]
    fn directives_stay_at_the_margin() {
        let content = "  void m() {\n    int a = 1;\n#ifdef X\n    a = 2;\n#endif\n  }";
        check("cpp", content, "  ", Some("  "), content);
        let deeper = "      void m() {\n        int a = 1;\n#ifdef X\n        a = 2;\n#endif\n      }";
        check("cpp", content, "      ", Some("  "), deeper);
    }

    #[test]
    fn another_unit_becomes_the_files_own_once_for_each_level() {
        let content = "def f(self):\n  if 1:\n   # odd\n    return 2\n  return 3";
        let expect =
            "    def f(self):\n        if 1:\n         # odd\n            return 2\n        return 3";
        check("python", content, "    ", Some("    "), expect);
        let content = "fn f() {\n  /* a\n   * b */\n  g(1,\n    2)\n}";
        let expect = "\tfn f() {\n\t\t/* a\n\t\t * b */\n\t\tg(1,\n\t\t  2)\n\t}";
        check("rust", content, "\t", Some("\t"), expect);
        check("rust", "fn f() {\n        1\n    }", "    ", Some("    "), "    fn f() {\n        1\n    }");
    }
}
