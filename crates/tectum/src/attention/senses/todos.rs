//! A to-do list with open items that nobody changed for many rounds.

use tectum_attention::{Event, Input};
use tectum_core::directives::TODO_ANCHOR;

use super::sense::{Calls, House, Sense, fact};

/// The organ.
const TODOS: &str = "internal:todos";

/// The list as it was seen last.
#[derive(Default)]
pub(super) struct Todos {
    content: Option<String>,
    /// The round in which it was new.
    since: u64,
    told: bool,
}

impl Sense for Todos {
    fn organ(&self) -> &'static str {
        TODOS
    }

    fn look(&mut self, house: &House, _: &Calls, inputs: &mut Vec<Input>) {
        let rounds = house.attention.rounds();
        let now = house.house.effects().anchors.get(TODO_ANCHOR).map(|anchor| anchor.content.to_string());
        if now != self.content {
            *self = Self { content: now, since: rounds, told: false };
            return;
        }
        let Some(open) = self.content.as_deref().and_then(open_item) else { return };
        let untouched = rounds.saturating_sub(self.since);
        if self.told || untouched < house.todo_rounds {
            return;
        }
        self.told = true;
        inputs.push(Input::Event(Event {
            new: format!("not changed for {untouched} rounds"),
            details: Some("todo_write".into()),
            ..fact(TODOS, house, open, "state")
        }));
    }
}

/// The item in progress, or else the first that is open.
fn open_item(list: &str) -> Option<String> {
    let marked = |mark: &str| list.lines().find_map(|line| Some(line.split_once(mark)?.1));
    marked("] [>] ").or_else(|| marked("] [ ] ")).map(|item| item.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_item_in_progress_stands_for_the_list() {
        for (list, expect) in [
            ("[CURRENT TODO STATE]\n  [0] [ ] one\n  [1] [>] two (doing two)\n", Some("two (doing two)")),
            ("  [0] [x] one\n  [1] [ ] two\n", Some("two")),
            ("  [0] [x] one\n", None),
            ("No todos.", None),
        ] {
            assert_eq!(open_item(list).as_deref(), expect, "{list}");
        }
    }
}
