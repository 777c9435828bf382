//! Who is asked, whose answer counts, and when silence is a no.

use super::*;

fn question() -> Question {
    Question {
        call: CallId::fresh(),
        tool: "shell".into(),
        subject: "ls".into(),
        args: "{}".into(),
        rule: "default".into(),
        by: Arc::default(),
    }
}

#[tokio::test]
async fn an_ask_rule_is_named_since_no_allow_rule_beats_it() {
    let rule = "ask rule `shell(*)` (tectum.toml:3)".to_owned();
    let fault = Desk::default().ask(Question { rule, ..question() }).await.expect_err("refused");
    let hint = fault.hint.expect("hint");
    assert!(hint.contains("remove the ask rule `shell(*)` (tectum.toml:3), or narrow"), "{hint}");
    assert!(!hint.contains("allow ="), "{hint}");
}

#[tokio::test]
async fn nobody_to_ask_is_a_refusal_that_says_how_to_allow() {
    let fault = Desk::default().ask(question()).await.expect_err("refused");
    assert_eq!(fault.kind, FaultKind::Permission);
    assert!(fault.hint.expect("hint").contains(r#"allow = ["shell(ls)"]"#));
}

/// A desk with `N` queues for questions, and their receivers.
fn desk<const N: usize>() -> (Arc<Desk>, [mpsc::Receiver<Inquiry>; N]) {
    let desk = Arc::new(Desk::default());
    let shown = std::array::from_fn(|_| {
        let (show, shown) = mpsc::channel(4);
        desk.attach(show);
        shown
    });
    (desk, shown)
}

fn asking(desk: &Arc<Desk>) -> tokio::task::JoinHandle<Result<(), Fault>> {
    let desk = desk.clone();
    tokio::spawn(async move { desk.ask(question()).await })
}

#[tokio::test]
async fn everybody_is_asked_the_first_answer_wins_and_the_others_hear_of_it() {
    let (desk, [mut one, mut other]) = desk();
    let asking = asking(&desk);
    let (first, second) = (one.recv().await.expect("asked"), other.recv().await.expect("asked"));
    assert!(!first.settled().is_cancelled() && first.id == second.id);
    desk.answer(second.id, Decision::Approve).expect("taken");
    assert!(desk.answer(first.id, Decision::Deny("late".into())).is_err());
    asking.await.expect("ends").expect("approved");
    first.settled().cancelled().await;
}

#[tokio::test]
async fn a_question_whose_call_was_cancelled_is_forgotten_and_taken_back() {
    let (desk, [mut one]) = desk();
    let asking = asking(&desk);
    let inquiry = one.recv().await.expect("asked");
    inquiry.shown();
    asking.abort();
    inquiry.settled().cancelled().await;
    assert!(desk.pending.lock().is_empty());
    assert!(desk.answer(inquiry.id, Decision::Approve).is_err(), "nobody waits for it");
}

#[tokio::test(start_paused = true)]
async fn silence_is_a_refusal() {
    let (desk, [mut one]) = desk();
    let asking = asking(&desk);
    let inquiry = one.recv().await.expect("asked");
    inquiry.shown();
    assert_eq!(asking.await.expect("ends").expect_err("refused").kind, FaultKind::Timeout);
    assert!(inquiry.settled().is_cancelled() && desk.pending.lock().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_question_begins_when_it_is_shown() {
    let (desk, [mut one]) = desk();
    let (first, second) = (asking(&desk), asking(&desk));
    let inquiries = [one.recv().await.expect("asked"), one.recv().await.expect("asked")];
    inquiries[0].shown();
    tokio::time::sleep(PATIENCE - Duration::from_secs(1)).await;
    desk.answer(inquiries[0].id, Decision::Approve).expect("in time");
    // The second question waited behind the first for all that time.
    inquiries[1].shown();
    tokio::time::sleep(PATIENCE - Duration::from_secs(1)).await;
    desk.answer(inquiries[1].id, Decision::Approve).expect("in time");
    first.await.expect("ends").expect("approved");
    second.await.expect("ends").expect("approved");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_shows_is_refused_as_well() {
    let (desk, [mut one]) = desk();
    let asked = asking(&desk);
    let inquiry = one.recv().await.expect("asked");
    assert_eq!(asked.await.expect("ends").expect_err("refused").kind, FaultKind::Timeout);
    assert!(inquiry.settled().is_cancelled());
    // The receiver that had it drops it.
    let asked = asking(&desk);
    drop(one.recv().await.expect("asked"));
    assert_eq!(asked.await.expect("ends").expect_err("refused").kind, FaultKind::Permission);
}

#[tokio::test]
async fn who_is_behind_a_call_is_asked_beside_the_others_and_the_first_answer_wins() {
    let (desk, [mut one]) = desk();
    let (tell, told) = oneshot::channel();
    let asked = {
        let desk = desk.clone();
        tokio::spawn(async move {
            desk.ask_also(question(), |inquiry| async move {
                inquiry.shown();
                told.await.ok()
            })
            .await
        })
    };
    let inquiry = one.recv().await.expect("asked as well");
    tell.send(Decision::Deny("not now".into())).expect("waits");
    let fault = asked.await.expect("ends").expect_err("refused");
    assert!(fault.message.contains("refused by a person: not now"), "{fault}");
    assert!(inquiry.settled().is_cancelled());
    assert!(desk.answer(inquiry.id, Decision::Approve).is_err(), "the second answer finds nobody");
}

#[tokio::test(start_paused = true)]
async fn who_is_behind_a_call_and_says_nothing_refuses() {
    let (desk, []) = desk();
    let silent = desk.ask_also(question(), |inquiry| async move {
        inquiry.shown();
        std::future::pending().await
    });
    assert_eq!(silent.await.expect_err("refused").kind, FaultKind::Timeout);
    let absent = desk.ask_also(question(), |_| std::future::ready(None));
    assert_eq!(absent.await.expect_err("refused").kind, FaultKind::Permission);
    assert!(desk.pending.lock().is_empty());
}

#[test]
fn a_line_that_allows_a_call_is_about_that_call_alone() {
    let allow = |subject: &str| Question { subject: subject.into(), ..question() }.how_to_allow();
    assert!(allow("").ends_with(r#"allow = ["shell"]"#), "{}", allow(""));
    assert!(
        allow("rm *\n\"x\"").ends_with(r#"allow = ["shell(rm [*]\n\"x\")"]"#),
        "{}",
        allow("rm *\n\"x\"")
    );
}
