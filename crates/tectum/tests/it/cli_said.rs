//! The output of a finished command, in the form the tests ask for it.

use std::process::Output;

use serde_json::Value;

/// A finished command.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("ended by itself"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

impl Said {
    /// Ended with this code, and standard error is exactly this.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, err: &str) {
        assert_eq!((self.code, self.err.as_str()), (code, err), "stdout: {}", self.out);
    }

    /// Ended well, and standard output is exactly this.
    #[track_caller]
    pub(crate) fn gives(&self, out: &str) {
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (0, out, ""));
    }

    /// The JSON on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }

    /// The one JSON line on standard error.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        let error: Value = serde_json::from_str(&self.err).expect("JSON");
        error["error"].clone()
    }
}
