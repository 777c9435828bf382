//! The gate: permission rules on the call, then every path it wants through the three layers.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tectum_security::{Abandoned, Access, Allowlist, Denied, Hide, Kind, RawPath, SafePath};

use crate::{
    Asks, Call, Fault, FaultKind, Grants, Judgement, Prepared, Rules, ToolName, World, ruling::Ruling,
};

/// The rules and the allowlist of this house at one moment.
#[derive(Debug)]
pub struct Gate {
    rules: Arc<Ruling>,
    allowlist: Arc<Allowlist>,
    /// The filters in use, one for each tool and judgement, so that what is cached under a filter is
    /// found again under the same one. There are no more of them than tools.
    filters: Mutex<BTreeMap<(ToolName, Judgement), Hide>>,
}

/// How many denials of one call are listed; the rest is only counted.
const MOST_DENIALS: usize = 8;

/// The decision of the gate.
#[derive(Debug)]
pub enum Verdict {
    /// The call may run with these capabilities, and the rule that says so.
    Allow(Grants, String),
    /// A person decides first.
    Ask(Asks, Grants),
    /// The call is refused.
    Deny(Fault),
}

/// One step of a decision, for `policy test`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyStep {
    /// The station that decided.
    pub station: String,
    /// The finding of the station.
    pub finding: String,
    /// True if the call went on.
    pub passed: bool,
}

impl Gate {
    /// A gate with the operator's rules.
    pub fn new(rules: Rules, allowlist: Arc<Allowlist>) -> Self {
        Self::tightened(rules, None, allowlist)
    }

    /// A gate with the operator's rules and the project's. A call passes only if both let it through.
    pub fn tightened(rules: Rules, project: Option<Rules>, allowlist: Arc<Allowlist>) -> Self {
        let rules = Arc::new(Ruling::new(rules, project, allowlist.clone()));
        Self { rules, allowlist, filters: Mutex::default() }
    }

    /// The allowlist: the paths that calls may reach.
    pub fn allowlist(&self) -> &Allowlist {
        &self.allowlist
    }

    /// Decides about a call. Rules first, since they cost nothing; then the paths, opened beneath
    /// their roots; then the rules again for every path that turned out to have another name.
    pub fn judge(&self, call: &Call, prepared: &Prepared) -> Verdict {
        let subjects = self.rules.subjects(prepared);
        let (judgement, why, part) = self.rules.judge(&call.tool, &subjects, prepared.world);
        let names = &subjects.here;
        if judgement == Judgement::Deny {
            return Verdict::Deny(together(self.ruled_out(call, prepared, names, &why)));
        }
        let mut paths = Vec::with_capacity(prepared.wants.paths.len());
        let mut denials = Vec::new();
        let cancel = call.cancel.clone();
        let abandoned = Abandoned::new(move || cancel.is_cancelled());
        for (raw, access) in &prepared.wants.paths {
            match self.open(raw, *access) {
                Ok(path) => paths.push(path.unless_abandoned(abandoned.clone())),
                Err(denied) => denials.push(denied.into()),
            }
        }
        if !denials.is_empty() {
            return Verdict::Deny(together(denials));
        }
        let aliases: Vec<String> =
            paths.iter().map(SafePath::name).filter(|name| !names.contains(name)).collect();
        let renamed = self.rules.renamed(&subjects, aliases);
        let (judgement, why, part) = if renamed.here.is_empty() {
            (judgement, why, part)
        } else {
            let again = self.rules.judge(&call.tool, &renamed, prepared.world);
            if again.0 > judgement { again } else { (judgement, why, part) }
        };
        let grants = Grants::new(self.hiding(call, judgement, paths));
        match judgement {
            Judgement::Allow => Verdict::Allow(grants, why),
            Judgement::Ask => {
                let subject = part.map(|part| &part.text).or(names.first()).cloned().unwrap_or_default();
                let origin = self.rules.origin(&why);
                let subjects = subjects.all().chain(renamed.here.iter().cloned()).collect();
                Verdict::Ask(Asks { subject, subjects, rule: why, origin }, grants)
            }
            Judgement::Deny => Verdict::Deny(refused(call, &why)),
        }
    }

    /// The same decision step by step; it opens nothing for writing.
    pub fn explain(&self, call: &Call, prepared: &Prepared) -> (Judgement, Vec<PolicyStep>) {
        let subjects = self.rules.subjects(prepared);
        let (judgement, why, _) = self.rules.judge(&call.tool, &subjects, prepared.world);
        let mut steps = vec![PolicyStep {
            station: "permission".into(),
            finding: why,
            passed: judgement != Judgement::Deny,
        }];
        let mut strictest = judgement;
        let mut below = false;
        for (raw, access) in &prepared.wants.paths {
            match self.open(raw, *access) {
                Ok(path) => {
                    let name = path.name();
                    below |= path.kind() == Some(Kind::Directory);
                    for (layer, finding) in [
                        (
                            "layer 1 allowlist",
                            format!("{raw} is inside {}", self.allowlist.primary().display()),
                        ),
                        ("layer 2 validate", "no deny rule protects the name".to_owned()),
                        ("layer 3 resolve", format!("opens {name} beneath its root")),
                    ] {
                        steps.push(PolicyStep { station: layer.into(), finding, passed: true });
                    }
                    if !subjects.here.contains(&name) {
                        let name = self.rules.renamed(&subjects, vec![name]);
                        let (again, why, _) = self.rules.judge(&call.tool, &name, prepared.world);
                        steps.push(PolicyStep {
                            station: "permission of the resolved name".into(),
                            finding: why,
                            passed: again != Judgement::Deny,
                        });
                        strictest = strictest.max(again);
                    }
                }
                Err(denied) => {
                    let station = format!("layer {} {}", denied.layer.number(), denied.layer.name());
                    steps.push(PolicyStep { station, finding: denied.reason.to_string(), passed: false });
                    strictest = Judgement::Deny;
                }
            }
        }
        if below && strictest != Judgement::Deny && self.rules.pick(&call.tool) {
            steps.push(PolicyStep {
                station: "permission below".into(),
                finding: "names below that a rule denies or asks for are left out, and a directory \
                          that holds one is neither moved nor removed"
                    .into(),
                passed: true,
            });
        }
        (strictest, steps)
    }

    /// The path if this tool may read it without asking anybody; else `None`.
    pub fn readable(&self, tool: &str, raw: &RawPath) -> Option<SafePath> {
        let may = |name: &str| {
            let name = self.rules.paths(vec![name.to_owned()]);
            self.rules.judge(tool, &name, World::Project).0 == Judgement::Allow
        };
        let subject = self.allowlist.subject(raw)?;
        let path = may(&subject).then(|| self.open(raw, Access::Read).ok()).flatten()?;
        may(&path.name()).then_some(path)
    }

    /// Hides the names in a granted directory that a rule judges more strictly than it judged the call.
    fn hiding(&self, call: &Call, judged: Judgement, paths: Vec<SafePath>) -> Vec<SafePath> {
        if !self.rules.pick(&call.tool) {
            return paths;
        }
        let mut filters = self.filters.lock();
        let hide = filters.entry((call.tool.clone(), judged)).or_insert_with(|| {
            let (rules, tool) = (self.rules.clone(), call.tool.clone());
            Hide::new(move |name| rules.hide(&tool, name, judged))
        });
        paths.into_iter().map(|path| path.hiding(hide.clone())).collect()
    }

    /// All denials of a call that the rules deny, judged by the names of its paths alone.
    fn ruled_out(&self, call: &Call, prepared: &Prepared, subjects: &[String], why: &str) -> Vec<Fault> {
        let mut denials = Vec::new();
        if subjects.len() > 1 && !self.rules.ban(&call.tool) {
            for subject in subjects {
                let one = self.rules.paths(vec![subject.clone()]);
                let one = self.rules.judge(&call.tool, &one, prepared.world);
                if let (Judgement::Deny, why, _) = one {
                    denials.push(refused(call, &format!("{subject}: {why}")));
                }
            }
        }
        if denials.is_empty() {
            denials.push(refused(call, why));
        }
        let admit = |(raw, access): &(RawPath, Access)| self.allowlist.admit(raw, *access).err();
        denials.extend(prepared.wants.paths.iter().filter_map(admit).map(Fault::from));
        denials
    }

    fn open(&self, raw: &RawPath, access: Access) -> Result<SafePath, Denied> {
        self.allowlist.admit(raw, access)?.resolve()
    }
}

fn refused(call: &Call, why: &str) -> Fault {
    Fault::new(FaultKind::Permission, format!("{} is not permitted here: {why}", call.tool))
        .hint("a person can change the rule in tectum.toml; `tectum policy test` explains every step")
}

/// One fault for all denials of a call, so that the caller can fix them at once.
fn together(mut denials: Vec<Fault>) -> Fault {
    if denials.len() == 1 {
        return denials.remove(0);
    }
    let count = denials.len();
    let mut lines = vec![format!("{count} reasons stand against this call:")];
    let mut hints: Vec<String> = Vec::new();
    for denial in denials.into_iter().take(MOST_DENIALS) {
        lines.push(denial.message);
        hints.extend(denial.hint.filter(|hint| !hints.contains(hint)));
    }
    if count > MOST_DENIALS {
        lines.push(format!("and {} more", count - MOST_DENIALS));
    }
    Fault::new(FaultKind::Permission, lines.join("\n")).hint(hints.join("; "))
}
