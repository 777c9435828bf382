//! Who is asked, whose answer counts, what it covers, and when silence is a no.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json, value::RawValue};
use tectum_core::{
    Approved, Asks, Call, Consent, Fault, FaultKind, Grants, Noted, Origin, Question, SessionId, Subject,
    Wants,
    security::{Access, Allowlist, RawPath},
};
use tokio::{sync::broadcast, task::JoinHandle};

use crate::{
    Answer, Answered, Choice, Desk, DeskEvent, DeskSettings, HowSettled, OpenQuestion, PersonQuestion,
    Preview, QuestionKind, Remember, RuleBook, Surface, Wait, Way,
};

/// A desk, somebody who looks at it, and a directory with a file.
struct Scene {
    desk: Arc<Desk>,
    surface: Option<Surface>,
    events: broadcast::Receiver<DeskEvent>,
    folder: tempfile::TempDir,
}

/// A call as it is asked about.
#[derive(Clone)]
struct Wanted {
    session: &'static str,
    args: String,
    rule: String,
    subject: String,
    path: Option<&'static str>,
    way: fn() -> Way,
    before: Option<Consent>,
}

fn edit() -> Wanted {
    Wanted {
        session: "s",
        args: r#"{"path":"a.txt"}"#.into(),
        rule: "default `ask`".into(),
        subject: "a.txt".into(),
        path: Some("a.txt"),
        way: Way::default,
        before: None,
    }
}

impl Scene {
    fn new() -> Self {
        let desk = Arc::new(Desk::default());
        let folder = tempfile::tempdir().expect("a directory");
        std::fs::write(folder.path().join("a.txt"), "one").expect("written");
        Self { surface: Some(desk.attach()), events: desk.events(), desk, folder }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).expect("written");
    }

    /// Begins to ask.
    fn ask(&self, wanted: Wanted) -> JoinHandle<Result<Approved, Fault>> {
        let (desk, folder) = (self.desk.clone(), self.folder.path().to_owned());
        tokio::spawn(async move { ask(&desk, &folder, wanted).await })
    }

    async fn asked(&mut self) -> Arc<OpenQuestion> {
        loop {
            if let DeskEvent::Asked(question) = self.events.recv().await.expect("there") {
                return question;
            }
        }
    }

    async fn settled(&mut self, id: &str) -> HowSettled {
        loop {
            if let DeskEvent::Settled { id: settled, how } = self.events.recv().await.expect("there")
                && *settled == *id
            {
                return how;
            }
        }
    }

    fn answer(&self, id: &str, answer: Answer) -> Result<Answered, Fault> {
        self.desk.answer(id, answer, "test")
    }
}

async fn ask(desk: &Desk, folder: &Path, wanted: Wanted) -> Result<Approved, Fault> {
    let Wanted { session, args, rule, subject, path, way, before } = wanted;
    let allowlist = Allowlist::builder().base(folder).build().expect("opens");
    let open = |name: &str| {
        allowlist.admit(&RawPath::new(name), Access::Write).expect("inside").resolve().expect("opens")
    };
    let grants = Grants::new(path.into_iter().map(open).collect());
    let args = RawValue::from_string(args).expect("JSON");
    let call = Call::new(SessionId::new(session), "edit", args);
    let origin = Some(Origin { file: Some("tectum.toml".into()), line: 3 });
    let asks = Asks { subjects: vec![subject.clone()], subject, rule, origin };
    let wants = Wants { subject: Subject::None, paths: Vec::new() };
    let question = Question {
        call: &call,
        tool: None,
        wants: &wants,
        grants: &grants,
        asks: &asks,
        rehearse: None,
        noted: Noted::default(),
    };
    desk.consent(&question, before, way(), |_| async { None }).await
}

fn agreed(ruling: Result<Approved, Fault>) -> Consent {
    match ruling {
        Ok(Approved::Agreed(consent)) => consent,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn nobody_to_ask_is_a_refusal_that_says_how_to_allow() {
    let mut scene = Scene::new();
    scene.surface = None;
    let fault = scene.ask(edit()).await.expect("ends").expect_err("refused");
    assert_eq!(fault.kind, FaultKind::Permission);
    assert!(fault.hint.expect("hint").contains(r#"allow = ["edit(a.txt)"]"#));
}

#[tokio::test]
async fn a_yes_covers_the_call_as_it_was_and_nothing_else() {
    let mut scene = Scene::new();
    let asking = scene.ask(edit());
    let question = scene.asked().await;
    scene.answer(&question.id, Answer::yes()).expect("taken");
    let consent = agreed(asking.await.expect("ends"));
    let again = |before: &Consent| Wanted { before: Some(before.clone()), ..edit() };
    assert!(matches!(scene.ask(again(&consent)).await.expect("ends"), Ok(Approved::Run)));
    // The file, the arguments, the rule, the caller: each makes it another question.
    scene.write("a.txt", "two");
    let changed = [
        again(&consent),
        Wanted { args: r#"{"path":"a.txt" }"#.into(), ..again(&consent) },
        Wanted { rule: "another rule".into(), ..again(&consent) },
        Wanted { session: "other", ..again(&consent) },
        Wanted { path: None, ..again(&consent) },
    ];
    for (number, wanted) in changed.into_iter().enumerate() {
        if number > 0 {
            scene.write("a.txt", "one");
        }
        let asking = scene.ask(wanted);
        let question = scene.asked().await;
        scene.answer(&question.id, Answer::no("changed")).expect("taken");
        let fault = asking.await.expect("ends").expect_err("asked anew");
        assert!(fault.message.contains("refused by a person: changed"), "{fault}");
    }
}

#[tokio::test]
async fn the_first_answer_wins_and_a_second_is_a_conflict() {
    let mut scene = Scene::new();
    let asking = scene.ask(edit());
    let question = scene.asked().await;
    scene.answer(&question.id, Answer::no("not now")).expect("taken");
    assert_eq!(scene.answer(&question.id, Answer::yes()).expect_err("late").kind, FaultKind::Conflict);
    assert_eq!(scene.desk.shown(&question.id).expect_err("late").kind, FaultKind::Conflict);
    assert_eq!(scene.answer("q-0", Answer::yes()).expect_err("unknown").kind, FaultKind::NotFound);
    let fault = asking.await.expect("ends").expect_err("refused");
    assert!(fault.message.contains("refused by a person: not now"), "{fault}");
    assert_eq!(scene.settled(&question.id).await, HowSettled::Denied);
    assert!(question.settled().is_cancelled() && scene.desk.questions().is_empty());
}

#[tokio::test]
async fn a_question_whose_call_was_cancelled_is_withdrawn_everywhere() {
    let mut scene = Scene::new();
    let asking = scene.ask(edit());
    let question = scene.asked().await;
    scene.desk.shown(&question.id).expect("waits");
    asking.abort();
    assert_eq!(scene.settled(&question.id).await, HowSettled::Withdrawn);
    assert!(question.settled().is_cancelled() && scene.desk.questions().is_empty());
    assert_eq!(scene.answer(&question.id, Answer::yes()).expect_err("late").kind, FaultKind::Conflict);
}

#[tokio::test]
async fn a_console_that_is_lost_agreed_to_nothing() {
    let mut scene = Scene::new();
    let asking = scene.ask(edit());
    let question = scene.asked().await;
    scene.surface = None;
    assert_eq!(asking.await.expect("ends").expect_err("refused").kind, FaultKind::Permission);
    assert_eq!(scene.settled(&question.id).await, HowSettled::Nobody);
}

#[tokio::test(start_paused = true)]
async fn the_clock_of_a_question_starts_when_it_is_shown() {
    let mut scene = Scene::new();
    let (first, second) = (scene.ask(edit()), scene.ask(edit()));
    let questions = [scene.asked().await, scene.asked().await];
    scene.desk.shown(&questions[0].id).expect("waits");
    let nearly = Duration::from_secs(59);
    tokio::time::sleep(nearly).await;
    scene.answer(&questions[0].id, Answer::yes()).expect("in time");
    // The second question waited behind the first for all that time.
    scene.desk.shown(&questions[1].id).expect("waits");
    tokio::time::sleep(nearly).await;
    scene.answer(&questions[1].id, Answer::yes()).expect("in time");
    for asking in [first, second] {
        agreed(asking.await.expect("ends"));
    }
    let silent = scene.ask(edit());
    let question = scene.asked().await;
    scene.desk.shown(&question.id).expect("waits");
    let fault = silent.await.expect("ends").expect_err("silence");
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert_eq!(scene.settled(&question.id).await, HowSettled::Expired);
    let unseen = scene.ask(edit());
    assert_eq!(unseen.await.expect("ends").expect_err("unseen").kind, FaultKind::Timeout);
    assert!(scene.desk.questions().is_empty());
}

#[tokio::test]
async fn only_the_documented_form_is_an_answer() {
    for garbage in [
        "",
        "true",
        r#""approve""#,
        "{}",
        r#"{"decision":"yes"}"#,
        r#"{"decision":true}"#,
        r#"{"decision":"APPROVE"}"#,
        r#"{"decision":"approve","decision":"approve"}"#,
        r#"{"decision":"approve","extra":1}"#,
        r#"{"decision":"approve","remember":"always"}"#,
        r#"[{"decision":"approve"}]"#,
    ] {
        assert_eq!(Answer::parse(garbage).expect_err(garbage).kind, FaultKind::InvalidInput);
    }
    let mut scene = Scene::new();
    let asking = scene.ask(edit());
    let question = scene.asked().await;
    for unfit in [
        r#"{"decision":"approve","arguments":[]}"#,
        r#"{"decision":"approve","response":1}"#,
        r#"{"decision":"approve","remember":"session","arguments":{}}"#,
        r#"{"decision":"approve","remember":"project"}"#,
        r#"{"decision":"deny","remember":"session"}"#,
        r#"{"decision":"deny","arguments":{}}"#,
    ] {
        let fault = scene.answer(&question.id, Answer::parse(unfit).expect("readable")).expect_err(unfit);
        assert_eq!(fault.kind, FaultKind::InvalidInput, "{unfit}");
    }
    assert_eq!(scene.desk.questions().len(), 1, "it still waits");
    let yes = Answer::parse(r#"{"decision":"approve","reason":"fine"}"#).expect("an answer");
    assert_eq!(yes.decision, Choice::Approve);
    scene.answer(&question.id, yes).expect("taken");
    agreed(asking.await.expect("ends"));
}

#[tokio::test]
async fn edited_arguments_are_covered_exactly() {
    let mut scene = Scene::new();
    let asking = scene.ask(edit());
    let question = scene.asked().await;
    let edited = Answer::parse(r#"{"decision":"approve","arguments":{"path":"b.txt"}}"#).expect("an answer");
    scene.answer(&question.id, edited).expect("taken");
    let consent = agreed(asking.await.expect("ends"));
    assert_eq!(consent.edited.as_ref().expect("edited").get(), r#"{"path":"b.txt"}"#);
    let with = |args: &str| Wanted { args: args.into(), before: Some(consent.clone()), ..edit() };
    assert!(matches!(scene.ask(with(r#"{"path":"b.txt"}"#)).await.expect("ends"), Ok(Approved::Run)));
    let asking = scene.ask(with(r#"{"path":"c.txt"}"#));
    let question = scene.asked().await;
    scene.answer(&question.id, Answer::no("other arguments")).expect("taken");
    asking.await.expect("ends").expect_err("asked anew");
}

#[tokio::test]
async fn a_yes_for_the_session_covers_the_same_subject_there_even_of_an_ask_rule() {
    let mut scene = Scene::new();
    let ruled = || Wanted { rule: "ask rule `edit` (tectum.toml:3)".into(), ..edit() };
    let asking = scene.ask(ruled());
    let question = scene.asked().await;
    let fault = scene.answer(&question.id, Answer { remember: Remember::Project, ..Answer::yes() });
    assert!(fault.expect_err("an allow rule would not help").message.contains("ask rule `edit`"));
    let answer = Answer { remember: Remember::Session, ..Answer::yes() };
    let remembered = scene.answer(&question.id, answer).expect("taken").remembered.expect("a rule");
    assert_eq!(remembered.rule, "edit(a.txt)");
    agreed(asking.await.expect("ends"));
    scene.write("a.txt", "another content");
    let other = Wanted { args: r#"{"path":"a.txt","more":1}"#.into(), ..ruled() };
    assert!(matches!(scene.ask(other).await.expect("ends"), Ok(Approved::Run)));
    for wanted in [Wanted { session: "other", ..ruled() }, Wanted { subject: "b.txt".into(), ..ruled() }] {
        let asking = scene.ask(wanted);
        let question = scene.asked().await;
        scene.answer(&question.id, Answer::no("no")).expect("taken");
        asking.await.expect("ends").expect_err("asked");
    }
}

#[derive(Debug)]
struct OnePage(parking_lot::Mutex<Vec<String>>);

impl RuleBook for OnePage {
    fn allow(&self, rule: &str) -> Result<String, String> {
        let mut rules = self.0.lock();
        rules.push(rule.to_owned());
        if rules.len() > 1 { Err("the page is full".into()) } else { Ok(format!("+{rule}")) }
    }
}

#[tokio::test]
async fn a_yes_for_the_project_is_written_once_and_the_change_is_told() {
    let mut scene = Scene::new();
    let page = Arc::new(OnePage(Default::default()));
    scene.desk.configure(DeskSettings { rules: Some(page.clone()), ..DeskSettings::default() });
    let answer = || Answer { remember: Remember::Project, ..Answer::yes() };
    for problem in [None, Some("the page is full".to_owned())] {
        let asking = scene.ask(edit());
        let question = scene.asked().await;
        let remembered = scene.answer(&question.id, answer()).expect("taken").remembered.expect("a rule");
        assert_eq!(remembered.diff.is_empty(), problem.is_some());
        assert_eq!(remembered.problem, problem);
        assert!(scene.answer(&question.id, answer()).is_err());
        agreed(asking.await.expect("ends"));
    }
    assert_eq!(page.0.lock().len(), 2, "an answer that lost writes nothing");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_wait_is_told_to_repeat_and_the_answer_waits_for_it() {
    let mut scene = Scene::new();
    let short = || Way { wait: Wait::For(Duration::from_secs(5)), ..Way::default() };
    let call = || Wanted { way: short, ..edit() };
    let fault = scene.ask(call()).await.expect("ends").expect_err("pending");
    let question = scene.asked().await;
    assert!(fault.message.starts_with(&format!("pending, id {}: ", question.id)), "{fault}");
    assert!(fault.message.contains("repeat the call"), "{fault}");
    // Again, while it still waits: the same question.
    let fault = scene.ask(call()).await.expect("ends").expect_err("pending");
    assert!(fault.message.contains(&*question.id), "{fault}");
    scene.answer(&question.id, Answer::yes()).expect("waits");
    assert!(scene.answer(&question.id, Answer::yes()).is_err(), "once");
    // Other arguments or another caller have no share in it.
    for other in [Wanted { args: "{}".into(), ..call() }, Wanted { session: "other", ..call() }] {
        scene.ask(other).await.expect("ends").expect_err("a question of its own");
        let own = scene.asked().await;
        assert_ne!(own.id, question.id);
        scene.desk.withdraw(&own.id);
    }
    let consent = agreed(scene.ask(call()).await.expect("ends"));
    let again = Wanted { before: Some(consent), ..call() };
    assert!(matches!(scene.ask(again).await.expect("ends"), Ok(Approved::Run)));
    // It is used up.
    scene.ask(call()).await.expect("ends").expect_err("asked anew");
    assert_eq!(scene.desk.questions().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_with_a_patient_client_waits_for_whoever_sees_its_question_and_not_for_nobody() {
    let mut scene = Scene::new();
    let patient = || Way { wait: Wait::UntilSeen(Duration::from_secs(5)), ..Way::default() };
    let call = || Wanted { way: patient, ..edit() };
    let fault = scene.ask(call()).await.expect("ends").expect_err("pending");
    let question = scene.asked().await;
    assert!(fault.message.starts_with(&format!("pending, id {}: ", question.id)), "{fault}");
    let hint = fault.hint.expect("a hint");
    assert!(hint.contains("`tectum top`") && hint.contains(r#"allow = ["edit(a.txt)"]"#), "{hint}");
    // Once a person looks, the call waits as long as the question does.
    let asking = scene.ask(call());
    scene.desk.shown(&question.id).expect("waits");
    tokio::time::sleep(Duration::from_secs(59)).await;
    scene.answer(&question.id, Answer::yes()).expect("in time");
    agreed(asking.await.expect("ends"));
    let asking = scene.ask(call());
    let late = scene.asked().await;
    scene.desk.shown(&late.id).expect("waits");
    let fault = asking.await.expect("ends").expect_err("silence");
    assert!(fault.message.starts_with("nobody approved edit within 60 s"), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn a_repeated_call_about_changed_facts_asks_anew_and_a_late_answer_is_none() {
    let mut scene = Scene::new();
    let short = || Way { wait: Wait::For(Duration::from_secs(5)), ..Way::default() };
    let call = || Wanted { way: short, ..edit() };
    scene.ask(call()).await.expect("ends").expect_err("pending");
    let stale = scene.asked().await;
    scene.write("a.txt", "changed");
    let asking = scene.ask(call());
    let fresh = scene.asked().await;
    assert!(stale.settled().is_cancelled() && fresh.paths[0].hash != stale.paths[0].hash);
    asking.await.expect("ends").expect_err("pending");
    scene.desk.shown(&fresh.id).expect("waits");
    assert_eq!(scene.settled(&fresh.id).await, HowSettled::Expired);
    assert!(scene.answer(&fresh.id, Answer::yes()).is_err(), "late");
    assert_eq!(scene.ask(call()).await.expect("ends").expect_err("late").kind, FaultKind::Timeout);
    // An answer that nobody comes for is forgotten.
    scene.ask(call()).await.expect("ends").expect_err("pending");
    let left = scene.asked().await;
    scene.answer(&left.id, Answer::yes()).expect("waits");
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(scene.desk.register.count(), 0);
}

#[tokio::test]
async fn a_person_is_asked_other_things_as_well() {
    let mut scene = Scene::new();
    let what = PersonQuestion {
        kind: QuestionKind::Step,
        session: "track".into(),
        client: "run".into(),
        subject: "ticket 3".into(),
        preview: Preview::Text { text: "what it does".into() },
        arguments: json!({"prompt": "do it"}),
        data: Value::Null,
    };
    let person = |what: PersonQuestion| {
        let desk = scene.desk.clone();
        tokio::spawn(async move { desk.ask_person(what).await })
    };
    let asking = person(what.clone());
    let again = person(what.clone());
    let edited = person(what.clone());
    let questions = [scene.asked().await, scene.asked().await, scene.asked().await];
    let shown = serde_json::to_value(&*questions[0]).expect("JSON");
    assert_eq!(shown["kind"], "step");
    assert_eq!(shown["preview"], json!({"kind": "text", "text": "what it does"}));
    scene.answer(&questions[0].id, Answer::yes()).expect("taken");
    scene.answer(&questions[1].id, Answer::no("too early")).expect("taken");
    let other = r#"{"decision":"approve","arguments":{"prompt":"do less"}}"#;
    scene.answer(&questions[2].id, Answer::parse(other).expect("an answer")).expect("taken");
    let mut ends = Vec::new();
    for asking in [asking, again, edited] {
        ends.push(asking.await.expect("ends").map_err(|fault| fault.message));
    }
    ends.sort_by_key(|end| format!("{end:?}"));
    let no = Err("it was refused by a person: too early".to_owned());
    assert_eq!(ends, [no, Ok(json!({"prompt": "do it"})), Ok(json!({"prompt": "do less"}))]);
    drop(scene.surface.take());
    assert_eq!(scene.desk.ask_person(what).await.expect_err("nobody").kind, FaultKind::Permission);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_questions_answered_in_any_order_from_two_surfaces_reach_their_calls() {
    const MANY: usize = 1000;
    let scene = Scene::new();
    let (desk, folder) = (scene.desk.clone(), scene.folder.path().to_owned());
    let calls: Vec<_> = (0..MANY)
        .map(|n| {
            let (desk, folder) = (desk.clone(), folder.clone());
            let wanted = Wanted { args: format!(r#"{{"n":{n}}}"#), path: None, ..edit() };
            tokio::spawn(async move { ask(&desk, &folder, wanted).await })
        })
        .collect();
    let answering = |mut order: u64| {
        let desk = desk.clone();
        tokio::spawn(async move {
            let mut answered = 0;
            let mut waiting = desk.questions();
            loop {
                let Some(last) = waiting.len().checked_sub(1) else {
                    waiting = desk.questions();
                    if waiting.is_empty() && answered > 0 {
                        return answered;
                    }
                    tokio::task::yield_now().await;
                    continue;
                };
                order = order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let question = waiting.swap_remove((order >> 33) as usize % (last + 1));
                let n: Value = serde_json::from_str(question.arguments.get()).expect("JSON");
                let n = n["n"].as_u64().expect("a number");
                let answer = match n % 2 {
                    0 => Answer::parse(&json!({"decision": "approve", "arguments": {"m": n}}).to_string()),
                    _ => Ok(Answer::no(n.to_string())),
                };
                if desk.answer(&question.id, answer.expect("an answer"), "surface").is_ok() {
                    answered += 1;
                }
            }
        })
    };
    // Nobody answers before all have asked, so that every order is open.
    while desk.questions().len() < MANY {
        tokio::task::yield_now().await;
    }
    let surfaces = [answering(1), answering(2)];
    for (n, call) in calls.into_iter().enumerate() {
        match call.await.expect("ends") {
            Ok(Approved::Agreed(Consent { edited, .. })) => {
                assert_eq!(edited.expect("edited").get(), format!(r#"{{"m":{n}}}"#));
            }
            Err(fault) => assert!(fault.message.ends_with(&format!("by a person: {n}")), "{n}: {fault}"),
            other => panic!("{other:?}"),
        }
    }
    let mut answered = 0;
    for surface in surfaces {
        surface.abort();
        answered += surface.await.unwrap_or_default();
    }
    assert!(answered <= MANY && desk.questions().is_empty());
}
