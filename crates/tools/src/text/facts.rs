//! The facts about a text besides its words.

use super::{Encoding, Lines, body, split};

/// The facts of a text file that an edit keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its encoding.
    pub encoding: Encoding,
    /// True if it starts with a byte order mark.
    pub bom: bool,
    /// Its line ends.
    pub newline: Newline,
    /// True if the last line is ended too.
    pub final_newline: bool,
    /// Its indentation.
    pub indent: Indent,
}

/// One way to end a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eol {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// `\r`
    Cr,
}

impl Eol {
    /// Its characters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lf => "LF",
            Self::CrLf => "CRLF",
            Self::Cr => "CR",
        }
    }

    /// The text with all its lines ended this way.
    pub fn ending(self, text: &str) -> String {
        let mut ended = String::with_capacity(text.len());
        for line in split(text) {
            ended.push_str(body(line));
            if Self::of(line).is_some() {
                ended.push_str(self.as_str());
            }
        }
        ended
    }

    /// The line end of this line, if it has one.
    pub fn of(line: &str) -> Option<Self> {
        if line.ends_with("\r\n") {
            Some(Self::CrLf)
        } else if line.ends_with('\n') {
            Some(Self::Lf)
        } else {
            line.ends_with('\r').then_some(Self::Cr)
        }
    }
}

/// The line ends of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newline {
    /// There is no line end.
    None,
    /// All in one way.
    Only(Eol),
    /// In several ways, most often in this one.
    Mixed(Eol),
}

impl Newline {
    /// Looks at every line end.
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut ends = [memchr::memchr_iter(b'\n', bytes).count(), 0, 0];
        for at in memchr::memchr_iter(b'\r', bytes) {
            if bytes.get(at + 1) == Some(&b'\n') {
                ends[0] -= 1;
                ends[1] += 1;
            } else {
                ends[2] += 1;
            }
        }
        Self::counted(ends)
    }

    /// The same by how often `\n`, `\r\n` and `\r` end a line.
    pub(crate) fn counted(ends: [usize; 3]) -> Self {
        let all = [Eol::Lf, Eol::CrLf, Eol::Cr].into_iter().zip(ends);
        let mut seen = all.filter(|(_, count)| *count > 0);
        let most = seen.clone().rev().max_by_key(|(_, count)| *count);
        match (most, seen.nth(1)) {
            (None, _) => Self::None,
            (Some((eol, _)), None) => Self::Only(eol),
            (Some((eol, _)), Some(_)) => Self::Mixed(eol),
        }
    }

    /// The most frequent way to end a line here.
    pub fn mostly(self) -> Option<Eol> {
        match self {
            Self::None => None,
            Self::Only(eol) | Self::Mixed(eol) => Some(eol),
        }
    }
}

/// The indentation of a file's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indent {
    /// No line is indented.
    Unknown,
    /// With tabs.
    Tabs,
    /// With this many spaces a step.
    Spaces(usize),
    /// Some lines with tabs, some with spaces.
    Mixed,
}

/// Indented lines looked at: more tell nothing new.
const INDENTED_LINES: usize = 2_000;

impl Indent {
    /// Looks at the first indented lines.
    pub fn of(text: &str) -> Self {
        Self::of_lines(text, &Lines::of(text))
    }

    pub(super) fn of_lines(text: &str, lines: &Lines) -> Self {
        let (mut tabs, mut spaces) = (0_usize, 0_usize);
        // How often the indentation grew by 1..=8 spaces from one line to the next.
        let mut steps = [0_usize; 9];
        let mut previous = 0;
        for number in 1..=lines.count() {
            if tabs + spaces == INDENTED_LINES {
                break;
            }
            let Some(range) = lines.range(number) else { break };
            let line = body(&text[range]);
            let words = line.trim_start_matches([' ', '\t']);
            if words.is_empty() {
                continue;
            }
            let width = line.len() - words.len();
            match line.as_bytes()[0] {
                b'\t' => tabs += 1,
                b' ' => {
                    spaces += 1;
                    if let Some(step) = width.checked_sub(previous).filter(|step| (1..=8).contains(step)) {
                        steps[step] += 1;
                    }
                }
                _ => {}
            }
            previous = width;
        }
        let usual = (1..=8).rev().max_by_key(|step| steps[*step]).filter(|step| steps[*step] > 0);
        match (tabs, spaces) {
            (0, 0) => Self::Unknown,
            (_, 0) => Self::Tabs,
            (0, _) => Self::Spaces(usual.unwrap_or(4)),
            // A stray line (an aligned comment, say) does not make a file mixed.
            (tabs, spaces) if tabs >= spaces * 10 => Self::Tabs,
            (tabs, spaces) if spaces >= tabs * 10 => Self::Spaces(usual.unwrap_or(4)),
            _ => Self::Mixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newlines_are_counted() {
        let check = |text, expect| assert_eq!(Newline::of(text), expect, "{text:?}");
        check("a", Newline::None);
        check("a\nb\n", Newline::Only(Eol::Lf));
        check("a\r\nb\r\n", Newline::Only(Eol::CrLf));
        check("a\rb", Newline::Only(Eol::Cr));
        check("a\r\nb\nc\r\n", Newline::Mixed(Eol::CrLf));
        check("a\nb\r\n", Newline::Mixed(Eol::Lf));
    }

    #[test]
    fn lines_can_be_ended_another_way() {
        assert_eq!(Eol::CrLf.ending("a\nb\r\n\rc"), "a\r\nb\r\n\r\nc");
        assert_eq!(Eol::Lf.ending("a\r\nb"), "a\nb");
    }

    #[test]
    fn indentation_is_measured() {
        let check = |text: &str, expect| assert_eq!(Indent::of(text), expect, "{text:?}");
        check("a\nb\n", Indent::Unknown);
        check("a\n\tb\n\t\tc\n", Indent::Tabs);
        check("a\n  b\n    c\nd\n  e\n", Indent::Spaces(2));
        check("a\n    b\n        c\n\n    d\n", Indent::Spaces(4));
        check("a\n b\n  c\n", Indent::Spaces(1));
        check("a\n\tb\n    c\n", Indent::Mixed);
    }
}
