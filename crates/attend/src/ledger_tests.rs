//! Who is told of what: once, in order, and over restarts.

use tectum_attention::{AgentRhythm, Direction, Event, Input, Settings, Severity, Task, Workspace};

use super::*;

/// A piece of news about a subject, as a workspace makes it.
fn news(subject: &str, severity: Severity, at: f64) -> News {
    let mut workspace = Workspace::new(Settings::default());
    let event = Event {
        organ: "internal:test".into(),
        at,
        subject: subject.into(),
        path: "state".into(),
        old: Some("green".into()),
        new: "red".into(),
        severity,
        direction: Direction::Breaking,
        touches: None,
        details: None,
    };
    workspace.tick(at, vec![Input::Event(event)], AgentRhythm::idle(), &Task::default()).remove(0)
}

fn numbered(id: u64, severity: Severity, at: f64) -> News {
    News { id: NewsId(id), ..news("x", severity, at) }
}

fn reader(name: &str) -> ReaderKey {
    ReaderKey::new(name, "")
}

fn told(ledger: &mut Ledger, name: &str, now: f64) -> Vec<String> {
    std::iter::from_fn(|| ledger.tell(&reader(name), "result", false, now)).map(|line| line.id).collect()
}

#[test]
fn each_reader_is_told_once_the_urgent_first() {
    let mut ledger = Ledger::default();
    for name in ["a", "b"] {
        ledger.heard(&reader(name), "client", 1.0);
    }
    ledger.add(numbered(1, Severity::Warning, 2.0), None, Audience::All);
    ledger.add(numbered(2, Severity::Failure, 3.0), None, Audience::All);
    ledger.add(numbered(3, Severity::Warning, 3.0), None, Audience::Sessions(vec!["b".into()]));
    assert_eq!(told(&mut ledger, "a", 4.0), ["n2", "n1"]);
    assert_eq!(told(&mut ledger, "b", 4.0), ["n2", "n1", "n3"]);
    assert_eq!(told(&mut ledger, "a", 5.0), [""; 0]);
    assert_eq!(told(&mut ledger, "stranger", 5.0), [""; 0], "nobody knows of it");
}

#[test]
fn a_later_call_shows_that_it_arrived_and_whoever_comes_then_is_told_what_nobody_saw() {
    let mut ledger = Ledger::default();
    ledger.heard(&reader("a"), "client", 1.0);
    ledger.add(numbered(1, Severity::Warning, 2.0), None, Audience::All);
    ledger.add(numbered(2, Severity::Warning, 2.0), None, Audience::All);
    assert_eq!(ledger.tell(&reader("a"), "result", false, 3.0).map(|line| line.id).as_deref(), Some("n1"));
    assert!(ledger.news().all(|told| !told.seen()));
    assert_eq!(ledger.heard(&reader("a"), "client", 4.0), [NewsId(1)]);
    assert_eq!(ledger.heard(&reader("a"), "client", 5.0), []);
    // Told in the last moment before a restart, and seen by nobody.
    ledger.tell(&reader("a"), "result", false, 6.0);
    let text = serde_json::to_string(&ledger).expect("JSON");
    let mut ledger: Ledger = serde_json::from_str(&text).expect("the same");
    ledger.restart();
    ledger.heard(&reader("b"), "client", 7.0);
    assert_eq!(told(&mut ledger, "b", 8.0), ["n2"]);
}

#[test]
fn what_is_over_goes_unless_somebody_was_told() {
    let mut ledger = Ledger::default();
    ledger.heard(&reader("a"), "client", 1.0);
    ledger.add(numbered(1, Severity::Warning, 2.0), None, Audience::All);
    ledger.tell(&reader("a"), "result", false, 3.0);
    ledger.add(numbered(2, Severity::Warning, 4.0), None, Audience::All);
    ledger.drop_untold(|_| true);
    assert_eq!(ledger.news().map(|told| told.news.id).collect::<Vec<_>>(), [NewsId(1)]);
}

#[test]
fn a_hook_speaks_for_the_model_of_its_client() {
    let mut ledger = Ledger::default();
    let is_codex = |name: &str| name == "codex-mcp-client";
    // Before the first call it has a reader of its own, which the first call takes over.
    let first = ledger.hooked(is_codex, "codex", "s1", 1.0);
    assert_eq!(ledger.hooked(is_codex, "codex", "s1", 1.5), first);
    ledger.add(numbered(1, Severity::Warning, 2.0), None, Audience::All);
    assert!(ledger.tell(&first, "hook", false, 3.0).is_some());
    ledger.heard(&reader("pipe"), "codex-mcp-client", 4.0);
    assert_eq!(ledger.readers().len(), 1, "{:?}", ledger.readers());
    assert_eq!(told(&mut ledger, "pipe", 5.0), [""; 0], "its hook told it");
    assert_eq!(ledger.hooked(is_codex, "codex", "s1", 6.0), reader("pipe"));
    // Another window of the client is another model.
    ledger.heard(&reader("other"), "codex-mcp-client", 7.0);
    assert_eq!(ledger.hooked(is_codex, "codex", "s2", 8.0), reader("other"));
    ledger.heard(&reader("web"), "claude-code", 9.0);
    assert_eq!(ledger.hooked(is_codex, "codex", "s1", 10.0), reader("pipe"));
}

#[test]
fn the_oldest_that_was_seen_makes_room_and_the_untold_are_counted() {
    let mut ledger = Ledger::default();
    ledger.heard(&reader("a"), "client", 0.0);
    let template = numbered(0, Severity::Warning, 1.0);
    for id in 1..=MOST_NEWS as u64 {
        ledger.add(News { id: NewsId(id), ..template.clone() }, None, Audience::All);
    }
    assert_eq!(ledger.tell(&reader("a"), "result", false, 2.0).map(|line| line.id).as_deref(), Some("n1"));
    ledger.heard(&reader("a"), "client", 3.0);
    ledger.add(News { id: NewsId(1000), ..template.clone() }, None, Audience::All);
    assert_eq!((ledger.untold(), ledger.news().next().map(|told| told.news.id)), (0, Some(NewsId(2))));
    ledger.add(News { id: NewsId(1001), ..template }, None, Audience::All);
    assert_eq!((ledger.untold(), ledger.news().count()), (1, MOST_NEWS));
}

#[test]
fn readers_that_called_least_lately_make_room() {
    let mut ledger = Ledger::default();
    for at in 0..=MOST_READERS {
        ledger.heard(&reader(&at.to_string()), "client", at as f64);
    }
    assert_eq!(ledger.readers().len(), MOST_READERS);
    assert!(ledger.readers().iter().all(|one| one.key != reader("0")));
}
