//! Any graph of tickets under any luck of its workers.

use std::collections::HashMap;

use parking_lot::Mutex;
use proptest::prelude::*;

use super::*;
use crate::{
    TicketStatus, Track,
    ticket::tests::{ticket, track},
};

#[derive(Clone, Copy, Debug)]
enum Luck {
    Good,
    Bad,
    Refused,
    Panics,
}

/// A worker that notes what it sees: who was completed when it began, and how many were at work.
struct Seer {
    board: Arc<Board>,
    luck: HashMap<String, (Luck, u8)>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    at_work: usize,
    most: usize,
    too_early: Vec<String>,
    begun: Vec<String>,
}

impl Worker for Seer {
    async fn work(&self, ticket: Ticket) -> Done {
        let (luck, yields) = self.luck.get(&ticket.id).copied().unwrap_or((Luck::Good, 0));
        let now = self.board.track();
        {
            let mut seen = self.seen.lock();
            seen.at_work += 1;
            seen.most = seen.most.max(seen.at_work);
            seen.begun.push(ticket.id.clone());
            let completed =
                |id: &String| now.ticket(id).is_some_and(|one| one.status == TicketStatus::Completed);
            if !ticket.depends_on.iter().all(completed) {
                seen.too_early.push(ticket.id.clone());
            }
        }
        let done = match luck {
            Luck::Refused => Done::Blocked { reason: "a person said no".into(), analysis: None },
            luck => {
                self.board.change(|graph| graph.begin(&ticket.id)).await.expect("ready");
                for _ in 0..yields {
                    tokio::task::yield_now().await;
                }
                match luck {
                    Luck::Good => Done::Completed("done".into()),
                    _ => Done::Blocked { reason: "it failed".into(), analysis: Some("try again".into()) },
                }
            }
        };
        self.seen.lock().at_work -= 1;
        assert!(!matches!(luck, Luck::Panics), "as the test wants it");
        done
    }
}

fn run(track: Track, luck: HashMap<String, (Luck, u8)>, workers: usize) -> (Track, Ended, Seen) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let board = Arc::new(Board::new(|_| ()));
        board.open(track, None, false).await.expect("opens");
        let seer = Arc::new(Seer { board: board.clone(), luck, seen: Mutex::default() });
        let ended = schedule(&board, seer.clone(), workers, &CancellationToken::new()).await;
        let seen = std::mem::take(&mut *seer.seen.lock());
        (board.track(), ended, seen)
    })
}

fn luck() -> impl Strategy<Value = (Luck, u8)> {
    let luck = prop_oneof![6 => Just(Luck::Good), 1 => Just(Luck::Bad), 1 => Just(Luck::Refused)];
    (luck, 0..5_u8)
}

/// Tickets that wait for some before them, in any order in the file.
fn any_track() -> impl Strategy<Value = (Track, HashMap<String, (Luck, u8)>)> {
    let each = (prop::collection::vec(any::<prop::sample::Index>(), 0..4), luck());
    prop::collection::vec(each, 1..24).prop_flat_map(|each| {
        let mut tickets = Vec::new();
        let mut lucks = HashMap::new();
        for (at, (depends_on, luck)) in each.into_iter().enumerate() {
            let mut names: Vec<String> =
                depends_on.iter().filter(|_| at > 0).map(|index| format!("n{}", index.index(at))).collect();
            names.sort();
            names.dedup();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            tickets.push(ticket(&format!("n{at}"), &names));
            lucks.insert(format!("n{at}"), luck);
        }
        let lucks = Just(lucks);
        let track = Just(tickets).prop_shuffle().prop_map(|tickets| Track { tickets, ..track(&[]) });
        (track, lucks)
    })
}

proptest! {
    #[test]
    fn nothing_begins_early_and_everything_ends((track, luck) in any_track(), workers in 1..6_usize) {
        let (track, ended, seen) = run(track, luck.clone(), workers);
        prop_assert!(seen.too_early.is_empty(), "{:?}", seen);
        prop_assert!(seen.most <= workers, "{:?}", seen);
        prop_assert!(ended.fault.is_none() && ended.stall.is_none() && !ended.cancelled, "{:?}", ended);
        let mut begun = seen.begun.clone();
        begun.sort();
        begun.dedup();
        prop_assert_eq!(begun.len(), seen.begun.len(), "no ticket is worked on twice");
        for ticket in &track.tickets {
            let blocked = |id: &String| track.ticket(id).is_some_and(|one| one.status == TicketStatus::Blocked);
            let waits_for_blocked = ticket.depends_on.iter().any(blocked);
            let good = matches!(luck[&ticket.id].0, Luck::Good) && !waits_for_blocked;
            let expect = if good { TicketStatus::Completed } else { TicketStatus::Blocked };
            prop_assert_eq!(ticket.status, expect, "{:?}", ticket);
            prop_assert_eq!(ticket.blocked_reason.is_some(), !good, "{:?}", ticket);
        }
    }
}

#[test]
fn as_many_as_may_work_at_once() {
    let luck = ["a", "b", "c", "d", "e"].map(|id| (id.to_owned(), (Luck::Good, 4)));
    let track = track(&[("a", &[]), ("b", &[]), ("c", &[]), ("d", &[]), ("e", &[])]);
    let (_, _, seen) = run(track, luck.into(), 3);
    assert_eq!(seen.most, 3, "{seen:?}");
}

#[test]
fn a_worker_that_breaks_down_blocks_its_ticket_alone() {
    let luck = HashMap::from([("a".to_owned(), (Luck::Panics, 0))]);
    let (track, ended, _) = run(track(&[("a", &[]), ("b", &["a"]), ("c", &[])]), luck, 2);
    assert!(ended.fault.is_none(), "{ended:?}");
    let reason = track.tickets[0].blocked_reason.as_deref().unwrap_or_default();
    assert!(reason.contains("its worker broke down"), "{reason}");
    let waiting = track.tickets[1].blocked_reason.as_deref().unwrap_or_default();
    assert!(waiting.starts_with("`a` is blocked: its worker broke down"), "{waiting}");
    assert_eq!(track.tickets[2].status, TicketStatus::Completed);
}

#[test]
fn a_track_that_cannot_go_on_says_why() {
    let (track, ended, _) = run(track(&[("a", &["b"]), ("b", &["a"]), ("c", &[])]), HashMap::new(), 2);
    assert_eq!(track.tickets[2].status, TicketStatus::Completed);
    assert_eq!(ended.stall.as_deref(), Some("nothing can begin: `a` waits for `b`; `b` waits for `a`"));
}
