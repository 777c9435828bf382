//! What people see: results on standard output, everything else on standard error, colour only
//! where it is wanted.

use std::io::{self, IsTerminal as _, Write as _};

use super::{Shared, When, failure::Failure};

/// How this process talks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Results and errors are JSON.
    pub(crate) json: bool,
    /// Only errors are told.
    pub(crate) quiet: bool,
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
    pub(crate) fn new(shared: &Shared) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let paints = |terminal: bool| match shared.color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && !plain && !dumb,
        };
        Self {
            json: shared.json,
            quiet: shared.quiet,
            paints_results: !shared.json && paints(io::stdout().is_terminal()),
            paints_errors: !shared.json && paints(io::stderr().is_terminal()),
        }
    }

    /// Prints a result. A reader that left early, such as `head`, is no failure of ours.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let ends = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        match write!(out, "{text}{ends}").and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Silent(0)),
            done => Ok(done?),
        }
    }

    /// Prints one JSON value on one line.
    pub(crate) fn print_json(&self, value: &serde_json::Value) -> Result<(), Failure> {
        self.print(&value.to_string())
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
