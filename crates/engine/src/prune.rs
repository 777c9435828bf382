//! Making results smaller: the cap on a new one, what is left of an older one, the stub that is
//! left of an old one, and the block about changed files that only the newest round carries.

use tectum_turns::{CLOSES, OPENS};

use crate::{LoopContext, Message, Policy, Role};

/// The first words of a stub.
pub const STUB: &str = "[Previous:";
/// The first line of a block about changed files.
pub const NEWS: &str = OPENS;
/// Its last line.
pub const NEWS_END: &str = CLOSES;

/// A new result within its cap, with a tail that says what is missing.
pub fn capped(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let whole = text.len();
    let note = |shown: usize| format!("\n[cut: {shown} of {whole} bytes are shown; ask for a smaller part]");
    // The note is part of what the cap allows.
    let end = text.floor_char_boundary(most.saturating_sub(note(whole).len()));
    format!("{}{}", &text[..end], note(end))
}

impl LoopContext {
    /// Replaces results by stubs, but for the newest so many. Results of the present iteration stay
    /// whatever the number is, since nobody has read them yet. Says how many were replaced.
    pub fn prune(&mut self, keep_recent: usize) -> usize {
        let now = self.iteration;
        let results = self.messages.iter_mut().rev().filter(|message| message.role == Role::Tool);
        let old = results.skip(keep_recent).filter(|message| message.metadata.iteration < now);
        old.map(stub).filter(|done| *done).count()
    }

    /// Replaces results by stubs that are as old as the policy says. Says how many.
    pub fn prune_old(&mut self, policy: &Policy) -> usize {
        let Some(last) = self.iteration.checked_sub(policy.prune_after) else { return 0 };
        let results = self.messages.iter_mut().filter(|message| message.role == Role::Tool);
        results.filter(|message| message.metadata.iteration <= last).map(stub).filter(|done| *done).count()
    }

    /// Appends a line to the newest result, where it stays.
    pub fn append_line(&mut self, line: &str) {
        if let Some(last) = self.messages.iter_mut().rev().find(|message| message.role == Role::Tool) {
            strip(last);
            last.content.push_str(&format!("\n\n{line}"));
        }
    }

    /// Appends a block about changed files to the newest result. It stays for one round.
    pub fn tell_news(&mut self, block: &str) {
        let Some(last) = self.messages.iter_mut().rev().find(|message| message.role == Role::Tool) else {
            return;
        };
        strip(last);
        last.metadata.news_at = Some(last.content.len());
        let block = block.trim();
        let framed = block.starts_with(NEWS) && block.ends_with(NEWS_END);
        last.content.push_str(&if framed {
            format!("\n\n{block}")
        } else {
            format!("\n\n{NEWS}\n{block}\n{NEWS_END}")
        });
    }

    /// What the start of a round does to what earlier rounds left: blocks about changed files go,
    /// and long results are shortened.
    pub fn settle(&mut self, policy: &Policy) {
        for message in self.messages.iter_mut().filter(|message| message.role == Role::Tool) {
            strip(message);
            shorten(message, policy.old_result);
        }
    }
}

fn strip(message: &mut Message) {
    if let Some(at) = message.metadata.news_at.take() {
        let end = message.content.floor_char_boundary(at);
        message.content.truncate(end);
    }
}

fn shorten(message: &mut Message, most: usize) {
    if message.content.len() <= most {
        return;
    }
    let count = message.content.chars().count();
    if count <= most {
        return;
    }
    let note =
        |shown: usize| format!("\n[cut: {shown} of {count} characters are left; call again for the rest]");
    let shown = most.saturating_sub(note(count).len());
    let end = message.content.char_indices().nth(shown).map_or(message.content.len(), |(at, _)| at);
    message.content.truncate(end);
    message.content.push_str(&note(shown));
}

fn stub(message: &mut Message) -> bool {
    if message.metadata.stubbed {
        return false;
    }
    strip(message);
    let tool = message.metadata.tool.as_deref().unwrap_or("a tool");
    let stub = format!("{STUB} {tool}, {} bytes; call it again if they are needed]", message.content.len());
    // What is as short as its stub tells more than that.
    if message.content.len() <= stub.len() {
        return false;
    }
    message.content = stub;
    message.metadata.stubbed = true;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolCall;

    fn context(results: &[(u64, String)]) -> LoopContext {
        let mut ctx = LoopContext::new("t", 1000);
        for (iteration, text) in results {
            let call = ToolCall::new(iteration.to_string(), "look", "{}");
            ctx.messages.push(Message::assistant("", vec![call.clone()]).at(*iteration));
            ctx.messages.push(Message::tool(&call, text.clone(), false).at(*iteration));
        }
        ctx.iteration = results.last().map_or(0, |(iteration, _)| *iteration);
        ctx
    }

    fn texts(ctx: &LoopContext) -> Vec<&str> {
        ctx.messages.iter().filter(|one| one.role == Role::Tool).map(|one| one.content.as_str()).collect()
    }

    #[test]
    fn a_cap_cuts_between_characters_and_says_so() {
        assert_eq!(capped("short".into(), 300), "short");
        for most in 256..270 {
            let cut = capped("é".repeat(400), most);
            assert!(cut.len() <= most && cut.contains("of 800 bytes are shown"), "{} {cut}", cut.len());
        }
    }

    #[test]
    fn stubs_name_tool_and_size_and_the_newest_stay() {
        let long = "x".repeat(500);
        let mut ctx =
            context(&[(1, long.clone()), (2, "short".into()), (3, long.clone()), (4, long.clone())]);
        assert_eq!(ctx.prune(1), 2);
        assert_eq!(ctx.prune(1), 0, "what is a stub stays as it is");
        let stub = "[Previous: look, 500 bytes; call it again if they are needed]";
        assert_eq!(texts(&ctx), [stub, "short", stub, long.as_str()]);
    }

    #[test]
    fn what_nobody_has_read_is_not_pruned() {
        let long = "x".repeat(500);
        let mut ctx = context(&[(3, long.clone()), (3, long.clone())]);
        assert_eq!((ctx.prune(0), texts(&ctx)), (0, vec![long.as_str(); 2]));
    }

    #[test]
    fn a_text_that_looks_like_a_stub_is_pruned_as_any_other() {
        let mut ctx = context(&[(1, format!("{STUB} {}", "y".repeat(200))), (2, "z".into())]);
        assert_eq!(ctx.prune(1), 1);
    }

    #[test]
    fn age_prunes_by_itself() {
        let long = "x".repeat(500);
        let all: Vec<(u64, String)> = (1..=12).map(|i| (i, long.clone())).collect();
        let mut ctx = context(&all);
        assert_eq!(ctx.prune_old(&Policy::default()), 2);
        assert!(texts(&ctx)[1].starts_with(STUB) && texts(&ctx)[2] == long);
        let mut young = context(&all[..9]);
        assert_eq!(young.prune_old(&Policy::default()), 0);
    }

    #[test]
    fn news_stay_for_one_round_and_a_tools_own_words_stay_for_ever() {
        let own = format!("{NEWS}\nfrom a file\n{NEWS_END}");
        let mut ctx = context(&[(1, own.clone()), (2, "b".into())]);
        ctx.tell_news("a.rs changed");
        assert_eq!(texts(&ctx)[1], format!("b\n\n{NEWS}\na.rs changed\n{NEWS_END}"));
        let framed = format!("{NEWS}\nc.rs changed\n{NEWS_END}");
        ctx.tell_news(&framed);
        assert_eq!(texts(&ctx)[1], format!("b\n\n{framed}"), "one block, framed once");
        ctx.settle(&Policy::default());
        assert_eq!(texts(&ctx), [own.as_str(), "b"]);
    }

    #[test]
    fn news_without_a_result_to_stand_in_are_nothing() {
        let mut ctx = LoopContext::new("t", 10);
        ctx.tell_news("x");
        assert_eq!(ctx.messages, []);
    }

    #[test]
    fn older_results_are_shortened_by_characters() {
        let mut ctx = context(&[(1, "é".repeat(9_000)), (2, "é".repeat(8_000))]);
        ctx.settle(&Policy::default());
        let lengths: Vec<usize> = texts(&ctx).iter().map(|text| text.chars().count()).collect();
        assert!(lengths[0] <= 8_000 && texts(&ctx)[0].contains("of 9000 characters are left"), "{lengths:?}");
        assert_eq!(lengths[1], 8_000);
        let once = ctx.messages.clone();
        ctx.settle(&Policy::default());
        assert_eq!(ctx.messages, once, "a second time changes nothing");
    }
}
