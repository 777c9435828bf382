//! The reports of servers about tasks before their clients could know them: kept, in order and bounded,
//! until the answer has gone out that names the task.

use std::{collections::VecDeque, sync::Arc};

use crate::spec::ServerName;

/// Notes that are kept for all servers together. A server tells a few states of a task before it
/// answers; what nobody's answer ever names goes first.
const MOST: usize = 1024;
/// Their bytes: a note is an id, a state and some times.
const MOST_BYTES: usize = 1 << 20;

/// The server that works on a task, and its id there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TaskPlace {
    /// The server.
    pub(crate) server: ServerName,
    /// The server's id for it.
    pub(crate) own: Arc<str>,
}

/// The notes, oldest first.
#[derive(Debug, Default)]
pub(super) struct Early {
    notes: VecDeque<(TaskPlace, String)>,
    bytes: usize,
}

impl Early {
    /// Keeps the parameters of a note.
    pub(super) fn keep(&mut self, place: TaskPlace, params: &str) {
        self.bytes += params.len();
        self.notes.push_back((place, params.to_owned()));
        while self.notes.len() > MOST || self.bytes > MOST_BYTES {
            let Some((_, oldest)) = self.notes.pop_front() else { return };
            self.bytes -= oldest.len();
        }
    }

    /// Takes out what was told of one task.
    pub(super) fn take(&mut self, place: &TaskPlace) -> Vec<String> {
        let (its, others): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.notes).into_iter().partition(|(of, _)| of == place);
        self.notes = others;
        let its: Vec<String> = its.into_iter().map(|(_, params)| params).collect();
        self.bytes -= its.iter().map(String::len).sum::<usize>();
        its
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(own: &str) -> TaskPlace {
        TaskPlace { server: ServerName::parse("s").expect("a name"), own: own.into() }
    }

    #[test]
    fn notes_come_out_in_order_and_the_oldest_make_room() {
        let mut early = Early::default();
        for number in 0..=MOST {
            early.keep(place(if number % 2 == 0 { "even" } else { "odd" }), &number.to_string());
        }
        let even = early.take(&place("even"));
        assert_eq!((even.len(), even[0].as_str()), (MOST / 2, "2"), "the first made room");
        assert_eq!(early.take(&place("even")), [""; 0]);
        assert_eq!(early.take(&place("odd"))[0], "1");
        assert_eq!((early.notes.len(), early.bytes), (0, 0));
        early.keep(place("large"), &"x".repeat(MOST_BYTES));
        early.keep(place("small"), "1");
        assert_eq!((early.take(&place("large")).len(), early.take(&place("small")).len()), (0, 1));
        early.keep(place("larger"), &"x".repeat(MOST_BYTES + 1));
        assert_eq!((early.notes.len(), early.bytes), (0, 0));
    }
}
