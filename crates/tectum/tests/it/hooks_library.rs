//! The hook API of a host that embeds Tectum: its figures, its fields and its board are what is told.

use std::{net::TcpStream, sync::Arc};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tectum::{
    Call, Payload, SessionId, Sources,
    approval::{Desk, PersonQuestion, Preview, QuestionKind},
    config::servers::Live,
    peers::serve::{Auth, HttpOptions, HttpServer},
    servers::{Household, UP},
    tools::runtime::UiFigures,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::rig::{Answer, Rig, TOKEN, exchange};

/// A house of this process with a listener.
struct Hosted {
    household: Household,
    port: u16,
    stop: CancellationToken,
    _rig: Rig,
}

impl Hosted {
    async fn start() -> Self {
        let rig = Rig::new();
        let state = Some(rig.home().join("state/tectum"));
        let sources = || Sources { directory: rig.project(), state: state.clone(), ..Sources::default() };
        let config = sources().load().expect("settings");
        let household = Household::start(&config, Live::new(sources()), UP).await.expect("a house");
        let auth = Auth::Token(TOKEN.into());
        let listen = ([127, 0, 0, 1], 0).into();
        let options = HttpOptions { listen, auth, allow_remote: false, hosts: Vec::new() };
        let server = HttpServer::bind(household.house.clone(), household.federation.clone(), options).await;
        let server = server.expect("bound").beside(household.hooks().beside());
        let (port, stop) = (server.address().port(), CancellationToken::new());
        tokio::spawn(server.run(stop.clone()));
        Self { household, port, stop, _rig: rig }
    }

    async fn send(&self, method: &'static str, path: &str, body: &Value) -> Answer {
        let headers = [
            ("Host".to_owned(), format!("127.0.0.1:{}", self.port)),
            ("Authorization".to_owned(), format!("Bearer {TOKEN}")),
            ("Content-Type".to_owned(), "application/json".to_owned()),
        ];
        let (port, path, body) = (self.port, path.to_owned(), body.to_string());
        let sending = move || {
            let stream = TcpStream::connect(("127.0.0.1", port)).expect("connects");
            exchange(stream, method, &path, &headers, &body)
        };
        tokio::task::spawn_blocking(sending).await.expect("answers")
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.send("GET", path, &Value::Null).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }

    async fn mma(&self, field: &str) -> Value {
        self.get("/api/gui/mma_status").await[field].clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hosts_figures_and_fields_are_told_and_set() {
    let hosted = Hosted::start().await;
    let hooks = hosted.household.hooks();
    assert_eq!(hosted.get("/api/performance").await["performance"]["source"], "Tectum");
    hooks.attach_monitor(|| {
        Some(UiFigures { fps: 60.0, frame_time_ms: 16.6, cpu_percent: 3.0, input_lag_ms: 8.0 })
    });
    let told = hosted.get("/api/performance").await["performance"].clone();
    assert_eq!(
        (&told["source"], &told["fps"], &told["input_lag_ms"]),
        (&json!("host"), &json!(60.0), &json!(8.0))
    );
    let args = serde_json::value::to_raw_value(&json!({})).expect("JSON");
    let outcome =
        hosted.household.house.call(Call::new(SessionId::new("s"), "get_ui_performance", args)).await;
    let Ok(Payload::Native(reply)) = outcome.result else { panic!("{:?}", outcome.result) };
    assert!(reply.text.contains("FPS: 60.0"), "{}", reply.text);

    let shown = Arc::new(Mutex::new(json!("draft")));
    let (read, written) = (shown.clone(), shown.clone());
    let get = move |reply: tokio::sync::oneshot::Sender<Value>| drop(reply.send(read.lock().clone()));
    hooks.attach_field("ai_input", get, move |value| *written.lock() = value).await.expect("attached");
    assert_eq!(hosted.get("/api/gui/value/ai_input").await, json!({"value": "draft"}));
    let set = json!({"action": "set_value", "item": "ai_input", "value": "done"});
    assert_eq!(hosted.send("POST", "/api/gui", &set).await.status, 200);
    assert_eq!(*shown.lock(), "done");
    hosted.stop.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_field_of_orchestration_follows_the_board_and_the_desk() {
    let hosted = Hosted::start().await;
    let ticket = json!({"id": "T1", "description": "write", "status": "in_progress", "depends_on": []});
    let fields = [
        ("mma_status", json!("idle"), json!("executing")),
        ("ai_status", json!("idle"), json!("sending...")),
        ("active_tier", Value::Null, json!("tier3")),
        ("active_track", json!(""), json!("track-1")),
        ("active_tickets", json!([]), json!([ticket])),
        ("mma_step_mode", json!(false), json!(true)),
        ("tracks", json!([]), json!([{"id": "track-1"}])),
        ("proposed_tracks", json!([]), json!([{"id": "track-2"}])),
        ("mma_streams", json!({}), json!({"T1": "thinking"})),
    ];
    let (board, watched) = watch::channel(json!({}));
    hosted.household.hooks().attach_board(watched);
    for (field, before, after) in &fields {
        assert_eq!(hosted.mma(field).await, *before, "{field}");
        board.send_modify(|state| state[field] = after.clone());
        assert_eq!(hosted.mma(field).await, *after, "{field}");
    }
    let indicators = hosted.get("/api/gui/diagnostics").await;
    assert_eq!(indicators, json!({"thinking": true, "live": false, "prior": false}), "a model is asked");
    let told = hosted.get("/api/events").await["events"].clone();
    let mut told = told.as_array().expect("a list").iter().filter(|event| event["kind"] == "mma.changed");
    assert!(told.all(|event| event["data"].get("mma_streams").is_none()), "{told:?}");

    let desk = Desk::of(&hosted.household.house);
    for (kind, pending) in [
        (QuestionKind::Step, ["pending_mma_step_approval", "pending_approval"]),
        (QuestionKind::Spawn, ["pending_mma_spawn_approval", "pending_spawn"]),
        (QuestionKind::Ask, ["pending_tool_approval", "pending_approval"]),
    ] {
        for field in pending {
            assert_eq!(hosted.mma(field).await, false, "{field}");
        }
        let question = PersonQuestion {
            kind,
            session: "track-1".into(),
            client: "track".into(),
            subject: "T1".into(),
            preview: Preview::None,
            arguments: Value::Null,
            data: Value::Null,
        };
        let (asked, mut events) = (desk.clone(), desk.events());
        let asking = tokio::spawn(async move { asked.ask_person(question).await });
        events.recv().await.expect("asked");
        for field in pending {
            assert_eq!(hosted.mma(field).await, true, "{field}");
        }
        asking.abort();
        while !desk.questions().is_empty() {
            tokio::task::yield_now().await;
        }
    }
    hosted.stop.cancel();
}
