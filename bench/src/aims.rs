//! The aims of Tectum, each a ratio within one run except the ceiling on memory.

use std::fmt;

use crate::record::View;
use crate::stats::Spread;

pub(crate) struct Aim {
    case: &'static str,
    /// The server whose figure it is.
    subject: &'static str,
    figure: &'static str,
    /// The server to compare with; `None` means the figure itself, not a ratio.
    against: Option<&'static str>,
    /// The CPUs that client and server share; `None` means any.
    view: Option<View>,
    pub(crate) goal: Goal,
}

#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
    Above(f64),
    Below(f64),
}

const AIMS: [Aim; 65] = [
    aim("economy", "all_tokens", "server-filesystem", None, Goal::AtMost(0.5)),
    aim("economy", "all_tokens", "rust-mcp-filesystem", None, Goal::AtMost(0.5)),
    aim("economy", "all_tokens", "serena", None, Goal::AtMost(0.5)),
    aim("read-4k", "calls_per_s_64", "rust-mcp-filesystem", Some(View::AllCpus), Goal::AtLeast(3.0)),
    aim("read-4k", "calls_per_s_64", "floor", Some(View::AllCpus), Goal::AtLeast(0.5)),
    aim("read-4k", "p50_us", "rust-mcp-filesystem", Some(View::OneCpu), Goal::AtMost(0.4)),
    aim("noop-ping", "calls_per_s_64", "server-everything", None, Goal::AtLeast(2.0)),
    aim("noop-call", "calls_per_s_64", "server-everything", None, Goal::AtLeast(2.0)),
    aim("list-100", "p50_us", "rust-mcp-filesystem", None, Goal::Below(1.0)),
    aim("list-100", "p50_us", "server-filesystem", None, Goal::Below(1.0)),
    aim("list-100", "calls_per_s_64", "rust-mcp-filesystem", None, Goal::Above(1.0)),
    aim("list-100", "calls_per_s_64", "server-filesystem", None, Goal::Above(1.0)),
    aim("edit-4k", "p50_us", "rust-mcp-filesystem", None, Goal::Below(1.0)),
    aim("edit-4k", "p50_us", "server-filesystem", None, Goal::Below(1.0)),
    aim("edit-4k", "calls_per_s_1", "rust-mcp-filesystem", None, Goal::Above(1.0)),
    aim("edit-4k", "calls_per_s_1", "server-filesystem", None, Goal::Above(1.0)),
    aim("start", "list_ms", "floor", Some(View::AllCpus), Goal::AtMost(3.0)),
    own_aim("memory", "idle_mb", Goal::Below(12.0)),
    aim("search", "rare_ms", "rg", Some(View::AllCpus), Goal::AtMost(1.3)),
    aim("search", "medium_ms", "rg", Some(View::AllCpus), Goal::AtMost(1.3)),
    aim("search", "regex_ms", "rg", Some(View::AllCpus), Goal::AtMost(1.3)),
    aim("turn-together", "three_ms", "one-by-one", None, Goal::AtMost(0.4)),
    aim("turn-together", "six_ms", "one-by-one", None, Goal::AtMost(0.2)),
    own_aim("turn-refresh", "look_ms", Goal::Below(20.0)),
    aim("code-outline-python", "mb_per_cpu_s", "ast", None, Goal::AtLeast(10.0)),
    aim("code-outline-python", "mb_per_cpu_s", "tree-sitter", None, Goal::AtLeast(50.0)),
    aim("code-outline-python", "mb_per_cpu_s", "ctags", None, Goal::AtLeast(6.0)),
    aim("code-outline-c", "mb_per_cpu_s", "tree-sitter", None, Goal::AtLeast(20.0)),
    aim("code-outline-c", "mb_per_cpu_s", "ctags", None, Goal::AtLeast(4.0)),
    aim("code-outline-cpp", "mb_per_cpu_s", "tree-sitter", None, Goal::AtLeast(20.0)),
    aim("code-outline-cpp", "mb_per_cpu_s", "ctags", None, Goal::AtLeast(4.0)),
    aim("code-cores", "python_mb_per_s", "one-core", None, Goal::AtLeast(1.8)),
    aim("code-cores", "c_mb_per_s", "one-core", None, Goal::AtLeast(1.8)),
    aim("code-cores", "cpp_mb_per_s", "one-core", None, Goal::AtLeast(1.8)),
    aim("code-index", "index_ms", "rg", None, Goal::AtMost(3.0)),
    own_aim("code-index", "more_ms", Goal::AtMost(1.0)),
    aim("code-warm", "outline_us", "tree-sitter", None, Goal::AtMost(0.02)),
    aim("code-usages-python", "rare_first_ms", "rg", None, Goal::AtMost(1.2)),
    aim("code-usages-python", "rare_warm_us", "rg", None, Goal::AtMost(0.05)),
    aim("code-usages-python", "medium_first_ms", "rg", None, Goal::AtMost(1.2)),
    aim("code-usages-python", "medium_warm_us", "rg", None, Goal::AtMost(0.05)),
    aim("code-usages-python", "common_first_ms", "rg", None, Goal::AtMost(1.2)),
    aim("code-usages-python", "common_warm_us", "rg", None, Goal::AtMost(0.05)),
    aim("code-usages-native", "rare_first_ms", "rg", None, Goal::AtMost(1.2)),
    aim("code-usages-native", "rare_warm_us", "rg", None, Goal::AtMost(0.05)),
    aim("code-usages-native", "medium_first_ms", "rg", None, Goal::AtMost(1.2)),
    aim("code-usages-native", "medium_warm_us", "rg", None, Goal::AtMost(0.05)),
    aim("code-usages-native", "common_first_ms", "rg", None, Goal::AtMost(1.2)),
    aim("code-usages-native", "common_warm_us", "rg", None, Goal::AtMost(0.05)),
    aim("gateway", "p50_us", "direct", Some(View::OneCpu), Goal::AtMost(2.5)),
    aim("gateway", "sessions_per_s_64", "mcp-proxy-rust", None, Goal::AtLeast(2.0)),
    aim("gateway", "cpu_us_1", "mcp-proxy-rust", Some(View::OneCpu), Goal::AtMost(0.5)),
    own_aim("gateway-memory", "session_kb", Goal::Below(20.0)),
    aim_64("gateway-many", "tools_list_us", "mcp-proxy-rust-64", Goal::AtMost(0.1)),
    aim_64("gateway-many", "p50_us", "tectum-1", Goal::AtMost(1.03)),
    aim_64("gateway-start", "init_ms", "tectum-1", Goal::AtMost(1.2)),
    aim_64("gateway-start", "cold_init_ms", "tectum-1", Goal::AtMost(1.2)),
    aim("record-call", "p50_us", "tectum-off", None, Goal::AtMost(1.1)),
    aim("record-4k", "p50_us", "tectum-off", None, Goal::AtMost(1.1)),
    Aim {
        case: "record-call",
        subject: "tectum-always",
        figure: "calls_per_s_64",
        against: Some("tectum-off"),
        view: None,
        goal: Goal::AtLeast(0.5),
    },
    aim_joined("added_us", 10.0),
    aim_joined("private_mb", 4.0),
    aim_observed("tectum-0"),
    aim_observed("tectum-1"),
    aim_observed("tectum-8"),
];

const fn aim(
    case: &'static str,
    figure: &'static str,
    against: &'static str,
    view: Option<View>,
    goal: Goal,
) -> Aim {
    Aim { case, subject: "tectum", figure, against: Some(against), view, goal }
}

const fn own_aim(case: &'static str, figure: &'static str, goal: Goal) -> Aim {
    Aim { case, subject: "tectum", figure, against: None, view: None, goal }
}

/// An aim of Tectum in front of 64 servers.
const fn aim_64(case: &'static str, figure: &'static str, against: &'static str, goal: Goal) -> Aim {
    Aim { case, subject: "tectum-64", figure, against: Some(against), view: None, goal }
}

/// A bound on what a client pays that joined another's Tectum.
const fn aim_joined(figure: &'static str, most: f64) -> Aim {
    let goal = Goal::AtMost(most);
    Aim { case: "relay", subject: "tectum-joined", figure, against: None, view: None, goal }
}

/// An aim for the cost of a call of which copies are made.
const fn aim_observed(subject: &'static str) -> Aim {
    let against = Some("tectum-off");
    Aim { case: "observe", subject, figure: "paced_p99_us", against, view: None, goal: Goal::AtMost(1.05) }
}

/// The aim for a server's figure, if it has one.
pub(crate) fn find(
    case: &str,
    view: View,
    subject: &str,
    figure: &str,
    against: Option<&str>,
) -> Option<&'static Aim> {
    AIMS.iter().find(|aim| {
        aim.case == case
            && aim.subject == subject
            && aim.figure == figure
            && aim.against == against
            && aim.view.is_none_or(|wanted| wanted == view)
    })
}

impl Goal {
    /// The verdict: an aim is met if the quartiles are on the right side too.
    pub(crate) fn verdict(self, seen: Spread) -> &'static str {
        let met = |value: f64| match self {
            Self::AtLeast(goal) => value >= goal,
            Self::AtMost(goal) => value <= goal,
            Self::Above(goal) => value > goal,
            Self::Below(goal) => value < goal,
        };
        match (met(seen.median), met(seen.low) && met(seen.high)) {
            (_, true) => "met",
            (true, false) => "met by the median only",
            (false, false) => "missed",
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(goal) => write!(out, "≥ {goal}"),
            Self::AtMost(goal) => write!(out, "≤ {goal}"),
            Self::Above(goal) => write!(out, "> {goal}"),
            Self::Below(goal) => write!(out, "< {goal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quartiles_decide() {
        let spread = |low, median, high| Spread { low, median, high };
        assert_eq!(Goal::AtLeast(3.0).verdict(spread(3.0, 4.0, 5.0)), "met");
        assert_eq!(Goal::AtLeast(3.0).verdict(spread(2.9, 4.0, 5.0)), "met by the median only");
        assert_eq!(Goal::AtMost(0.4).verdict(spread(0.3, 0.5, 0.6)), "missed");
        assert_eq!(Goal::Below(1.0).verdict(spread(0.9, 1.0, 1.1)), "missed");
    }

    #[test]
    fn an_aim_for_one_cpu_is_not_one_for_two() {
        let p50 = |view| find("read-4k", view, "tectum", "p50_us", Some("rust-mcp-filesystem")).is_some();
        assert!(p50(View::OneCpu) && !p50(View::AllCpus));
    }
}
