//! The rules of two owners about one call: each set is judged by itself, and the stricter one applies.

use std::sync::Arc;

use tectum_security::{Allowlist, RawPath};

use crate::{Judgement, Origin, Part, Prepared, Rules, Subject, World};

/// The rules of a gate.
#[derive(Debug)]
pub(crate) struct Ruling {
    /// The operator's rules. Their patterns are relative to the allowlist's anchor.
    own: Rules,
    /// The project's rules. They tighten the operator's judgement or change nothing.
    project: Option<Rules>,
    allowlist: Arc<Allowlist>,
}

/// The subjects of a call as the project spells them and, if that differs, as the operator does.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) here: Vec<String>,
    anchored: Option<Vec<String>>,
    parts: Vec<Part>,
}

impl Names {
    /// All of them: what the call does, then what it touches.
    pub(crate) fn all(&self) -> impl Iterator<Item = String> {
        self.parts.iter().map(|part| part.text.clone()).chain(self.here.iter().cloned())
    }
}

/// A judgement, its reason, and the part of the call it is about.
type Judged<'a> = (Judgement, String, Option<&'a Part>);

impl Ruling {
    pub(crate) fn new(own: Rules, project: Option<Rules>, allowlist: Arc<Allowlist>) -> Self {
        Self { own, project, allowlist }
    }

    /// The judgement about a tool and all its names, the rule that decided, and the part of the call if
    /// it has parts: of several parts the strictest judgement counts.
    pub(crate) fn judge<'a>(&self, tool: &str, names: &'a Names, world: World) -> Judged<'a> {
        let both = |part: Option<&'a Part>| {
            let judge = |rules: &Rules, paths: &[String], world| match part {
                Some(part) => rules.judge_part(tool, part, paths, world),
                None => rules.judge(tool, paths, world),
            };
            let own = judge(&self.own, names.anchored.as_ref().unwrap_or(&names.here), world);
            // The operator's rules already judged the world of the tool; of the project only its own rules count.
            let project = self.project.as_ref().map(|rules| judge(rules, &names.here, World::Project));
            let (judgement, why) = project.filter(|project| project.0 > own.0).unwrap_or(own);
            let about = part.filter(|_| judgement != Judgement::Allow).map(Part::about).unwrap_or_default();
            (judgement, why + &about, part)
        };
        let parts = names.parts.iter().map(|part| both(Some(part)));
        parts.reduce(|first, next| if next.0 > first.0 { next } else { first }).unwrap_or_else(|| both(None))
    }

    /// The place where the rule or the default stands that a reason names.
    pub(crate) fn origin(&self, why: &str) -> Option<Origin> {
        self.all().find_map(|rules| rules.origin(why))
    }

    /// True if a rule denies the tool whatever its arguments.
    pub(crate) fn ban(&self, tool: &str) -> bool {
        self.all().any(|rules| rules.ban(tool))
    }

    /// True if a rule is about some names only.
    pub(crate) fn pick(&self, tool: &str) -> bool {
        self.all().any(|rules| rules.pick(tool))
    }

    /// The rule that hides a name below a granted directory from a call with this judgement.
    pub(crate) fn hide(&self, tool: &str, name: &str, judged: Judgement) -> Option<String> {
        let own = if self.allowlist.is_moved() {
            self.own.hide(tool, &self.allowlist.anchored(name), judged)
        } else {
            self.own.hide(tool, name, judged)
        };
        own.or_else(|| self.project.as_ref()?.hide(tool, name, judged))
    }

    /// All subjects of a call: the primary argument first, then each path.
    pub(crate) fn subjects(&self, prepared: &Prepared) -> Names {
        let primary = match &prepared.wants.subject {
            Subject::Path(raw) => Some(raw),
            Subject::Text(_) | Subject::Parts(_) | Subject::None => None,
        };
        let mut paths: Vec<String> = Vec::new();
        for raw in primary.into_iter().chain(prepared.wants.paths.iter().map(|(raw, _)| raw)) {
            let subject = self.spelled(raw);
            if !paths.contains(&subject) {
                paths.push(subject);
            }
        }
        let mut names = self.paths(paths);
        if let Subject::Parts(parts) = &prepared.wants.subject {
            names.parts.clone_from(parts);
        }
        // A text is not a path, so both spell it the same.
        if let Subject::Text(text) = &prepared.wants.subject {
            for list in [Some(&mut names.here), names.anchored.as_mut()].into_iter().flatten() {
                list.retain(|name| name != text);
                list.insert(0, text.clone());
            }
        }
        names
    }

    /// The same call under other names of its paths.
    pub(crate) fn renamed(&self, names: &Names, here: Vec<String>) -> Names {
        Names { parts: names.parts.clone(), ..self.paths(here) }
    }

    /// Names of paths, relative to the primary base.
    pub(crate) fn paths(&self, here: Vec<String>) -> Names {
        let anchored = self.allowlist.is_moved();
        let anchored = anchored.then(|| here.iter().map(|name| self.allowlist.anchored(name)).collect());
        Names { here, anchored, parts: Vec::new() }
    }

    fn spelled(&self, raw: &RawPath) -> String {
        match self.allowlist.subject(raw) {
            Some(subject) if subject.is_empty() => ".".to_owned(),
            Some(subject) => subject,
            None => raw.as_str().to_owned(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Rules> {
        std::iter::once(&self.own).chain(&self.project)
    }
}
