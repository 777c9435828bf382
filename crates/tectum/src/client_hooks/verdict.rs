//! The decision of the house's gate about a tool of a client.

use std::time::Duration;

use serde_json::value::RawValue;
use tectum_core::{Call, Effect, Fault, Judgement, Prepared, SessionId, Subject, Tectum, gate::PolicyStep};

use super::{
    decision::{HookDecision, HookVerdict},
    shape::HookCall,
    touched::{Touched, touched},
};

/// The station that says that names below a directory are left out; a client's own tool leaves out none.
const BELOW: &str = "permission below";

/// The name that clients know this house by.
const OURSELVES: &str = "tectum";

/// Judges a call: of several things that it touches the strictest judgement counts.
pub(super) fn judge(house: &Tectum, call: &HookCall) -> HookVerdict {
    let ours = |(server, tool): &(String, String)| {
        server == OURSELVES && house.registry().snapshot().tool(tool).is_some()
    };
    if call.served.as_ref().is_some_and(ours) {
        return HookVerdict::pass("Tectum judges this call itself when it is made");
    }
    if call.comes_again() {
        return HookVerdict::pass("Cursor asks about it again with an event of its own");
    }
    let all = match touched(call) {
        Ok(all) => all,
        Err(why) => return HookVerdict::deny(&format!("Tectum denies {}: {why}", call.tool)),
    };
    let verdicts = all.into_iter().map(|touched| of(house, touched));
    let strictest = verdicts.reduce(|first, next| if next.decision > first.decision { next } else { first });
    strictest.unwrap_or_else(|| {
        HookVerdict::deny(&format!("Tectum denies {}: it names nothing to judge", call.tool))
    })
}

fn of(house: &Tectum, touched: Touched) -> HookVerdict {
    let Touched { tool, wants, world, inner } = touched;
    let looks = matches!(wants.subject, Subject::Path(_));
    let prepared = Prepared {
        wants,
        effect: Effect::Change,
        world,
        deadline: Duration::ZERO,
        max_output: 0,
        work: Box::new(|_| {
            Box::pin(async { Err(Fault::internal("a call of another program does not run here")) })
        }),
    };
    let call = Call::new(SessionId::new("hook"), tool.as_str(), RawValue::NULL.to_owned());
    let (judgement, steps) = house.gate().explain(&call, &prepared);
    let below = looks && steps.iter().any(|step| step.station == BELOW);
    let finding = finding(&steps, judgement);
    let (decision, reason) = match judgement {
        Judgement::Deny => (HookDecision::Deny, format!("Tectum denies {tool}: {finding}")),
        Judgement::Ask => (HookDecision::Ask, format!("Tectum asks about {tool}: {finding}")),
        Judgement::Allow if below => {
            let why = "a rule denies or asks for names in this directory, and only Tectum's own tools leave them out";
            (HookDecision::Ask, format!("Tectum asks about {tool}: {why}"))
        }
        // A permission would answer questions in the person's place, such as whether a plan is good.
        Judgement::Allow if inner => (HookDecision::Pass, String::new()),
        Judgement::Allow => (HookDecision::Allow, format!("Tectum allows {tool}: {finding}")),
    };
    HookVerdict { decision, reason }
}

/// The finding that decided.
fn finding(steps: &[PolicyStep], judgement: Judgement) -> &str {
    let ruled = |step: &&PolicyStep| step.station.starts_with("permission") && step.station != BELOW;
    let asks = |step: &&PolicyStep| judgement == Judgement::Ask && step.finding.contains("ask");
    let stopped = steps.iter().find(|step| !step.passed);
    let decided =
        stopped.or_else(|| steps.iter().filter(ruled).find(asks)).or_else(|| steps.iter().find(ruled));
    decided.map(|step| step.finding.as_str()).unwrap_or_default()
}
