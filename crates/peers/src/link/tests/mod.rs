//! The carriers against small servers of their own.

mod auth;
mod fake;
mod http;
mod sse;
mod streams;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{Ask, Door, Event, Exchange, Link, LooseMessages, Loss, Question, connect};
use crate::{
    auth::Authorize,
    spec::{EraChoice, Remote, ServerName},
};

fn name() -> ServerName {
    ServerName::parse("fake").expect("a name")
}

fn remote(url: &str) -> Remote {
    Remote {
        url: url.to_owned(),
        headers: BTreeMap::new(),
        scopes: Vec::new(),
        client_id: None,
        client_secret: None,
    }
}

fn door() -> Door {
    Door::new(None, Authorize::Person)
}

/// A greeted connection.
async fn greeted(url: &str, choice: EraChoice) -> (Arc<Link>, LooseMessages) {
    connect(&name(), &remote(url), choice, "{}", &door()).await.expect("greeted")
}

/// Starts a call.
fn start(link: &Arc<Link>, method: &'static str, about: Option<&str>) -> Exchange {
    let ask = Ask { method, name: about, headers: Vec::new(), owner: Some(1), operation: None };
    link.request(ask, |_| "{}".into()).expect("sent")
}

/// A call and its answer.
async fn call(link: &Arc<Link>, method: &'static str) -> Result<Value, Value> {
    let answer = start(link, method, None).answer().await;
    match answer {
        Ok(Ok(result)) => Ok(serde_json::from_str(result.get()).expect("JSON")),
        Ok(Err(error)) => Err(serde_json::from_str(error.get()).expect("JSON")),
        Err(loss) => Err(json!({"loss": loss.to_string()})),
    }
}

/// What a call came to grief with.
async fn loss(link: &Arc<Link>, method: &'static str) -> Loss {
    start(link, method, None).answer().await.expect_err("lost")
}

/// The next event in a few words.
async fn next(exchange: &mut Exchange) -> String {
    match exchange.next().await {
        Event::Note { method, params } => format!("{method} {params}"),
        Event::Question(Question { id, method, .. }) => format!("question {id} {method}"),
        Event::Answer(Ok(result)) => format!("answer {result}"),
        Event::Answer(Err(error)) => format!("error {error}"),
        Event::Lost(loss) => format!("lost: {loss}"),
    }
}
