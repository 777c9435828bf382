//! Compaction: when the window fills, older messages give way to a summary that says in fixed words
//! what was done. What a person said, the prompt of the tier, and what the model has not answered
//! yet are kept.

use std::collections::BTreeMap;

use crate::{LoopContext, Message, Role, Source, policy::LEAST_RESULT, prune::capped};

/// Characters of a text that a line of the summary quotes.
const QUOTED: usize = 160;
/// Calls that are named with their arguments, the newest; others are only counted.
const NAMED: usize = 40;
/// Things the model said that are quoted, the newest.
const SAID: usize = 10;

impl LoopContext {
    /// Drops what can be told in short, and gets below `most` tokens if anything can. False when
    /// there was nothing to drop.
    pub fn compact(&mut self, most: usize) -> bool {
        let (before, whole) = (self.tokens(), self.messages.clone());
        let last = self.messages.iter().rposition(|one| one.metadata.source == Source::Model);
        // What came after the last answer was not read by anybody.
        let unread = self.messages.split_off(last.unwrap_or(self.messages.len()));
        let (kept, dropped): (Vec<Message>, Vec<Message>) =
            std::mem::take(&mut self.messages).into_iter().partition(is_kept);
        let mut kept = kept.into_iter().peekable();
        self.messages.extend(kept.next_if(|first| first.metadata.source == Source::System));
        if !dropped.is_empty() {
            self.messages.push(Message::notice(Source::Summary, summary(&dropped)).at(self.iteration));
        }
        self.messages.extend(kept);
        self.messages.extend(unread);
        self.squeeze(most);
        let smaller = self.tokens() < before;
        if !smaller {
            // A few short messages can be shorter than what would be said about them.
            self.messages = whole;
        }
        smaller
    }

    /// Halves the longest result until all fits, or nothing is worth cutting.
    fn squeeze(&mut self, most: usize) {
        while self.tokens() > most {
            let results = self.messages.iter_mut().filter(|one| one.role == Role::Tool);
            let Some(longest) = results.max_by_key(|one| one.content.len()) else { return };
            let half = longest.content.len() / 2;
            if half < LEAST_RESULT {
                return;
            }
            longest.metadata.news_at = longest.metadata.news_at.filter(|at| *at <= half);
            longest.content = capped(std::mem::take(&mut longest.content), half);
        }
    }
}

fn is_kept(message: &Message) -> bool {
    matches!(message.metadata.source, Source::System | Source::User)
}

/// A summary of dropped messages, in words that depend on nothing but them.
fn summary(dropped: &[Message]) -> String {
    let mut text = String::from("[Summary of earlier work; the messages themselves were dropped]");
    let earlier = dropped.iter().filter(|one| one.metadata.source == Source::Summary);
    for one in earlier {
        text.push_str(&format!("\nBefore that: {}", quoted(&one.content, QUOTED * SAID)));
    }
    let calls: Vec<(&str, &str, bool)> = calls(dropped);
    if !calls.is_empty() {
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (tool, _, failed) in &calls {
            let count = counts.entry(tool).or_default();
            *count = (count.0 + 1, count.1 + usize::from(*failed));
        }
        let count = |(tool, (all, failed)): (&&str, &(usize, usize))| match failed {
            0 => format!("{tool} {all}"),
            failed => format!("{tool} {all} ({failed} failed)"),
        };
        text.push_str("\nCalls: ");
        text.push_str(&counts.iter().map(count).collect::<Vec<_>>().join(", "));
        for (tool, arguments, failed) in newest(&calls, NAMED) {
            let failed = if *failed { " failed" } else { "" };
            text.push_str(&format!("\n- {tool} {}{failed}", quoted(arguments, QUOTED)));
        }
    }
    let said: Vec<&Message> =
        dropped.iter().filter(|one| one.role == Role::Assistant && !one.content.trim().is_empty()).collect();
    for one in newest(&said, SAID) {
        text.push_str(&format!("\nYou said: {}", quoted(&one.content, QUOTED)));
    }
    let told = dropped.iter().filter(|one| one.metadata.source == Source::Injected);
    for one in newest(&told.collect::<Vec<_>>(), SAID) {
        text.push_str(&format!("\nYou were told: {}", quoted(&one.content, QUOTED)));
    }
    text
}

/// The calls that were dropped: tool, arguments, and whether each failed.
fn calls(dropped: &[Message]) -> Vec<(&str, &str, bool)> {
    let mut failed = dropped.iter().filter(|one| one.role == Role::Tool && one.metadata.is_error);
    let mut next = failed.next();
    let mut calls = Vec::new();
    for call in dropped.iter().flat_map(|one| &one.tool_calls) {
        // Failures come in the order of their calls, so one look ahead is enough.
        let fails = next.is_some_and(|one| one.tool_call_id.as_deref() == Some(&call.id));
        if fails {
            next = failed.next();
        }
        calls.push((call.name.as_str(), call.arguments.as_str(), fails));
    }
    calls
}

fn newest<T>(all: &[T], most: usize) -> &[T] {
    &all[all.len().saturating_sub(most)..]
}

/// The beginning of a text, on one line.
fn quoted(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // A word may be as long as the text.
        if line.chars().count() > most {
            return line.chars().take(most).chain(['…']).collect();
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolCall;

    /// A conversation with so many rounds of one call.
    fn long(rounds: usize, result: usize) -> LoopContext {
        let mut ctx = LoopContext::new("t", 10_000);
        ctx.messages.extend([Message::system("be good"), Message::user("do it")]);
        for i in 0..rounds {
            let call = ToolCall::new(i.to_string(), "look", format!("{{\"path\":\"{i}\"}}"));
            ctx.messages.push(Message::assistant(format!("round {i}"), vec![call.clone()]));
            ctx.messages.push(Message::tool(&call, "x".repeat(result), i % 2 == 1));
        }
        ctx
    }

    fn said(ctx: &LoopContext) -> Vec<(Role, &str)> {
        ctx.messages.iter().map(|one| (one.role, one.content.as_str())).collect()
    }

    #[test]
    fn what_people_said_and_what_is_unread_is_kept() {
        let mut ctx = long(4, 100);
        ctx.messages.insert(4, Message::user("and that"));
        assert!(ctx.is_whole() && ctx.compact(100_000) && ctx.is_whole());
        let kept = said(&ctx);
        assert_eq!((kept.len(), kept[0]), (6, (Role::System, "be good")));
        assert_eq!(
            kept[1].1,
            "[Summary of earlier work; the messages themselves were dropped]\n\
             Calls: look 3 (1 failed)\n- look {\"path\":\"0\"}\n- look {\"path\":\"1\"} failed\n\
             - look {\"path\":\"2\"}\nYou said: round 0\nYou said: round 1\nYou said: round 2"
        );
        assert_eq!((kept[2].1, kept[3].1, kept[4].1), ("do it", "and that", "round 3"));
        assert_eq!(kept[5].1.len(), 100);
    }

    #[test]
    fn the_same_gives_the_same_and_a_second_time_keeps_the_first_summary() {
        let (mut one, mut other) = (long(9, 2_000), long(9, 2_000));
        one.compact(100_000);
        other.compact(100_000);
        assert_eq!(one, other);
        let call = ToolCall::new("n", "look", "{}");
        one.messages
            .extend([Message::assistant("more", vec![call.clone()]), Message::tool(&call, "r", false)]);
        assert!(one.compact(100_000));
        assert!(
            one.messages[1].content.contains("Before that: [Summary of earlier work"),
            "{:?}",
            said(&one)
        );
        assert!(one.is_whole());
    }

    #[test]
    fn results_that_are_too_much_together_are_halved() {
        let mut ctx = long(1, 100_000);
        assert!(ctx.compact(6_000));
        assert!(ctx.tokens() <= 6_000 && ctx.is_whole(), "{}", ctx.tokens());
        assert!(ctx.messages.last().expect("a result").content.contains("bytes are shown"));
    }

    #[test]
    fn nothing_to_drop_is_said() {
        let mut ctx = LoopContext::new("t", 10);
        ctx.messages.extend([Message::system("s"), Message::user("x".repeat(900))]);
        let before = ctx.clone();
        assert!(!ctx.compact(5));
        assert_eq!(ctx, before);
    }

    #[test]
    fn a_summary_is_bounded_whatever_was_said() {
        let mut ctx = long(500, 10);
        for message in &mut ctx.messages {
            message.content = "word ".repeat(2_000);
            message.tool_calls.iter_mut().for_each(|call| call.arguments = "y".repeat(5_000));
        }
        ctx.compact(100_000);
        let summary = ctx.messages.iter().find(|one| one.metadata.source == Source::Summary).expect("one");
        assert!(summary.content.len() < (NAMED + 2 * SAID + 2) * (QUOTED * 2), "{}", summary.content.len());
    }
}
