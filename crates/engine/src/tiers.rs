//! Tiers: who the model is, with which tools, and to whom it may hand over. They are data; what
//! holds is enforced where calls are dispatched.

use std::collections::BTreeMap;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};
use tectum_core::Fault;

/// The name of the only tier where nobody named any.
pub const ONLY: &str = "default";

/// All tiers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiers {
    /// The one a conversation begins in.
    pub default: String,
    /// Each under its name.
    pub tiers: BTreeMap<String, Tier>,
}

/// One tier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// The model's first instructions.
    #[serde(default)]
    pub prompt: String,
    /// Globs over the names of its tools.
    #[serde(default = "every_tool")]
    pub tools: Vec<String>,
    /// Another model than the usual one.
    pub model: Option<String>,
    /// The tiers it may hand over to.
    #[serde(default)]
    pub may_hand_to: Vec<String>,
}

fn every_tool() -> Vec<String> {
    vec!["*".into()]
}

impl Tiers {
    /// One tier with every tool.
    pub fn only(prompt: impl Into<String>) -> Self {
        let tier = Tier { prompt: prompt.into(), tools: every_tool(), ..Tier::default() };
        Self { default: ONLY.into(), tiers: BTreeMap::from([(ONLY.into(), tier)]) }
    }

    /// One of them, or a fault that names them all.
    pub fn get(&self, name: &str) -> Result<&Tier, Fault> {
        self.tiers.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.tiers.keys().map(String::as_str).collect();
            Fault::not_found(format!("there is no tier `{name}`"))
                .hint(format!("there are: {}", names.join(", ")))
        })
    }

    /// The tier to hand over to, if the present one may.
    pub fn hand_over(&self, from: &str, to: &str) -> Result<&Tier, Fault> {
        let tier = self.get(to)?;
        let may = self.tiers.get(from).map(|tier| tier.may_hand_to.as_slice()).unwrap_or_default();
        if may.iter().any(|name| name == to) {
            return Ok(tier);
        }
        let fault = Fault::conflict(if from == to {
            format!("`{to}` is the tier that works already")
        } else {
            format!("the tier `{from}` may not hand over to `{to}`")
        });
        Err(match may {
            [] => fault.hint("it may hand over to nobody: go on with the work"),
            may => fault.hint(format!("it may hand over to: {}", may.join(", "))),
        })
    }

    /// Refuses tiers that name what is not there, and globs that are none.
    pub fn check(&self) -> Result<(), Fault> {
        self.get(&self.default)?;
        for (name, tier) in &self.tiers {
            tier.globs().map_err(|fault| Fault::invalid(format!("tier `{name}`: {}", fault.message)))?;
            for other in &tier.may_hand_to {
                self.get(other).map_err(|fault| Fault {
                    message: format!("tier `{name}` hands over to `{other}`: {}", fault.message),
                    ..fault
                })?;
            }
        }
        Ok(())
    }
}

impl Tier {
    /// Its tools.
    pub fn globs(&self) -> Result<GlobSet, Fault> {
        let wrong = |error: globset::Error| Fault::invalid(format!("its tools: {error}"));
        let mut set = GlobSetBuilder::new();
        for glob in &self.tools {
            set.add(Glob::new(glob).map_err(wrong)?);
        }
        set.build().map_err(wrong)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A planner that may hand to a coder, which may hand to nobody.
    pub(crate) fn two() -> Tiers {
        serde_json::from_value(serde_json::json!({ "default": "plan", "tiers": {
            "plan": { "prompt": "You plan.", "tools": ["look*", "hand"], "may_hand_to": ["code"] },
            "code": { "prompt": "You code.", "model": "large" },
        } }))
        .expect("tiers")
    }

    #[track_caller]
    fn check(change: impl Fn(&mut Tiers), expect: &str) {
        let mut tiers = two();
        change(&mut tiers);
        let fault = tiers.check().expect_err("refused");
        assert!(fault.message.contains(expect), "{}", fault.message);
    }

    #[test]
    fn what_is_named_must_be_there() {
        two().check().expect("whole");
        check(|tiers| tiers.default = "lead".into(), "no tier `lead`");
        let plan =
            |tiers: &mut Tiers, change: fn(&mut Tier)| change(tiers.tiers.get_mut("plan").expect("it"));
        check(|tiers| plan(tiers, |tier| tier.may_hand_to.push("x".into())), "hands over to `x`");
        check(|tiers| plan(tiers, |tier| tier.tools.push("[".into())), "tier `plan`: its tools");
    }

    #[test]
    fn hands_go_where_they_may() {
        let tiers = two();
        assert_eq!(tiers.hand_over("plan", "code").expect("allowed").prompt, "You code.");
        for (from, to, expect) in [
            ("code", "plan", "may not hand over to `plan`"),
            ("plan", "plan", "works already"),
            ("plan", "boss", "no tier `boss`"),
        ] {
            let fault = tiers.hand_over(from, to).expect_err("refused");
            assert!(fault.message.contains(expect) && fault.hint.is_some(), "{fault:?}");
        }
    }

    #[test]
    fn a_tier_without_a_list_has_every_tool() {
        assert!(two().tiers["code"].globs().expect("globs").is_match("server__anything"));
        assert!(!two().tiers["plan"].globs().expect("globs").is_match("write_file"));
    }
}
