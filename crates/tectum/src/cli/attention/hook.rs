//! `tectum attention hook`: what a client's hook runs. It never keeps a client from anything: whatever goes
//! wrong, there is no news.

use std::{
    io::{self, IsTerminal as _, Read as _},
    sync::mpsc,
    thread,
    time::Duration,
};

use clap::Args;
use serde_json::{Value, json};
use tectum::client_hooks::{NEWS, NewsClient, without_contents};

use super::{
    super::{failure::Failure, options::Shared, screen::Screen},
    house,
    install::client,
};

/// The time for everything; clients wait 10 s.
const PATIENCE: Duration = Duration::from_secs(5);
/// The largest request that is read.
const MOST_REQUEST: u64 = 16 << 20;

/// Answer a client's hook with news.
#[derive(Debug, Args)]
pub(crate) struct NewsHook {
    /// Whose hook it is
    #[arg(long, value_name = "CLIENT", value_parser = client)]
    client: NewsClient,
}

impl NewsHook {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        screen.print_json(&self.answer(shared).unwrap_or_else(|| json!({})))
    }

    fn answer(&self, shared: &Shared) -> Option<Value> {
        let request: Value = serde_json::from_slice(&without_contents(&read()?)).ok()?;
        let house = house::find(&house::directory(shared)).ok()?;
        let path = format!("{NEWS}?client={}", self.client.name());
        house.make_request("POST", &path, Some(&request), Some(PATIENCE)).ok()
    }
}

/// The request. A client that never ends it is not waited for.
fn read() -> Option<Vec<u8>> {
    if io::stdin().is_terminal() {
        return None;
    }
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut request = Vec::new();
        let read = io::stdin().lock().take(MOST_REQUEST).read_to_end(&mut request);
        // Nobody waits any more.
        let _ = sender.send(read.is_ok().then_some(request));
    });
    receiver.recv_timeout(PATIENCE).ok()?
}
