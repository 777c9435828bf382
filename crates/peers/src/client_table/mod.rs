//! What is known of clients. Whoever treats one client otherwise than another asks here, so that a
//! new client is an entry of `entries.rs` and no code.

mod entries;
mod given;

use std::time::Duration;

use entries::{ENTRIES, UNKNOWN};

/// What a model is given of a result with text and structured content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelReads {
    /// The text alone.
    Text,
    /// The structured content alone.
    Structured,
    /// One after the other.
    Both,
    /// Nobody looked.
    Unknown,
}

/// How a model learns of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolsShown {
    /// All definitions at once.
    All,
    /// The names; definitions on demand.
    Names,
    /// By searching for them.
    Search,
}

/// What is known of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientFacts {
    /// The name in `clientInfo`; one that ends in `*` stands for all that begin so.
    pub name: &'static str,
    /// The first version that this holds for, and the first that it holds for no longer.
    pub versions: (Option<&'static str>, Option<&'static str>),
    /// The name people use.
    pub title: &'static str,
    /// What its model is given of a result.
    pub model_reads: ModelReads,
    /// Whether it is a coding agent: the lean set of tools is meant for those.
    pub coding: bool,
    /// The longest reply that reaches its model whole, in characters, less a margin.
    pub reply_chars: usize,
    /// Whether it honours `anthropic/maxResultSizeChars`.
    pub big_replies: bool,
    /// How long its first list of tools may take.
    pub first_wait: Duration,
    /// How its model learns of tools.
    pub tools: ToolsShown,
    /// Tools of ours that it is listed under another name, with that name: it has one of its own of the
    /// same name, and leaves out ours with it.
    pub renamed: &'static [(&'static str, &'static str)],
    /// Whether it can ask its person a question for a server.
    pub elicitation: bool,
    /// Whether it reads a list again when it is told that it changed.
    pub list_changed: bool,
    /// How long it waits for a silent call; `None` where no end was seen.
    pub patience: Option<Duration>,
    /// Whether notes of progress make it wait longer.
    pub progress: bool,
    /// Where the facts come from.
    pub source: &'static str,
}

impl ClientFacts {
    /// The entry for a client of this name and version.
    pub fn find(name: &str, version: &str) -> &'static Self {
        let holds = |facts: &&Self| facts.is_named(name) && facts.holds_for(version);
        ENTRIES.iter().find(holds).unwrap_or(&UNKNOWN)
    }

    /// The entry for everybody who is not known.
    pub fn unknown() -> &'static Self {
        &UNKNOWN
    }

    /// Every client that is known.
    pub fn known() -> &'static [Self] {
        ENTRIES
    }

    /// Whether a model is known to be given its results, in whichever form.
    pub fn feeds_a_model(&self) -> bool {
        self.model_reads != ModelReads::Unknown
    }

    fn is_named(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == self.name,
        }
    }

    fn holds_for(&self, version: &str) -> bool {
        let (from, below) = self.versions;
        let reaches = |bound: &str| numbers(version) >= numbers(bound);
        from.is_none_or(reaches) && !below.is_some_and(reaches)
    }
}

/// The numbers of a version, most significant first.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_found_by_its_own_name_and_nobody_else_is() {
        for facts in ClientFacts::known() {
            assert_eq!(ClientFacts::find(&facts.name.replace('*', "x"), "1.0"), facts);
            assert_eq!(facts.feeds_a_model(), facts.coding, "{facts:?}");
            assert!(!facts.source.is_empty(), "{facts:?}");
        }
        assert_eq!(ClientFacts::find("qwen-cli-mcp-client-tectum", "0.0.1").title, "Qwen Code");
        assert_eq!(ClientFacts::find("claude-code-2", "9"), ClientFacts::unknown());
    }

    #[test]
    fn an_entry_may_hold_for_some_versions_only() {
        let holds = |versions, version| ClientFacts { versions, ..UNKNOWN }.holds_for(version);
        assert!(holds((None, None), ""));
        assert!(holds((Some("2.1.100"), None), "2.1.325") && !holds((Some("2.1.100"), None), "2.1.99"));
        assert!(holds((None, Some("3")), "2.9") && !holds((None, Some("3")), "3.0.0"));
    }
}
