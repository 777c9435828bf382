//! Two clients that number their requests alike, at one server that answers out of order: every
//! answer comes to whom it belongs. Many requests, so there is no process but the server between.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use tectum_core::{Gate, Rules, SessionId, Snapshot, Tectum, security::Allowlist};
use tokio::task::JoinSet;

use super::{Delivery, Endpoint, Handled, Turns};
use crate::{
    client::{Conversation, Unheard},
    federation::{Federation, Settings},
    spec::{EraChoice, Launch, ServerName, ServerSpec, Transport},
};

/// Requests of each client, and how many of them are under way together.
const REQUESTS: usize = 50_000;
const TOGETHER: usize = 500;

/// A server that gives back every request's parameters as its result. After the handshake it
/// answers each pair of requests in turned order.
const SERVER: &str = r#"3,$N; s/"method":"[^"]*","params":/"result":/g; s/^(.*)\n(.*)$/\2\n\1/"#;

fn spec() -> ServerSpec {
    let launch = Launch {
        command: "stdbuf".into(),
        args: ["-oL", "sed", "-E", SERVER].map(str::to_owned).into(),
        env: BTreeMap::new(),
        cwd: None,
    };
    let mut spec = ServerSpec::new(ServerName::parse("s").expect("a name"), Transport::Stdio(launch));
    spec.era = EraChoice::Legacy;
    spec
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_equal_ids_of_two_clients_never_cross() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let allowlist = Allowlist::builder().base(scratch.path()).build().expect("opens");
    let house = Tectum::new(Snapshot::of(&[]), Gate::new(Rules::default(), Arc::new(allowlist)));
    let settings = Settings { directory: scratch.path().to_owned(), ..Settings::default() };
    let federation = Federation::start(house.clone(), Vec::new(), settings, || vec![spec()]);
    let endpoint = Endpoint::new(house, federation.clone());
    let clients = [(); 2].map(|()| Conversation::new(SessionId::new("test"), Unheard::default()));
    let mut answered = 0;
    for batch in 0..REQUESTS / TOGETHER {
        let mut running = JoinSet::new();
        for id in batch * TOGETHER..(batch + 1) * TOGETHER {
            for (number, client) in clients.iter().enumerate() {
                let own = format!("client-{number}-request-{id}");
                let message = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"resources/read","params":{{"uri":"tectum://server/s/{own}"}}}}"#
                );
                let (mut out, delivery) = (
                    Vec::new(),
                    Delivery {
                        from: client,
                        outbox: None,
                        turns: &Turns::new(None),
                        modern: false,
                        ahead: false,
                    },
                );
                match endpoint.handle(&delivery, message.as_bytes(), &mut out) {
                    Handled::Running(work) => drop(running.spawn(async move { (id, own, work.await) })),
                    _ => panic!("{}", String::from_utf8_lossy(&out)),
                }
            }
        }
        while let Some(done) = running.join_next().await {
            let (id, own, answer) = done.expect("it does not panic");
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            assert_eq!(answer["id"], id);
            assert_eq!(answer["result"]["uri"], own, "{answer}");
            answered += 1;
        }
    }
    assert_eq!(answered, 2 * REQUESTS);
    federation.stop().await;
}
