//! Permission rules: `tool` or `tool(subject-glob)`, in three lists. Deny beats ask beats allow.

use std::{fmt, path::PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use crate::World;

/// Where a rule was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file; `None` for what is built in or came from elsewhere.
    pub file: Option<PathBuf>,
    /// The line, from 1; 0 when unknown.
    pub line: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) if self.line > 0 => write!(f, "{}:{}", file.display(), self.line),
            Some(file) => write!(f, "{}", file.display()),
            None => f.write_str("built in"),
        }
    }
}

/// What the rules say about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// Go ahead.
    Allow,
    /// A person decides.
    Ask,
    /// No.
    Deny,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// One rule. In a pattern `*` also crosses `/`.
#[derive(Clone, Debug)]
pub struct Rule {
    text: String,
    origin: Origin,
    tool: GlobMatcher,
    subject: Option<GlobMatcher>,
}

impl Rule {
    /// Reads `tool` or `tool(subject-glob)`.
    pub fn parse(text: &str, origin: Origin) -> Result<Self, String> {
        let broken =
            |why: &str| Err(format!("`{text}` is not a rule: {why}; write `tool` or `tool(pattern)`"));
        let (tool, subject) = match text.split_once('(') {
            None if text.contains(')') => return broken("a `)` without `(`"),
            None => (text, None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(subject) => (tool, Some(subject)),
                None => return broken("the `(` is not closed at the end"),
            },
        };
        if tool.trim().is_empty() {
            return broken("the tool's name is missing");
        }
        let glob = |pattern: &str| {
            let glob = GlobBuilder::new(pattern).literal_separator(false).build();
            glob.map(|glob| glob.compile_matcher())
                .map_err(|error| format!("`{text}` is not a rule: {error}"))
        };
        let subject =
            subject.map(|pattern| glob(pattern.strip_prefix("./").unwrap_or(pattern))).transpose()?;
        Ok(Self { text: text.to_owned(), origin, tool: glob(tool.trim())?, subject })
    }

    fn matches(&self, tool: &str, subjects: &[String]) -> bool {
        self.tool.is_match(tool)
            && self.subject.as_ref().is_none_or(|glob| subjects.iter().any(|subject| glob.is_match(subject)))
    }

    fn covers(&self, tool: &str, subjects: &[String]) -> bool {
        self.tool.is_match(tool)
            && self.subject.as_ref().is_none_or(|glob| {
                !subjects.is_empty() && subjects.iter().all(|subject| glob.is_match(subject))
            })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.text, self.origin)
    }
}

/// The three lists and the default.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Never.
    pub deny: Vec<Rule>,
    /// Only with a person's consent.
    pub ask: Vec<Rule>,
    /// Without asking.
    pub allow: Vec<Rule>,
    /// What holds when no rule matches, and where that was said. Unset: project tools are
    /// allowed, tools that reach beyond the project ask.
    pub default: Option<(Judgement, Origin)>,
}

impl Rules {
    /// What holds for a tool and all its subjects, and which rule says so. A deny or ask rule
    /// binds when it matches any subject; an allow rule must cover every one of them.
    pub fn judge(&self, tool: &str, subjects: &[String], world: World) -> (Judgement, String) {
        if let Some(rule) = self.deny.iter().find(|rule| rule.matches(tool, subjects)) {
            return (Judgement::Deny, format!("deny rule {rule}"));
        }
        if let Some(rule) = self.ask.iter().find(|rule| rule.matches(tool, subjects)) {
            return (Judgement::Ask, format!("ask rule {rule}"));
        }
        if let Some(rule) = self.allow.iter().find(|rule| rule.covers(tool, subjects)) {
            return (Judgement::Allow, format!("allow rule {rule}"));
        }
        match (&self.default, world) {
            (Some((judgement, origin)), _) => (*judgement, format!("default `{judgement}` ({origin})")),
            (None, World::Project) => {
                (Judgement::Allow, "built-in default: tools of the project are allowed".into())
            }
            (None, World::Open) => {
                (Judgement::Ask, "built-in default: tools that reach beyond the project ask".into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(deny: &[&str], ask: &[&str], allow: &[&str]) -> Rules {
        let list = |texts: &[&str]| {
            let parse = |text: &&str| Rule::parse(text, Origin { file: None, line: 0 }).expect("a rule");
            texts.iter().map(parse).collect()
        };
        let default = Some((Judgement::Ask, Origin { file: None, line: 0 }));
        Rules { deny: list(deny), ask: list(ask), allow: list(allow), default }
    }

    fn check(rules: &Rules, tool: &str, subjects: &[&str], expect: Judgement) {
        let subjects: Vec<String> = subjects.iter().map(|subject| (*subject).to_owned()).collect();
        let (got, why) = rules.judge(tool, &subjects, World::Project);
        assert_eq!(got, expect, "{tool} {subjects:?}: {why}");
    }

    #[test]
    fn deny_beats_ask_beats_allow() {
        let rules = rules(&["*(secret/**)"], &["edit_file"], &["*"]);
        check(&rules, "edit_file", &["secret/a"], Judgement::Deny);
        check(&rules, "edit_file", &["src/a"], Judgement::Ask);
        check(&rules, "read_file", &["src/a"], Judgement::Allow);
    }

    #[test]
    fn an_allow_rule_must_cover_every_path_and_a_deny_rule_any() {
        let rules = rules(&["*(locked/**)"], &[], &["apply_edits(src/**)"]);
        check(&rules, "apply_edits", &["src/a", "src/b"], Judgement::Allow);
        check(&rules, "apply_edits", &["src/a", "docs/b"], Judgement::Ask);
        check(&rules, "apply_edits", &["src/a", "locked/b"], Judgement::Deny);
    }

    #[test]
    fn without_configuration_project_tools_run_and_others_ask() {
        let rules = Rules::default();
        assert_eq!(rules.judge("read_file", &[], World::Project).0, Judgement::Allow);
        assert_eq!(rules.judge("shell", &[], World::Open).0, Judgement::Ask);
    }

    #[test]
    fn a_malformed_rule_says_how_to_write_one() {
        for text in ["edit_file(src", "(x)", "a)b"] {
            let error = Rule::parse(text, Origin { file: None, line: 0 }).expect_err("refused");
            assert!(error.contains("write `tool` or `tool(pattern)`"), "{error}");
        }
    }
}
