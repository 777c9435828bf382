//! `tectum run TASK`: a model works on a task with the tools of this house, under its rules.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use parking_lot::Mutex;
use serde_json::json;
use tectum::{
    Call, Config, Fault, FaultKind, Payload, SessionId, Tectum,
    config::{
        keys::{self, Key},
        servers::Live,
    },
    core::{Tally, security::RawPath},
    engine::{Engine, Finished, LoopContext, OpenAi, Reason, Settings, Tiers, openai::Place},
    servers::Household,
    turns::Stop,
};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::{
    consent,
    failure::Failure,
    given,
    options::Shared,
    progress::Progress,
    screen::{Colour, Screen},
    serve, stop,
    track::{Job, TrackArgs},
    up,
    warnings::tell_strange_rules,
    within,
};

/// The time calls may still take when the work has ended.
const DRAIN: Duration = Duration::from_secs(5);

/// Let a model work on a task with these tools.
#[derive(Debug, Args)]
#[command(after_help = "\
Any model with an OpenAI-compatible chat completions API works. Calls that need approval are asked
about on the terminal; without a terminal they are refused. Ctrl-C cancels the calls and ends; a
second Ctrl-C ends at once. Model, address, tiers, context and all limits can be set in [run] of
your own tectum.toml; flags win.

Examples:
  tectum run 'fix the typo in notes.md' --model qwen3 --base-url http://127.0.0.1:8080/v1
  tectum run - --model NAME --base-url https://host/v1 --api-key-env MODEL_API_KEY < task.md
  tectum run --plan 'translate the manual' --out manual.toml
  tectum run --track manual.toml --step")]
pub(crate) struct Run {
    /// The task; - reads it from standard input
    #[arg(value_name = "TASK", required_unless_present = "tracked", conflicts_with = "tracked")]
    task: Option<String>,
    /// The model's name at its server
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The address of the server's API, such as http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The environment variable that holds the API key, if the server needs one
    #[arg(long, value_name = "VAR")]
    api_key_env: Option<String>,
    /// Tiers, as TOML: who the model is, with which tools, and to whom it may hand over
    #[arg(long, value_name = "FILE")]
    tiers: Option<PathBuf>,
    /// The tier to begin in
    #[arg(long, value_name = "NAME")]
    tier: Option<String>,
    /// A file shown to the model with the task, with its changes reported after each round; may be a pattern
    /// such as src/*.rs, and may be given again
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<String>,
    /// Rounds of calls after which the model has to sum up; 15 unless set in [run]
    #[arg(long, value_name = "N")]
    max_rounds: Option<u64>,
    /// The model's context size in tokens, 128000 unless set in [run]; the conversation is
    /// compacted before it is full
    #[arg(long, value_name = "TOKENS")]
    context: Option<u64>,
    /// Serve MCP and the hook API at ADDR meanwhile, so that questions can be answered there
    #[arg(long, value_name = "ADDR", value_parser = up::address)]
    http: Option<SocketAddr>,
    #[command(flatten)]
    tracks: TrackArgs,
}

impl Run {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let mut config = shared.load(self.flags(), screen)?;
        if let Some(circle) = within::circle(&config, shared.above) {
            return Err(circle.into());
        }
        let tiers = self.own_tiers(&config)?;
        let job = self.tracks.job(&config, tiers.clone())?;
        let settings = self.settings(&config, tiers)?;
        // Tiers of a file hand over to each other; those of the settings are other clients', and those of
        // a track have a ticket each.
        if job.is_none() && settings.tiers.tiers.len() > 1 {
            config.tools.tiers = settings.tiers.tiers.keys().cloned().collect();
        }
        let model = OpenAi::new(self.place(&config)?)?;
        let task = self.task()?;
        let http = self.http.map(|_| up::options(&config)).transpose()?;
        let mut live = Live::new(shared.sources(Vec::new()));
        if http.is_some() {
            live = live.listening(config.http.listen);
        }
        let bound = live.bound();
        serve::to_the_end(Builder::new_current_thread(), async {
            let cancel = CancellationToken::new();
            stop::on_signal(cancel.clone())?;
            let household = Household::start(&config, live, "run").await?;
            tell_strange_rules(&config, &household.house, screen);
            let listener = match http {
                Some((options, kept)) => {
                    up::beside(&household, options, kept.as_ref(), screen).await.map(Some)
                }
                None => Ok(None),
            };
            let done = match listener {
                Ok(listener) => {
                    listener.iter().for_each(|listener| _ = bound.set(listener.address));
                    let answered = listener.is_some();
                    let done =
                        self.in_house(&household, job, task, (model, settings), answered, cancel, screen);
                    let done = done.await;
                    if let Some(listener) = listener {
                        listener.end().await;
                    }
                    done
                }
                Err(failure) => Err(failure),
            };
            household.house.drain(DRAIN).await;
            household.stop().await;
            done
        })?
    }

    /// The work itself. `answered` says whether questions are answered elsewhere than on the terminal.
    #[expect(clippy::too_many_arguments, reason = "each is made before the house, and used up here")]
    async fn in_house(
        &self,
        household: &Household,
        job: Option<Job>,
        words: String,
        (model, settings): (OpenAi, Settings),
        answered: bool,
        cancel: CancellationToken,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let settings = Settings { news: household.round_news(), ..settings };
        if cancel.run_until_cancelled(meet(household, screen)).await.is_none() {
            let message = "cancelled before the first request to the model";
            return Err(Fault::new(FaultKind::Cancelled, message).into());
        }
        let house = &household.house;
        let answered = consent::attach(house, screen) || answered;
        match job {
            Some(job) => job.work((household, answered), (model, settings), cancel, screen).await,
            None => {
                let task = Task { words, files: self.files.clone() };
                work(house, model, settings, task, cancel, screen).await
            }
        }
    }

    /// The flags that are settings: their bounds are those of the keys.
    fn flags(&self) -> Vec<(&'static Key, String, String)> {
        let rounds = self.max_rounds.map(|n| (&keys::MAX_ROUNDS, n.to_string(), "--max-rounds".to_owned()));
        let context = self.context.map(|n| (&keys::CONTEXT, n.to_string(), "--context".to_owned()));
        let http = self.http.map(|address| (&keys::LISTEN, address.to_string(), "--http".to_owned()));
        rounds.into_iter().chain(context).chain(http).chain(self.tracks.flags()).collect()
    }

    fn place(&self, config: &Config) -> Result<Place, Fault> {
        let missing = |what: &str, flag: &str, key: &Key| {
            Fault::invalid(format!("no {what} given"))
                .hint(format!("give {flag}, or set {} in [run] of ~/.config/tectum/tectum.toml", key.name))
        };
        let model = self.model.as_ref().or(config.run.model.as_ref());
        let model = model.ok_or_else(|| missing("model", "--model NAME", &keys::MODEL))?;
        let url = self.base_url.as_ref().or(config.run.base_url.as_ref());
        let url = url.ok_or_else(|| missing("address of a model", "--base-url URL", &keys::BASE_URL))?;
        // Nobody names a variable in order to send no key.
        if let Some(name) = self.api_key_env.as_deref()
            && std::env::var_os(name).is_none_or(|key| key.is_empty())
        {
            return Err(Fault::invalid(format!("the variable {name} of --api-key-env is not set"))
                .hint(format!("set {name} to the API key, or leave the flag out if the server needs none")));
        }
        Ok(Place { key_env: self.api_key_env.clone(), ..Place::new(url, model) })
    }

    fn own_tiers(&self, config: &Config) -> Result<Option<Tiers>, Fault> {
        self.tiers.as_ref().or(config.run.tiers.as_ref()).map(|file| read_tiers(file)).transpose()
    }

    fn settings(&self, config: &Config, tiers: Option<Tiers>) -> Result<Settings, Failure> {
        let mut tiers = tiers.unwrap_or_else(|| Tiers::only(prompt(&config.directory)));
        if let Some(tier) = &self.tier {
            tiers.get(tier)?;
            tiers.default.clone_from(tier);
        }
        Ok(Settings {
            tiers,
            limits: config.run.limits.clone(),
            budget: config.run.context,
            session: SessionId::new("run"),
            ..Settings::default()
        })
    }

    fn task(&self) -> Result<String, Failure> {
        let task = self.task.as_deref().unwrap_or_default();
        if task != "-" {
            return Ok(task.to_owned());
        }
        given::bounded(io::stdin().lock())
            .map_err(|error| Fault::invalid(format!("cannot read standard input: {error}")).into())
    }
}

/// A task, and the files that belong to it.
struct Task {
    words: String,
    files: Vec<String>,
}

impl Task {
    /// The task with its files as they are now; from now on the model knows them. One that cannot
    /// be shown may be meant to be made, so the model is told, and the person is warned.
    async fn whole(self, house: &Tectum, engine: &mut Engine<OpenAi>, screen: &Screen) -> String {
        let mut whole = self.words;
        let warn = |name: &str, why: &str| {
            if !screen.quiet {
                screen.warn(&format!("--file {name}: {why}"));
            }
        };
        for entry in &self.files {
            let names = if entry.contains(['*', '?', '[', '{']) {
                matching(house, entry).await
            } else {
                vec![entry.clone()]
            };
            if names.is_empty() {
                warn(entry, "no file matches");
                whole.push_str(&format!("\n\n### `{entry}`\n(no file matches)"));
            }
            for name in names {
                let shown = engine.show(&RawPath::new(name.as_str()));
                if let Some(why) = shown.why_not {
                    warn(&name, why);
                }
                whole.push_str("\n\n");
                whole.push_str(shown.text.trim_end());
            }
        }
        whole
    }
}

/// The files that match a pattern, as the tool for it finds them.
async fn matching(house: &Tectum, pattern: &str) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Found {
        matches: Vec<Hit>,
    }
    #[derive(serde::Deserialize)]
    struct Hit {
        path: String,
    }
    let args = json!({ "path": ".", "pattern": pattern, "limit": 1000 });
    let Ok(args) = serde_json::value::to_raw_value(&args) else { return Vec::new() };
    let outcome = house.call(Call::new(SessionId::new("run"), "search_files", args)).await;
    let Ok(Payload::Native(reply)) = outcome.result else { return Vec::new() };
    let found: Option<Found> = serde_json::from_str(&reply.structured).ok();
    found.map(|found| found.matches.into_iter().map(|hit| hit.path).collect()).unwrap_or_default()
}

/// The prompt of the model where nobody wrote tiers.
fn prompt(directory: &Path) -> String {
    format!(
        "You work on the project in {} with the tools you are given. Look before you change anything, \
         change only what the task needs, and check what you changed. When a call fails, read why and do \
         something else. When the task is done, say in a few sentences what you did and what is left.",
        directory.display()
    )
}

fn read_tiers(file: &Path) -> Result<Tiers, Fault> {
    let wrong = |why: String| Fault::invalid(format!("{}: {why}", file.display()));
    let text = given::open(file).and_then(given::bounded).map_err(|error| {
        wrong(error.to_string()).hint("give --tiers a file that can be read, or leave it out")
    })?;
    let tiers: Tiers = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        wrong(format!("line {line}: {}", error.message().trim()))
            .hint("write default = \"NAME\", and for each tier [tiers.NAME] with prompt, tools, model and may_hand_to")
    })?;
    let placed = |fault: Fault| Fault { message: format!("{}: {}", file.display(), fault.message), ..fault };
    tiers.check().map_err(placed)?;
    Ok(tiers)
}

/// Waits for the tools of servers that were never met; those that are away are left out.
async fn meet(household: &Household, screen: &Screen) {
    for (name, fault) in household.federation.meet_all().await {
        if !screen.quiet {
            screen.warn(&format!("{name} is not available: {}", fault.message));
        }
    }
}

async fn work(
    house: &Tectum,
    model: OpenAi,
    settings: Settings,
    task: Task,
    cancel: CancellationToken,
    screen: &Screen,
) -> Result<(), Failure> {
    let progress = Arc::new(Mutex::new(Progress::new(*screen, cancel.clone())));
    let shown = progress.clone();
    let mut engine =
        Engine::new(house.clone(), model, settings)?.telling(move |event| shown.lock().show(&event));
    let mut ctx = engine.context();
    let task = task.whole(house, &mut engine, screen).await;
    let done = engine.run(&mut ctx, &task, cancel).await;
    let mut progress = progress.lock();
    progress.end();
    let skipped = house.effects().skipped();
    if !screen.json && !screen.quiet && skipped.total() > 0 {
        screen.warn(&in_vain(skipped));
    }
    tell(&done?, &ctx, &progress, skipped, screen)
}

/// The wishes of tools that the loop did not fulfil, in a sentence.
fn in_vain(skipped: Tally) -> String {
    let Tally { not_understood, not_allowed, too_many } = skipped;
    let were = if skipped.total() == 1 { "directive was" } else { "directives were" };
    let causes = [
        (not_allowed, "not allowed (`directives` in the server's table allows more)"),
        (not_understood, "not understood"),
        (too_many, "too many for one result"),
    ];
    let causes = causes.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}"));
    format!("{} {were} left out: {}", skipped.total(), causes.collect::<Vec<_>>().join(", "))
}

fn tell(
    done: &Finished,
    ctx: &LoopContext,
    progress: &Progress,
    skipped: Tally,
    screen: &Screen,
) -> Result<(), Failure> {
    let (word, message, kind) = judged(done.reason);
    if screen.json {
        screen.print_json(&json!({
            "ok": kind.is_none(),
            "reason": word,
            "text": done.text,
            "tier": ctx.tier,
            "rounds": done.rounds,
            "calls": progress.calls(),
            "failed_calls": progress.failed(),
            "usage": done.usage,
            "skipped_directives": {
                "total": skipped.total(),
                "not_allowed": skipped.not_allowed,
                "not_understood": skipped.not_understood,
                "too_many": skipped.too_many,
            },
        }))?;
    } else if !screen.quiet
        && let Some(message) = message
    {
        screen.tell(&screen.paint_error(Colour::Yellow, &format!("stopped: {message}")));
    }
    kind.map_or(Ok(()), |kind| Err(Failure::Silent(kind.exit_code())))
}

/// A reason as a word, in a sentence, and the kind of failure it is, if it is one.
fn judged(reason: Reason) -> (&'static str, Option<&'static str>, Option<FaultKind>) {
    match reason {
        Reason::Answered => ("answered", None, None),
        Reason::Stopped(Stop::Directive) => ("stopped", Some(Stop::Directive.message()), None),
        Reason::Stopped(Stop::Rounds) => (
            "rounds",
            Some("the limit on rounds of calls was reached (--max-rounds)"),
            Some(FaultKind::TooLarge),
        ),
        Reason::Stopped(Stop::Errors) => (
            "errors",
            Some("every call failed for several rounds (max_errors in [run])"),
            Some(FaultKind::Conflict),
        ),
        Reason::Stopped(Stop::Repeats) => (
            "repeats",
            Some("the same call was made again and again (max_repeats in [run])"),
            Some(FaultKind::Conflict),
        ),
        Reason::Cut => ("cut", Some("the answer reached the model's limit"), Some(FaultKind::TooLarge)),
        Reason::Filtered => {
            ("filtered", Some("the model's server filtered the answer"), Some(FaultKind::Upstream))
        }
        Reason::Cancelled => ("cancelled", Some("cancelled"), Some(FaultKind::Cancelled)),
    }
}
