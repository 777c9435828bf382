//! The output for people: results on standard output, everything else on standard error, colour only
//! where it is wanted.

use std::{
    borrow::Cow,
    io::{self, Write as _},
};

use tectum::peers::visible::visible;

use super::failure::Failure;

/// The form of this process's output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Results and errors are JSON.
    pub(crate) json: bool,
    /// Only errors are told.
    pub(crate) quiet: bool,
    /// Results go to a terminal, so text of others must not steer it.
    pub(crate) terminal: bool,
    /// Results may be coloured.
    pub(crate) paints_results: bool,
    /// Errors may be coloured.
    pub(crate) paints_errors: bool,
}

/// The few colours there are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
    Cyan,
    Bold,
    Dim,
}

impl Screen {
    /// Prints a result. A reader that left early, such as `head`, is no failure of ours.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let ends = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        match write!(out, "{text}{ends}").and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Silent(0)),
            done => Ok(done?),
        }
    }

    /// Prints a result that others wrote: a program gets it as it is, a terminal what is harmless.
    pub(crate) fn print_foreign(&self, text: &str) -> Result<(), Failure> {
        if self.terminal { self.print(&harmless(text)) } else { self.print(text) }
    }

    /// Prints one JSON value on one line.
    pub(crate) fn print_json(&self, value: &serde_json::Value) -> Result<(), Failure> {
        let text = value.to_string();
        if self.terminal { self.print(&escaped(&text)) } else { self.print(&text) }
    }

    /// Prints a result, as data for programs and as text for people.
    pub(crate) fn answer(&self, data: &serde_json::Value, text: &str) -> Result<(), Failure> {
        if self.json { self.print_json(data) } else { self.print(text) }
    }

    /// The same where people who want errors only need no answer.
    pub(crate) fn done(&self, data: &serde_json::Value, sentence: &str) -> Result<(), Failure> {
        if self.quiet && !self.json { Ok(()) } else { self.answer(data, &self.ok(sentence)) }
    }

    /// A sentence about something that went well.
    pub(crate) fn ok(&self, sentence: &str) -> String {
        format!("{} {sentence}", self.paint(Colour::Green, "ok:"))
    }

    /// Warns on standard error.
    pub(crate) fn warn(&self, text: &str) {
        self.tell(&format!("{} {text}", self.paint_error(Colour::Yellow, "warning:")));
    }

    /// Tells something on standard error.
    pub(crate) fn tell(&self, text: &str) {
        // Nobody is left to tell that standard error is closed.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// A piece of a result, coloured if results are.
    pub(crate) fn paint(&self, colour: Colour, text: &str) -> String {
        colour.on(self.paints_results, text)
    }

    /// A piece of an error, coloured if errors are.
    pub(crate) fn paint_error(&self, colour: Colour, text: &str) -> String {
        colour.on(self.paints_errors, text)
    }
}

/// Text of others as a person may see it: lines and tabs stay, and what would act on a terminal or
/// hide something is written out.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    match visible(text) {
        shown if !shown.contains('\r') => shown,
        // A lone return would write over the line before it.
        shown => shown.replace("\r\n", "\n").replace('\r', "\\r").into(),
    }
}

/// Tells people something beside the result.
pub(super) fn tell_note(note: &str, screen: &Screen) {
    if !screen.quiet {
        let note = harmless(note);
        screen.tell(&format!("{} {note}", screen.paint_error(Colour::Yellow, "note:")));
    }
}

/// A number of things, in words that fit it.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// True if what somebody typed means yes; anything else is no.
pub(crate) fn agrees(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// A text of JSON that says the same without characters that nobody sees: they stand in
/// strings only, and there they have another spelling.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || matches!(visible(c.encode_utf8(&mut [0; 4])), Cow::Borrowed(_)) {
            out.push(c)
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")))
        }
    }
    out
}

impl Colour {
    fn on(self, wanted: bool, text: &str) -> String {
        if !wanted {
            return text.to_owned();
        }
        let code = match self {
            Self::Red => "1;31",
            Self::Green => "1;32",
            Self::Yellow => "1;33",
            Self::Cyan => "36",
            Self::Bold => "1",
            Self::Dim => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        for (given, expect) in [
            ("a\nb\tc ü", "a\nb\tc ü"),
            ("a\r\nb", "a\nb"),
            ("safe\rrm", "safe\\rrm"),
            ("evil\u{202e}\u{200b}\x1b[31m", "evil\\u{202e}\\u{200b}\\u{1b}[31m"),
        ] {
            assert_eq!(harmless(given), expect);
        }
    }

    #[test]
    fn json_says_the_same_without_it() {
        let value = serde_json::json!({ "a": "x\u{202e}\u{9b}\u{e0041}ü" });
        let text = escaped(&value.to_string());
        assert_eq!(text, r#"{"a":"x\u202e\u009b\udb40\udc41ü"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
    }
}
