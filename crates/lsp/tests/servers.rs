//! Well-behaved and broken servers: each question gets its answer or one clear reason, and no process
//! of a server is left.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use tectum_child::Launch;
use tectum_lsp::{Asked, Keeper, Patience, Spec, Trouble};

struct Rig {
    keeper: Keeper,
    scratch: tempfile::TempDir,
}

/// Long enough for a busy machine; tests do not wait for it to pass unless they say so.
const LONG: Duration = Duration::from_secs(60);

fn patience() -> Patience {
    Patience {
        start: LONG,
        most_start: LONG,
        answer: LONG,
        settle: Duration::from_millis(200),
        idle: LONG,
        pause: Duration::from_millis(50),
        most_pause: Duration::from_millis(200),
    }
}

impl Rig {
    fn new(manner: &str) -> Self {
        Self::with(manner, patience())
    }

    fn with(manner: &str, patience: Patience) -> Self {
        let scratch = tempfile::tempdir().expect("a directory");
        let fake = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake.py");
        let starts = scratch.path().join("starts").to_string_lossy().into_owned();
        let launch = Launch {
            command: "python3".into(),
            args: vec![fake.into(), manner.into(), starts],
            env: BTreeMap::new(),
            cwd: None,
        };
        let spec = Spec {
            launch,
            roots: vec![scratch.path().to_owned()],
            guard: None,
            memory: Some(1024 * 1024 * 1024),
            options: Value::Null,
            settings: json!({ "a": { "b": 7 } }),
        };
        Self { keeper: Keeper::new(spec, patience), scratch }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    async fn ask(&self, name: &str, text: &str) -> Result<Vec<String>, Trouble> {
        let asked = Asked { path: self.file(name), language: "plaintext", text: Arc::from(text) };
        let report = self.keeper.diagnose(&asked).await?;
        Ok(report.found.iter().map(ToString::to_string).collect())
    }

    #[expect(clippy::disallowed_methods, reason = "the test reads what the fake server wrote")]
    fn starts(&self) -> Vec<u32> {
        let starts = std::fs::read_to_string(self.file("starts")).unwrap_or_default();
        starts.lines().map(|line| line.parse().expect("a number")).collect()
    }

    /// Waits until no process of any start is left.
    async fn gone(&self) {
        for process in self.starts() {
            let entry = Path::new("/proc").join(process.to_string());
            while entry.exists() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

#[tokio::test]
async fn each_answer_is_for_the_text_that_was_asked_about() {
    for manner in ["push", "pull", "late", "unversioned", "quiet"] {
        let rig = Rig::new(manner);
        for round in 0..3 {
            let wrong =
                rig.ask("a.txt", &format!("fine\nWRONG {round}\nWRONG too\n")).await.expect("answered");
            let expect = [format!("Line 2: [error] WRONG {round}"), "Line 3: [error] WRONG too".to_owned()];
            assert_eq!(wrong, expect, "{manner}");
            assert_eq!(rig.ask("a.txt", "fine\n").await.expect("answered"), [""; 0], "{manner}");
            assert_eq!(rig.ask("a.txt", "fine\n").await.expect("answered"), [""; 0], "{manner}");
            let other = rig.ask("b.txt", "WRONG\n").await.expect("answered");
            assert_eq!(other, ["Line 1: [error] WRONG"], "{manner}");
        }
        assert_eq!(rig.starts().len(), 1, "{manner}");
    }
}

#[tokio::test]
async fn many_questions_share_one_server() {
    let rig = Rig::new("push");
    let names: Vec<String> = (0..30).map(|number| format!("{}.txt", number % 7)).collect();
    let ask = |(number, name): (usize, &String)| {
        let text = format!("WRONG {number}\n");
        let (rig, name) = (&rig, name.clone());
        async move { rig.ask(&name, &text).await }
    };
    let mut asked: Vec<_> = names.iter().enumerate().map(|one| Box::pin(ask(one))).collect();
    // Several texts of one file at once: each gets the answer for its own version or a later one.
    let mut answers = Vec::new();
    std::future::poll_fn(|cx| {
        asked.retain_mut(|question| match question.as_mut().poll(cx) {
            std::task::Poll::Ready(answer) => {
                answers.push(answer);
                false
            }
            std::task::Poll::Pending => true,
        });
        if asked.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    assert_eq!(answers.len(), 30);
    for answer in answers {
        assert_eq!(answer.expect("answered").len(), 1);
    }
    assert_eq!(rig.starts().len(), 1);
}

#[tokio::test]
async fn what_a_server_asks_is_answered() {
    let rig = Rig::new("polite");
    let said = rig.ask("a.txt", "x").await.expect("answered");
    assert_eq!(
        said,
        [r#"Line 1: [error] WRONG [[7], null, {"code": -32601, "message": "nothing here answers this"}]"#]
    );
}

#[tokio::test]
async fn a_death_costs_one_question_and_gets_a_pause() {
    let rig = Rig::new("push");
    assert!(rig.ask("a.txt", "WRONG").await.is_ok());
    for _ in 0..3 {
        let died = rig.ask("a.txt", "DIE").await.expect_err("it died").to_string();
        assert!(died.contains("exit status: 3") && died.contains("cannot go on"), "{died}");
        let again = loop {
            match rig.ask("a.txt", "WRONG").await {
                Ok(again) => break again,
                Err(Trouble::Pausing { why, .. }) => assert!(why.contains("exit status: 3"), "{why}"),
                Err(other) => panic!("{other}"),
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert_eq!(again, ["Line 1: [error] WRONG"]);
    }
    assert_eq!(rig.starts().len(), 4);
}

#[tokio::test]
async fn nonsense_ends_a_server_and_nothing_else() {
    for (manner, words) in [
        ("header", "a header without an end"),
        ("garbage", "something that is no message"),
        ("deep", "something that is no message"),
    ] {
        let rig = Rig::new(manner);
        let why = rig.ask("a.txt", "x").await.expect_err("refused").to_string();
        assert!(why.contains(words), "{manner}: {why}");
        rig.gone().await;
    }
}

#[tokio::test]
async fn silence_is_told_and_waited_for_no_longer_than_said() {
    let short = Duration::from_millis(300);
    let rig = Rig::with("mute", Patience { start: short, most_start: LONG, ..patience() });
    assert!(matches!(rig.ask("a.txt", "x").await, Err(Trouble::Starting(_))));
    assert!(matches!(rig.ask("a.txt", "x").await, Err(Trouble::Starting(_))));
    let rig = Rig::with("mute", Patience { most_start: short, ..patience() });
    assert!(matches!(rig.ask("a.txt", "x").await, Err(Trouble::Silent(_))));
    rig.gone().await;
    let rig = Rig::with("push", Patience { start: LONG, answer: short, ..patience() });
    assert!(rig.ask("a.txt", "x").await.is_ok());
    let slow = rig.ask("a.txt", "HANG").await.expect_err("it hangs").to_string();
    assert_eq!(slow, "the server has not finished with this version of the text within 0.3 s");
}

#[tokio::test]
async fn a_server_that_reads_nothing_is_ended() {
    let rig = Rig::with(
        "deaf",
        Patience { start: Duration::from_millis(500), answer: Duration::ZERO, ..patience() },
    );
    let large = "x".repeat(16 * 1024 * 1024);
    let mut last = String::new();
    for number in 0..40 {
        last = rig.ask("a.txt", &format!("{number}{large}")).await.expect_err("nothing is read").to_string();
        if last.contains("does not read") {
            break;
        }
    }
    assert!(last.contains("does not read what it is sent"), "{last}");
    rig.gone().await;
}

#[tokio::test]
async fn a_flood_takes_no_memory_and_no_other_question() {
    let flood =
        Rig::with("flood", Patience { start: Duration::from_secs(3), answer: Duration::ZERO, ..patience() });
    let calm = Rig::new("push");
    let (flooded, fine) = tokio::join!(flood.ask("a.txt", "x"), calm.ask("a.txt", "WRONG"));
    assert!(flooded.is_err());
    assert_eq!(fine.expect("answered"), ["Line 1: [error] WRONG"]);
    drop(flood.keeper);
}

#[tokio::test]
async fn an_idle_server_is_ended_and_started_again() {
    let rig = Rig::with("push", Patience { idle: Duration::from_millis(300), ..patience() });
    assert!(rig.ask("a.txt", "WRONG").await.is_ok());
    rig.gone().await;
    assert_eq!(rig.ask("a.txt", "WRONG").await.expect("started again"), ["Line 1: [error] WRONG"]);
    assert_eq!(rig.starts().len(), 2);
}

#[tokio::test]
async fn nothing_is_left_when_the_keeper_goes() {
    for manner in ["push", "mute", "deaf", "flood"] {
        let short = Duration::from_millis(500);
        let rig = Rig::with(manner, Patience { start: short, answer: short, ..patience() });
        let _ = rig.ask("a.txt", "x").await;
        while rig.starts().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let Rig { keeper, scratch } = rig;
        drop(keeper);
        let rig = Rig { keeper: Rig::new("push").keeper, scratch };
        rig.gone().await;
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let rig = Rig::new("push");
    let mut spec = Spec {
        launch: Launch { command: "no-such-server".into(), args: vec![], env: BTreeMap::new(), cwd: None },
        roots: vec![rig.scratch.path().to_owned()],
        guard: None,
        memory: None,
        options: Value::Null,
        settings: Value::Null,
    };
    for (command, words) in [("no-such-server", "no program `no-such-server`"), ("false", "the server ended")]
    {
        spec.launch.command = command.into();
        let keeper = Keeper::new(spec.clone(), patience());
        let asked = Asked { path: rig.file("a.txt"), language: "plaintext", text: Arc::from("x") };
        let why = keeper.diagnose(&asked).await.expect_err("no server").to_string();
        assert!(why.contains(words), "{why}");
    }
}
