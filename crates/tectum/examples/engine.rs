//! A program with a loop of its own: a model works on a task in a house without a server.
//!
//! `cargo run --example engine -- http://127.0.0.1:8080/v1 MODEL 'what is this project about?'`

use std::io::Write as _;

use tectum::engine::{Engine, Event, OpenAi, Settings, Tiers, openai::Place};
use tokio_util::sync::CancellationToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = |what: &'static str| words.next().ok_or(what);
    let place = Place::new(word("an address, please")?, word("a model, please")?);
    let task = word("a task, please")?;

    let config = tectum::Config::built_in(".").map_err(|problems| format!("{problems:?}"))?;
    let house = tectum::build(&config).map_err(|problems| format!("{problems:?}"))?;
    let settings = Settings { tiers: Tiers::only("You know your way around code."), ..Settings::default() };
    let mut engine = Engine::new(house, OpenAi::new(place)?, settings)?.telling(|event| match event {
        Event::Said(text) => _ = std::io::stdout().write_all(text.as_bytes()),
        Event::Calls(call) => eprintln!("{} {}", call.name, call.arguments),
        _ => {}
    });

    let mut conversation = engine.context();
    let done = engine.run(&mut conversation, &task, CancellationToken::new()).await?;
    eprintln!("{:?} after {} rounds, {:?}", done.reason, done.rounds, done.usage);
    Ok(())
}
