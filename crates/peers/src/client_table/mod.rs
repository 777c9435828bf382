//! The facts that are known of clients. Whoever treats one client otherwise than another asks here, so
//! that a new client is an entry of `entries.rs` and no code.

mod entries;
mod facts;
mod given;

use entries::{ENTRIES, UNKNOWN};
pub use facts::{ClientFacts, ModelReads, ToolsShown};

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

    /// True if a model is known to be given its results, in whichever form.
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
