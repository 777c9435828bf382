//! Tickets worked on by a model that says what the tests want.

use std::path::Path;

use parking_lot::Mutex;
use tectum_core::{Gate, Rules, Snapshot, security::Allowlist};
use tectum_engine::{Answer, Prompt};

use super::*;
use crate::{
    Ended, TicketStatus, Track,
    consent::Consenting,
    schedule,
    ticket::tests::track,
    tiers::{self, ORCHESTRATOR, WORKER},
};

type Answers = Box<dyn Fn(&str, usize) -> Result<Answer, Fault> + Send + Sync>;

/// A model that answers by the last message, and keeps the prompts it got.
struct ByTask {
    answers: Answers,
    asked: Mutex<Vec<(String, String)>>,
}

impl Model for ByTask {
    async fn answer(&self, prompt: Prompt<'_>, said: &mut (dyn FnMut(&str) + Send)) -> Result<Answer, Fault> {
        let text =
            |at: Option<&&tectum_engine::Message>| at.map(|one| one.content.clone()).unwrap_or_default();
        let (first, last) = (text(prompt.messages.first()), text(prompt.messages.last()));
        let count = {
            let mut asked = self.asked.lock();
            asked.push((first, last.clone()));
            asked.len()
        };
        let answer = (self.answers)(&last, count)?;
        said(&answer.text);
        Ok(answer)
    }
}

/// A person who says no to these subjects, and notes what the board shows meanwhile.
#[derive(Default)]
struct Person {
    no: Vec<(ConsentKind, &'static str)>,
    edits: Vec<(&'static str, serde_json::Value)>,
    board: Mutex<Option<Arc<Board>>>,
    asked: Mutex<Vec<String>>,
}

impl Consent for Person {
    fn ask(&self, question: ConsentQuestion) -> Consenting<'_> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            let board = self.board.lock().clone().expect("a board");
            let shown = board.watch().borrow().clone();
            let waits = (shown.pending_mma_step_approval, shown.pending_mma_spawn_approval);
            assert_eq!((shown.pending_approval, shown.pending_spawn), waits);
            self.asked.lock().push(format!("{} {} {waits:?}", question.kind.word(), question.subject));
            if self.no.contains(&(question.kind, question.subject.as_str())) {
                return Err(Fault::new(FaultKind::Permission, "a person said no"));
            }
            let edited = self.edits.iter().find(|(subject, _)| *subject == question.subject);
            Ok(edited.map_or(question.proposal, |(_, edited)| edited.clone()))
        })
    }
}

struct Scene {
    crew: Arc<Crew<ByTask>>,
    person: Arc<Person>,
    told: Arc<Mutex<Vec<String>>>,
    _scratch: tempfile::TempDir,
}

fn scene(
    answers: impl Fn(&str, usize) -> Result<Answer, Fault> + Send + Sync + 'static,
    person: Person,
    orders: Orders,
) -> Scene {
    let scratch = tempfile::tempdir().expect("a directory");
    let allowlist = Allowlist::builder().base(scratch.path()).build().expect("opens");
    let house = Tectum::new(Snapshot::of(&[]), Gate::new(Rules::default(), Arc::new(allowlist)));
    let told = Arc::<Mutex<Vec<String>>>::default();
    let heard = told.clone();
    let board = Arc::new(Board::new(move |news| {
        if let Told::Ticket(ticket) = news {
            heard.lock().push(format!("{} {:?}", ticket.id, ticket.status));
        }
    }));
    *person.board.lock() = Some(board.clone());
    let person = Arc::new(person);
    let model = Arc::new(ByTask { answers: Box::new(answers), asked: Mutex::default() });
    let tiers = tiers::of(Path::new("/project"), &house, None);
    let settings = Settings { tiers, session: SessionId::new("run"), ..Settings::default() };
    let cancel = CancellationToken::new();
    let consent = person.clone();
    let crew = Arc::new(Crew { house, model, settings, board, consent, orders, cancel });
    Scene { crew, person, told, _scratch: scratch }
}

const FREELY: Orders = Orders { step: false, ask_spawn: false };

impl Scene {
    async fn work(&self, track: Track) -> (Track, Ended) {
        let crew = &self.crew;
        crew.board.open(track, None, crew.orders.step).await.expect("opens");
        let ended = schedule(&crew.board, crew.clone(), 2, &crew.cancel).await;
        (crew.board.track(), ended)
    }
}

fn two() -> Track {
    let mut track = track(&[("a", &[]), ("b", &["a"])]);
    track.tickets[0].target_file = Some("src/a.rs".into());
    track
}

#[tokio::test]
async fn a_worker_hears_its_ticket_and_what_was_done_before() {
    let scene = scene(|_, count| Ok(Answer::text(format!("answer {count}"))), Person::default(), FREELY);
    let (track, ended) = scene.work(two()).await;
    assert!(ended.fault.is_none() && ended.stall.is_none(), "{ended:?}");
    assert_eq!(track.tickets[1].result.as_deref(), Some("answer 2"));
    let asked = scene.crew.model.asked.lock().clone();
    assert!(asked[0].0.contains("You work on one ticket"), "{asked:?}");
    assert!(asked[0].1.starts_with("Your ticket `a`: do a\n\nIt is part of `t`: the goal"), "{asked:?}");
    assert!(asked[0].1.contains("The file to change: `src/a.rs`"), "{asked:?}");
    assert!(asked[1].1.contains("Done before, as `a`: do a\nanswer 1"), "{asked:?}");
    assert_eq!(*scene.told.lock(), ["a InProgress", "a Completed", "b InProgress", "b Completed"]);
    let shown = scene.crew.board.watch().borrow().clone();
    assert_eq!(shown.mma_streams["worker/b"], "answer 2");
    assert_eq!((shown.active_tier, shown.ai_status.as_str()), (None, "idle"));
    assert_eq!((shown.active_track.as_str(), shown.tracks[0].completed), ("t", 2));
}

#[tokio::test]
async fn qa_looks_at_what_failed() {
    let answers = |task: &str, _: usize| {
        let text = if task.contains("It failed:") {
            "The disk is full:\n delete something."
        } else {
            "I tried.\nBLOCKED: no space left"
        };
        Ok(Answer::text(text))
    };
    let scene = scene(answers, Person::default(), FREELY);
    let (track, ended) = scene.work(two()).await;
    assert!(ended.fault.is_none(), "{ended:?}");
    let [a, b] = track.tickets.as_slice() else { panic!("{track:?}") };
    assert_eq!((a.status, a.blocked_reason.as_deref()), (TicketStatus::Blocked, Some("no space left")));
    assert_eq!(a.analysis.as_deref(), Some("The disk is full: delete something."));
    assert_eq!(
        (b.blocked_reason.as_deref(), b.analysis.as_deref()),
        (Some("`a` is blocked: no space left"), None)
    );
    let asked = scene.crew.model.asked.lock().clone();
    assert!(asked[1].0.contains("about 20 words") && asked[1].1.contains("I tried."), "{asked:?}");
}

#[tokio::test]
async fn a_person_is_asked_before_tickets_and_workers() {
    let both = Orders { step: true, ask_spawn: true };
    let person = Person { no: vec![(ConsentKind::Spawn, "b")], ..Person::default() };
    let scene = scene(|_, _| Ok(Answer::text("done")), person, both);
    let (track, _) = scene.work(two()).await;
    assert_eq!(
        *scene.person.asked.lock(),
        ["step a (true, false)", "spawn a (false, true)", "step b (true, false)", "spawn b (false, true)"]
    );
    assert_eq!(track.tickets[0].status, TicketStatus::Completed);
    assert_eq!(track.tickets[1].blocked_reason.as_deref(), Some("a person said no"));
    assert_eq!(scene.crew.model.asked.lock().len(), 1, "nobody works on what was refused");
    let shown = scene.crew.board.watch().borrow().clone();
    assert!(shown.mma_step_mode && !shown.pending_approval && !shown.pending_spawn);
}

#[tokio::test]
async fn a_person_may_say_the_work_in_other_words() {
    let edits = vec![("a", json!({ "description": "do a well" })), ("b", json!({ "status": "completed" }))];
    let person = Person { edits, ..Person::default() };
    let scene = scene(|_, _| Ok(Answer::text("done")), person, Orders { step: true, ask_spawn: false });
    let (track, _) = scene.work(two()).await;
    let asked = scene.crew.model.asked.lock().clone();
    assert!(asked[0].1.starts_with("Your ticket `a`: do a well\n"), "{asked:?}");
    let reason = track.tickets[1].blocked_reason.as_deref().unwrap_or_default();
    assert!(reason.contains("is no ticket") && reason.contains("only its `description`"), "{reason}");
    assert_eq!(track.tickets[0].description, "do a", "the file says what the ticket is");
}

#[tokio::test]
async fn a_question_is_withdrawn_when_the_work_stops() {
    struct Silent(CancellationToken);
    impl Consent for Silent {
        fn ask(&self, _: ConsentQuestion) -> Consenting<'_> {
            self.0.cancel();
            Box::pin(std::future::pending())
        }
    }
    let scene = scene(|_, _| Ok(Answer::text("done")), Person::default(), FREELY);
    let Scene { crew, .. } = &scene;
    let crew = Arc::new(Crew {
        house: crew.house.clone(),
        model: crew.model.clone(),
        settings: crew.settings.clone(),
        board: crew.board.clone(),
        consent: Arc::new(Silent(crew.cancel.clone())),
        orders: Orders { step: true, ask_spawn: false },
        cancel: crew.cancel.clone(),
    });
    crew.board.open(two(), None, true).await.expect("opens");
    let ended = schedule(&crew.board, crew.clone(), 2, &crew.cancel).await;
    assert!(ended.cancelled && ended.fault.is_none() && ended.stall.is_none(), "{ended:?}");
    assert!(crew.board.track().tickets.iter().all(|ticket| ticket.status == TicketStatus::Todo));
    assert!(!crew.board.watch().borrow().pending_approval, "nobody waits for an answer");
}

#[tokio::test]
async fn a_ticket_of_its_own_step_mode_asks_alone() {
    let scene = scene(|_, _| Ok(Answer::text("done")), Person::default(), FREELY);
    let mut track = two();
    track.tickets[1].step_mode = true;
    scene.work(track).await;
    assert_eq!(*scene.person.asked.lock(), ["step b (true, false)"]);
}

#[tokio::test]
async fn a_model_that_cannot_be_asked_ends_the_work_and_leaves_the_tickets() {
    let scene = scene(|_, _| Err(Fault::new(FaultKind::Upstream, "nobody there")), Person::default(), FREELY);
    let (track, ended) = scene.work(crate::ticket::tests::track(&[("a", &[]), ("b", &[]), ("c", &[])])).await;
    assert_eq!(ended.fault.map(|fault| fault.message).as_deref(), Some("nobody there"));
    assert!(track.tickets.iter().all(|ticket| ticket.status == TicketStatus::Todo), "{track:?}");
    assert!(scene.crew.model.asked.lock().len() <= 2, "no third worker begins");
}

#[tokio::test]
async fn a_proposal_is_written_again_until_it_is_a_track() {
    let whole = r#"Here it is: ```json
{"id": "p", "description": "goal", "tickets": [{"id": "a", "description": "do it"}]}
```"#;
    let answers = move |_: &str, count: usize| {
        Ok(Answer::text(match count {
            1 => "I would start with the parser.",
            2 => r#"{"id": "p", "tickets": [{"id": "a", "description": "x", "depends_on": ["b"]}]}"#,
            _ => whole,
        }))
    };
    let scene = scene(answers, Person::default(), FREELY);
    let proposed = scene.crew.propose("make it").await.expect("a track");
    assert_eq!((proposed.id.as_str(), proposed.tickets.len()), ("p", 1));
    let asked = scene.crew.model.asked.lock().clone();
    assert!(asked[0].1.contains("for this goal: make it") && asked[0].0.contains("You plan"), "{asked:?}");
    assert!(asked[1].1.contains("line 1: the track has no id"), "{asked:?}");
    assert!(asked[2].1.contains("depends on `b`, which is not there"), "{asked:?}");
    assert_eq!(scene.crew.board.watch().borrow().proposed_tracks, std::slice::from_ref(&proposed));

    assert_eq!(scene.crew.accept(&proposed, "shown".into()).await.expect("yes"), proposed);
    assert_eq!(*scene.person.asked.lock(), ["plan p (false, false)"]);
    scene.work(proposed).await;
    assert!(scene.crew.board.watch().borrow().proposed_tracks.is_empty());
}

#[tokio::test]
async fn three_tries_are_the_most() {
    let person = Person { no: vec![(ConsentKind::Plan, "t")], ..Person::default() };
    let scene = scene(|_, _| Ok(Answer::text("no")), person, FREELY);
    let fault = scene.crew.propose("make it").await.expect_err("none");
    assert!(fault.message.contains("no track in 3 tries") && fault.hint.is_some(), "{fault:?}");
    assert_eq!(scene.crew.model.asked.lock().len(), 3);
    let fault = scene.crew.accept(&two(), "shown".into()).await.expect_err("no");
    assert_eq!((fault.kind, fault.message.as_str()), (FaultKind::Permission, "a person said no"));
}

#[test]
fn the_last_line_tells_whether_the_work_is_done() {
    let check = |reason, text: &str, expect: Result<(), &str>| {
        let done = Finished { reason, text: text.into(), usage: Default::default(), rounds: 0 };
        assert_eq!(judged(&done), expect.map_err(str::to_owned), "{text}");
    };
    check(Reason::Answered, "It is done.", Ok(()));
    check(Reason::Answered, "BLOCKED: was in the way.\nIt is done.", Ok(()));
    check(Reason::Answered, "I tried.\n\n**BLOCKED: no key**\n", Err("no key"));
    check(Reason::Answered, "BLOCKED:", Err("the worker gave no reason"));
    check(Reason::Answered, " \n", Err("the model gave no answer"));
    check(Reason::Stopped(Stop::Directive), "", Ok(()));
    check(Reason::Cut, "half", Err("the answer reached the model's limit"));
}

#[test]
fn tiers_of_the_operator_take_the_place_of_ours() {
    let scene = scene(|_, _| Ok(Answer::text("")), Person::default(), FREELY);
    let own = serde_json::from_value(json!({ "default": "worker", "tiers": {
        "worker": { "model": "small" }, "qa": { "prompt": "Why?" }, "writer": { "prompt": "You write." } } }));
    let tiers = tiers::of(Path::new("/p"), &scene.crew.house, Some(own.expect("tiers")));
    tiers.check().expect("whole");
    let worker = tiers.get(WORKER).expect("there");
    assert!(worker.prompt.contains("You work on one ticket") && worker.model.as_deref() == Some("small"));
    let qa = tiers.get(QA).expect("there");
    assert_eq!((qa.prompt.as_str(), qa.tools.len()), ("Why?", 0), "analysis only");
    assert!(tiers.get("writer").is_ok() && tiers.get(ORCHESTRATOR).is_ok());
}
