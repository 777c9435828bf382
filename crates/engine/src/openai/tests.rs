//! The client against a server of its own that says what a test wants.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

use serde_json::{Value, json};
use tectum_core::FaultKind;

use super::{fault::TRIES, *};
use crate::{Finish, Message, ToolCall, Usage};

/// A server that gives one answer after the other, each on its own connection, and tells what it
/// was asked.
fn server(answers: Vec<String>) -> (String, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let (tell, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for answer in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let _ = tell.send(request(&stream));
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (address, asked)
}

fn request(stream: &TcpStream) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    (head, serde_json::from_slice(&body).expect("JSON"))
}

fn http(status: &str, kind: &str, more: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Connection: close\r\n\r\n{body}")
}

fn whole(text: &str) -> String {
    let body = json!({ "choices": [{ "message": { "content": text }, "finish_reason": "stop" }] });
    http("200 OK", "application/json", "", &body.to_string())
}

fn events(all: &[&str]) -> String {
    let body: String = all.iter().map(|event| format!("data: {event}\n\n")).collect();
    http("200 OK", "text/event-stream", "", &body)
}

fn busy(more: &str) -> String {
    http("429 Too Many Requests", "application/json", more, r#"{"error":{"message":"slow down"}}"#)
}

async fn ask(address: &str) -> (Result<Answer, Fault>, String) {
    let place = Place { pause: Duration::from_millis(1), ..Place::new(address, "m") };
    let model = OpenAi::new(place).expect("a client");
    let message = Message::user("hi");
    let prompt = Prompt { model: None, messages: vec![&message], tools: &[], may_call: true };
    let mut heard = String::new();
    let answer = model.answer(prompt, &mut |text| heard.push_str(text)).await;
    (answer, heard)
}

#[tokio::test]
async fn a_streamed_answer_is_heard_as_it_comes() {
    let (address, asked) = server(vec![events(&[
        r#"{"choices":[{"delta":{"content":"Hel"}}]}"#,
        r#"{"choices":[{"delta":{"content":"lo","tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#,
        "[DONE]",
    ])]);
    let (answer, heard) = ask(&address).await;
    let expect = Answer {
        text: "Hello".into(),
        calls: vec![ToolCall::new("1", "a", "{}")],
        usage: Usage { prompt: 3, completion: 4 },
        finish: Finish::Calls,
    };
    assert_eq!((answer.expect("an answer"), heard.as_str()), (expect, "Hello"));
    let (head, body) = asked.recv().expect("asked");
    assert!(head.starts_with("POST /v1/chat/completions ") && !head.contains("uthorization"), "{head}");
    assert_eq!((&body["model"], &body["stream"]), (&json!("m"), &json!(true)));
}

#[tokio::test]
async fn a_server_that_answers_whole_is_understood() {
    let (address, _asked) = server(vec![whole("all of it")]);
    let (answer, heard) = ask(&address).await;
    assert_eq!((answer.expect("an answer").text.as_str(), heard.as_str()), ("all of it", "all of it"));
}

#[tokio::test]
async fn a_server_that_refuses_to_stream_is_asked_otherwise() {
    let refusal = r#"{"error":{"message":"unknown field stream_options"}}"#;
    let (address, asked) =
        server(vec![http("400 Bad Request", "application/json", "", refusal), whole("fine")]);
    let (answer, _) = ask(&address).await;
    assert_eq!(answer.expect("an answer").text, "fine");
    let streams: Vec<Value> = asked.iter().map(|(_, body)| body["stream"].clone()).collect();
    assert_eq!(streams, [json!(true), json!(false)]);
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_what_may_not_is_not() {
    let (address, asked) = server(vec![
        busy("Retry-After: 0\r\n"),
        http("503 Service Unavailable", "text/plain", "", "later"),
        events(&[r#"{"choices":[{"delta":{}}]}"#]),
        whole("at last"),
    ]);
    let (answer, heard) = ask(&address).await;
    assert_eq!((answer.expect("an answer").text.as_str(), heard.as_str()), ("at last", "at last"));
    assert_eq!(asked.iter().count(), 4);

    let (address, asked) = server(vec![http("400 Bad Request", "text/plain", "", "no"), whole("never")]);
    let fault = ask(&address).await.0.expect_err("refused");
    assert!(fault.message.ends_with("answered HTTP 400 Bad Request: no"), "{}", fault.message);
    assert_eq!(asked.try_iter().count(), 1);
}

#[tokio::test]
async fn tries_are_counted_and_long_waits_refused() {
    let (address, asked) = server(vec![busy("Retry-After: 0\r\n"); 9]);
    let fault = ask(&address).await.0.expect_err("refused");
    assert!(fault.kind == FaultKind::Upstream && fault.message.contains("slow down"), "{fault:?}");
    assert_eq!(asked.try_iter().count(), TRIES as usize);

    let (address, asked) = server(vec![busy("Retry-After: 7200\r\n"); 2]);
    let fault = ask(&address).await.0.expect_err("refused");
    assert!(fault.hint.expect("a hint").contains("7200 s"));
    assert_eq!(asked.try_iter().count(), 1);
}

#[tokio::test]
async fn half_an_answer_that_was_heard_is_not_asked_for_again() {
    let (address, asked) =
        server(vec![events(&[r#"{"choices":[{"delta":{"content":"Hel"}}]}"#]), whole("x")]);
    let (answer, heard) = ask(&address).await;
    let fault = answer.expect_err("broken");
    assert!(fault.message.contains("in the middle of an answer"), "{}", fault.message);
    assert_eq!((heard.as_str(), asked.try_iter().count()), ("Hel", 1));
}

#[tokio::test]
async fn nobody_there_is_said_clearly() {
    // Held, so that nobody else begins to listen there.
    let held = tokio::net::TcpSocket::new_v4().expect("a socket");
    held.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let free = held.local_addr().expect("an address");
    let fault = ask(&format!("http://{free}/v1")).await.0.expect_err("nobody");
    assert_eq!(fault.kind, FaultKind::Upstream);
    assert!(fault.message.starts_with(&format!("the model at http://{free} cannot be reached")), "{fault:?}");
}

#[tokio::test]
async fn silence_ends_after_a_while() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let place = Place { patience: Duration::from_millis(20), ..Place::new(address, "m") };
    let model = OpenAi::new(place).expect("a client");
    let prompt = Prompt { model: None, messages: vec![], tools: &[], may_call: true };
    let fault = model.answer(prompt, &mut |_| ()).await.expect_err("silence");
    assert_eq!(fault.kind, FaultKind::Timeout);
}

#[tokio::test]
async fn a_key_is_sent_and_never_shown() {
    let (address, asked) = server(vec![http("401 Unauthorized", "text/plain", "", "who are you")]);
    // Every process has a PATH; here it stands in for a key.
    let place = Place { key_env: Some("PATH".into()), ..Place::new(address, "m") };
    let model = OpenAi::new(place).expect("a client");
    let key = std::env::var("PATH").expect("a path");
    assert!(!format!("{model:?}").contains(&key));
    let prompt = Prompt { model: None, messages: vec![], tools: &[], may_call: true };
    let fault = model.answer(prompt, &mut |_| ()).await.expect_err("refused");
    assert_eq!(fault.kind, FaultKind::Permission);
    assert!(!fault.text().contains(&key) && fault.text().contains("set PATH to one that is"), "{fault:?}");
    assert!(asked.recv().expect("asked").0.contains(&format!("Bearer {}", key.trim())));
}

#[test]
fn addresses_are_completed_or_refused() {
    for (given, expect) in [
        ("http://h/v1", "http://h/v1/chat/completions"),
        ("http://h/v1/", "http://h/v1/chat/completions"),
        ("http://h", "http://h/chat/completions"),
        ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
        ("https://h/openai?api-version=1", "https://h/openai/chat/completions?api-version=1"),
    ] {
        assert_eq!(address(given).expect(given).as_str(), expect);
    }
    for wrong in ["", "localhost:8080", "ftp://h/", "/v1"] {
        assert!(address(wrong).is_err(), "{wrong}");
    }
}
