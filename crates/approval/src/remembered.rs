//! What this house remembers of answers: rules of a session, and what became of like calls. Both are
//! bounded, and end with the process.

use std::collections::{HashMap, HashSet, VecDeque};

use parking_lot::Mutex;

use crate::Before;

/// Rules of sessions that are kept; the oldest goes first.
const MOST_RULES: usize = 4096;
/// Kinds of calls that are counted; the oldest goes first.
const MOST_COUNTED: usize = 4096;

/// A yes that counts for a session: session, tool, and everything that the rules looked at. A command
/// of two parts is not covered by a yes to one of them.
type SessionRule = (String, String, Vec<String>);
/// Calls are alike if tool and subject are.
type Like = (String, String);

#[derive(Debug, Default)]
pub(crate) struct Memory {
    rules: Mutex<(HashSet<SessionRule>, VecDeque<SessionRule>)>,
    counts: Mutex<(HashMap<Like, Before>, VecDeque<Like>)>,
}

impl Memory {
    pub(crate) fn remember(&self, session: &str, tool: &str, subjects: &[String]) {
        let rule = (session.to_owned(), tool.to_owned(), subjects.to_vec());
        let mut rules = self.rules.lock();
        let (known, order) = &mut *rules;
        if known.insert(rule.clone()) {
            order.push_back(rule);
        }
        if order.len() > MOST_RULES
            && let Some(oldest) = order.pop_front()
        {
            known.remove(&oldest);
        }
    }

    pub(crate) fn covers(&self, session: &str, tool: &str, subjects: &[String]) -> bool {
        let rules = self.rules.lock();
        // Most houses never have one.
        !rules.0.is_empty() && rules.0.contains(&(session.to_owned(), tool.to_owned(), subjects.to_vec()))
    }

    pub(crate) fn before(&self, tool: &str, subject: &str) -> Before {
        let counts = self.counts.lock();
        counts.0.get(&(tool.to_owned(), subject.to_owned())).copied().unwrap_or_default()
    }

    pub(crate) fn count(&self, tool: &str, subject: &str, change: impl FnOnce(&mut Before)) {
        let like = (tool.to_owned(), subject.to_owned());
        let mut counts = self.counts.lock();
        let (known, order) = &mut *counts;
        if !known.contains_key(&like) {
            if order.len() == MOST_COUNTED
                && let Some(oldest) = order.pop_front()
            {
                known.remove(&oldest);
            }
            order.push_back(like.clone());
        }
        change(known.entry(like).or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_a_session_is_about_all_that_was_seen_and_about_no_other_session() {
        let memory = Memory::default();
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        memory.remember("one", "run", &list(&["ls"]));
        assert!(memory.covers("one", "run", &list(&["ls"])));
        for (session, tool, subjects) in [
            ("two", "run", list(&["ls"])),
            ("one", "edit", list(&["ls"])),
            ("one", "run", list(&["ls", "rm x"])),
            ("one", "run", list(&[])),
        ] {
            assert!(!memory.covers(session, tool, &subjects), "{session} {tool} {subjects:?}");
        }
        for n in 0..MOST_RULES {
            memory.remember("one", "run", &[n.to_string()]);
        }
        assert!(!memory.covers("one", "run", &list(&["ls"])), "the oldest went");
        assert_eq!(memory.rules.lock().0.len(), MOST_RULES);
    }

    #[test]
    fn like_calls_are_counted_within_a_bound() {
        let memory = Memory::default();
        memory.count("edit", "a", |before| before.approved += 1);
        memory.count("edit", "a", |before| before.denied += 1);
        assert_eq!(memory.before("edit", "a"), Before { approved: 1, denied: 1, failed: 0 });
        for n in 0..MOST_COUNTED {
            memory.count("edit", &n.to_string(), |before| before.failed += 1);
        }
        assert_eq!(memory.before("edit", "a"), Before::default());
        assert_eq!(memory.counts.lock().0.len(), MOST_COUNTED);
    }
}
