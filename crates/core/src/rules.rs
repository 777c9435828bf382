//! Permission rules: `tool` or `tool(subject-glob)`, in three lists. Deny beats ask beats allow.

use std::{fmt, path::PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use crate::{Judgement, Part, World, nearest};

/// The place of a rule in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file; `None` if the rule is built in or came from elsewhere.
    pub file: Option<PathBuf>,
    /// The line, from 1; 0 if unknown.
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

/// One rule. In a pattern `*` also matches `/`, `folder/**` also matches the folder itself, and
/// `word *` also matches the word alone.
#[derive(Clone, Debug)]
pub struct Rule {
    text: String,
    origin: Origin,
    tool: GlobMatcher,
    subject: Option<Pattern>,
}

/// The subject of a rule: the pattern, and the text before a `/**` or ` *` at its end.
#[derive(Clone, Debug)]
struct Pattern {
    written: String,
    names: GlobMatcher,
    folder: Option<GlobMatcher>,
}

impl Pattern {
    fn is_match(&self, subject: &str) -> bool {
        self.names.is_match(subject) || self.folder.as_ref().is_some_and(|folder| folder.is_match(subject))
    }

    /// The same for a part, which is no path: `./x` is not `x`.
    fn is_match_of(&self, part: &str) -> bool {
        let part = if self.written.starts_with("./") { part.strip_prefix("./") } else { Some(part) };
        part.is_some_and(|part| self.is_match(part))
    }

    fn allows(&self, part: &Part) -> bool {
        let exactly = || self.written == globset::escape(&part.text);
        let all = || self.written.bytes().all(|byte| byte == b'*');
        exactly() || if part.doubt.is_some() { all() } else { self.is_match_of(&part.text) }
    }

    /// True if it matches the part, or might match what becomes of it.
    fn may_match(&self, part: &Part) -> bool {
        let fixed = self.written.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
        let known = part.text.get(..part.certain).unwrap_or_default();
        known.len() < part.text.len() && (known.starts_with(fixed) || fixed.starts_with(known))
    }
}

impl Rule {
    /// Parses `tool` or `tool(subject-glob)`.
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
        let pattern = |pattern: &str| {
            let (written, pattern) = (pattern.to_owned(), pattern.strip_prefix("./").unwrap_or(pattern));
            // A call that moves or removes the folder moves or removes everything in it.
            let folder = pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix(" *"));
            let folder = folder.filter(|folder| !folder.is_empty()).map(glob).transpose()?;
            Ok::<_, String>(Pattern { written, names: glob(pattern)?, folder })
        };
        let subject = subject.map(pattern).transpose()?;
        Ok(Self { text: text.to_owned(), origin, tool: glob(tool.trim())?, subject })
    }

    /// True if the rule is about this tool.
    pub fn is_for(&self, tool: &str) -> bool {
        self.tool.is_match(tool)
    }

    fn matches(&self, tool: &str, subjects: &[String]) -> bool {
        self.says(tool, |glob| subjects.iter().any(|subject| glob.is_match(subject)))
    }

    /// True for a rule that says something of this tool and of what `about` looks for.
    fn says(&self, tool: &str, about: impl FnOnce(&Pattern) -> bool) -> bool {
        self.tool.is_match(tool) && self.subject.as_ref().is_none_or(about)
    }

    /// True if the rule is about some subjects of this tool, not about all.
    fn picks(&self, tool: &str) -> bool {
        self.subject.is_some() && self.tool.is_match(tool)
    }

    fn covers(&self, tool: &str, subjects: &[String]) -> bool {
        self.says(tool, |glob| !subjects.is_empty() && subjects.iter().all(|subject| glob.is_match(subject)))
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
    /// The rules for calls that are refused.
    pub deny: Vec<Rule>,
    /// The rules for calls that need a person's consent.
    pub ask: Vec<Rule>,
    /// The rules for calls that need no consent.
    pub allow: Vec<Rule>,
    /// Allow rules of the project that no person approved. They permit nothing; a refusal names them.
    pub held: Vec<Rule>,
    /// The judgement if no rule matches, and where it was set. Unset: project tools are allowed, tools
    /// that reach beyond the project ask.
    pub default: Option<(Judgement, Origin)>,
}

impl Rules {
    /// The judgement about a tool and all its subjects, and the rule that decided. A deny or ask rule
    /// applies if it matches any subject; an allow rule must cover every one of them.
    pub fn judge(&self, tool: &str, subjects: &[String], world: World) -> (Judgement, String) {
        let strict = self.strict(|rule| rule.matches(tool, subjects));
        strict.unwrap_or_else(|| self.lenient(|rule| rule.covers(tool, subjects), world))
    }

    /// The same for one part of what a call does, and the paths that the call touches.
    pub(crate) fn judge_part(
        &self,
        tool: &str,
        part: &Part,
        paths: &[String],
        world: World,
    ) -> (Judgement, String) {
        let named = |pattern: &Pattern| {
            let names = std::iter::once(&part.text).chain(&part.also);
            names.into_iter().any(|name| pattern.is_match_of(name))
                || paths.iter().any(|path| pattern.is_match(path))
        };
        if let Some(strict) = self.strict(|rule| rule.says(tool, named)) {
            return strict;
        }
        if let Some((_, why)) = self.strict(|rule| rule.says(tool, |pattern| pattern.may_match(part))) {
            return (Judgement::Ask, format!("{why}, which it may match"));
        }
        self.lenient(|rule| rule.says(tool, |pattern| pattern.allows(part)), world)
    }

    fn strict(&self, binds: impl Fn(&Rule) -> bool) -> Option<(Judgement, String)> {
        if let Some(rule) = self.deny.iter().find(|rule| binds(rule)) {
            return Some((Judgement::Deny, format!("deny rule {rule}")));
        }
        self.ask.iter().find(|rule| binds(rule)).map(|rule| (Judgement::Ask, format!("ask rule {rule}")))
    }

    fn lenient(&self, allows: impl Fn(&Rule) -> bool, world: World) -> (Judgement, String) {
        if let Some(rule) = self.allow.iter().find(|rule| allows(rule)) {
            return (Judgement::Allow, format!("allow rule {rule}"));
        }
        let (judgement, why) = self.fallback(world);
        match self.held.iter().find(|rule| judgement != Judgement::Allow && allows(rule)) {
            Some(rule) => {
                let waits = "has no effect until a person agrees to it with `tectum trust`";
                (judgement, format!("{why}; the project's allow rule {rule} {waits}"))
            }
            None => (judgement, why),
        }
    }

    /// The place where the rule or the default stands that a reason names.
    pub(crate) fn origin(&self, why: &str) -> Option<Origin> {
        let named = |rule: &&Rule| why.contains(&rule.to_string());
        let rule = self.deny.iter().chain(&self.ask).find(named).map(|rule| rule.origin.clone());
        let default =
            || self.default.as_ref().filter(|_| why.starts_with("default ")).map(|set| set.1.clone());
        rule.or_else(default)
    }

    /// The judgement if no rule matches.
    fn fallback(&self, world: World) -> (Judgement, String) {
        match (&self.default, world) {
            // The judgement in a server's configuration tightens a default, and never loosens it.
            (Some((judgement, _)), World::Peer(own)) if own > *judgement => {
                (own, format!("`permission = \"{own}\"` of its server"))
            }
            (Some((judgement, origin)), _) => (*judgement, format!("default `{judgement}` ({origin})")),
            (None, World::Project) => {
                (Judgement::Allow, "built-in default: tools of the project are allowed".into())
            }
            (None, World::Open) => {
                (Judgement::Ask, "built-in default: tools that reach beyond the project ask".into())
            }
            (None, World::Peer(own)) => (own, format!("`permission = \"{own}\"` of its server")),
        }
    }
}

impl Rules {
    /// The rules that match none of these tools, each as a sentence: a typo in a rule protects nothing
    /// and would otherwise go unnoticed.
    pub fn strangers(&self, tools: &[&str]) -> Vec<String> {
        let lists = [("deny", &self.deny), ("ask", &self.ask), ("allow", &self.allow), ("allow", &self.held)];
        let rules = lists.into_iter().flat_map(|(list, rules)| rules.iter().map(move |rule| (list, rule)));
        rules
            .filter(|(_, rule)| !tools.iter().any(|tool| rule.tool.is_match(tool)))
            .map(|(list, rule)| {
                let name = rule.text.split('(').next().unwrap_or_default();
                match nearest(name, tools.iter().copied()) {
                    Some(near) => format!("{list} rule {rule} matches no tool; did you mean `{near}`?"),
                    None => format!("{list} rule {rule} matches no tool"),
                }
            })
            .collect()
    }

    /// True if a rule without a pattern denies the tool, whatever its arguments.
    pub(crate) fn ban(&self, tool: &str) -> bool {
        self.deny.iter().any(|rule| rule.subject.is_none() && rule.tool.is_match(tool))
    }

    /// True if a deny or ask rule is about some names only, so a directory may hold names that are
    /// judged more strictly than the directory was.
    pub(crate) fn pick(&self, tool: &str) -> bool {
        self.deny.iter().chain(&self.ask).any(|rule| rule.picks(tool))
    }

    /// The rule that hides a name below a granted directory from a call with this judgement.
    pub(crate) fn hide(&self, tool: &str, name: &str, judged: Judgement) -> Option<String> {
        let find = |rules: &[Rule]| {
            let about = |rule: &&Rule| {
                rule.picks(tool) && rule.subject.as_ref().is_some_and(|pattern| pattern.is_match(name))
            };
            rules.iter().find(about).map(Rule::to_string)
        };
        if let Some(rule) = find(&self.deny) {
            return Some(format!("deny rule {rule}"));
        }
        match judged {
            Judgement::Allow => find(&self.ask).map(|rule| format!("ask rule {rule}")),
            Judgement::Ask | Judgement::Deny => None,
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
        Rules { deny: list(deny), ask: list(ask), allow: list(allow), default, ..Rules::default() }
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
    fn a_pattern_for_all_in_a_folder_binds_the_folder_too() {
        let rules = rules(&["*(secrets/**)", "*(./own/**)"], &[], &["*(src/**)"]);
        check(&rules, "delete_file", &["secrets"], Judgement::Deny);
        check(&rules, "delete_file", &["own"], Judgement::Deny);
        check(&rules, "delete_file", &["secrets2"], Judgement::Ask);
        check(&rules, "list_directory", &["src"], Judgement::Allow);
    }

    #[test]
    fn names_below_are_hidden_by_rules_stricter_than_the_call() {
        let rules = rules(&["*(secrets/**)"], &["read_*(drafts/**)"], &["*(src)"]);
        assert!(rules.pick("read_file") && rules.hide("read_file", "a/secrets", Judgement::Allow).is_none());
        let rule = rules.hide("read_file", "secrets/a", Judgement::Ask).expect("hidden");
        assert!(rule.starts_with("deny rule `*(secrets/**)`"), "{rule}");
        assert!(rules.hide("read_file", "drafts", Judgement::Allow).is_some());
        assert!(rules.hide("read_file", "drafts", Judgement::Ask).is_none());
        // The default asks about it, but no rule names it: the grant of the directory includes it.
        assert!(rules.hide("read_file", "src/a", Judgement::Allow).is_none());
        assert!(!Rules::default().pick("read_file"));
    }

    #[test]
    fn without_configuration_project_tools_run_and_others_ask() {
        let rules = Rules::default();
        assert_eq!(rules.judge("read_file", &[], World::Project).0, Judgement::Allow);
        assert_eq!(rules.judge("shell", &[], World::Open).0, Judgement::Ask);
    }

    #[test]
    fn a_server_tightens_the_default_and_rules_beat_both() {
        let open = Rules::default();
        assert_eq!(open.judge("gh__x", &[], World::Peer(Judgement::Allow)).0, Judgement::Allow);
        assert_eq!(open.judge("gh__x", &[], World::Peer(Judgement::Deny)).0, Judgement::Deny);
        let rules = rules(&["gh__rm*"], &[], &["gh__ls"]);
        assert_eq!(rules.judge("gh__x", &[], World::Peer(Judgement::Allow)).0, Judgement::Ask);
        assert_eq!(rules.judge("gh__x", &[], World::Peer(Judgement::Deny)).0, Judgement::Deny);
        assert_eq!(rules.judge("gh__ls", &[], World::Peer(Judgement::Deny)).0, Judgement::Allow);
        assert_eq!(rules.judge("gh__rm_all", &[], World::Peer(Judgement::Allow)).0, Judgement::Deny);
    }

    #[test]
    fn a_rule_for_no_tool_is_noticed() {
        let rules = rules(&["read_fil", "*(x)"], &["gh__*"], &["edit_*"]);
        let found = rules.strangers(&["read_file", "edit_file"]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("`read_fil`") && found[0].ends_with("did you mean `read_file`?"),
            "{found:?}"
        );
        assert!(found[1].starts_with("ask rule `gh__*`"), "{found:?}");
    }

    #[test]
    fn a_malformed_rule_says_how_to_write_one() {
        for text in ["edit_file(src", "(x)", "a)b"] {
            let error = Rule::parse(text, Origin { file: None, line: 0 }).expect_err("refused");
            assert!(error.contains("write `tool` or `tool(pattern)`"), "{error}");
        }
    }
}
