//! `tectum run --track FILE` and `tectum run --plan GOAL`: several models work on tickets, under the rules
//! of this house.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use serde_json::json;
use tectum::{
    Config, Fault, FaultKind, Problems, Tectum,
    approval::Desk,
    at_desk::{self, AtDesk},
    config::{
        Origin, Problem,
        keys::{self, Key},
    },
    engine::{OpenAi, Settings, Tiers},
    servers::Household,
    state,
    tracks::{Board, Crew, Ended, Keeper, Mistake, Orders, Track, TrackSummary, file, kept, schedule, tiers},
};
use tectum_state::Lasts;
use tokio_util::sync::CancellationToken;

use super::{
    failure::{Failure, fault_json},
    given,
    screen::Screen,
    track_screen::{TrackScreen, listed, summed_up},
};

/// The flags of tracks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tracks of tickets")]
pub(crate) struct TrackArgs {
    /// Work on the tickets of this file, or go on where the last run stopped
    #[arg(long, value_name = "FILE", group = "tracked", conflicts_with_all = ["files", "tier"])]
    track: Option<PathBuf>,
    /// Let the model propose tickets for a goal; they are worked on when you accept them
    #[arg(long, value_name = "GOAL", group = "tracked", conflicts_with_all = ["files", "tier"])]
    plan: Option<String>,
    /// Write the proposed track to FILE, TOML or .json, and do not work on it
    #[arg(long, value_name = "FILE", requires = "plan")]
    out: Option<PathBuf>,
    /// Ask before each ticket
    #[arg(long, requires = "tracked")]
    step: bool,
    /// Do not ask before a model begins on a ticket; the same as ask_spawn = false in [run]
    #[arg(long, requires = "tracked")]
    no_ask_spawn: bool,
    /// Tickets that are worked on at the same time; 4 unless set in [run]
    #[arg(long, value_name = "N", requires = "tracked")]
    workers: Option<u64>,
    /// Forget which tickets were completed and begin with the first
    #[arg(long, requires = "track")]
    restart: bool,
}

/// What is to be worked on.
#[derive(Debug)]
pub(crate) struct Job {
    source: Source,
    step: bool,
    restart: bool,
    ask_spawn: bool,
    workers: usize,
    directory: PathBuf,
    state: Option<PathBuf>,
    own_tiers: Option<Tiers>,
}

#[derive(Debug)]
enum Source {
    File { track: Track, path: PathBuf },
    Goal { words: String, out: Option<PathBuf> },
}

impl TrackArgs {
    /// The flags that are settings.
    pub(crate) fn flags(&self) -> Vec<(&'static Key, String, String)> {
        let workers = self.workers.map(|n| (&keys::WORKERS, n.to_string(), "--workers".to_owned()));
        let spawn = (&keys::ASK_SPAWN, "false".to_owned(), "--no-ask-spawn".to_owned());
        workers.into_iter().chain(self.no_ask_spawn.then_some(spawn)).collect()
    }

    /// The work these flags ask for, if they ask for any. A file is read here, before anything is started.
    pub(crate) fn job(&self, config: &Config, own_tiers: Option<Tiers>) -> Result<Option<Job>, Failure> {
        let source = match (&self.track, &self.plan) {
            (Some(path), _) => Source::File { track: read(path, own_tiers.as_ref())?, path: path.clone() },
            (None, Some(words)) => Source::Goal { words: words.clone(), out: self.out.clone() },
            (None, None) => return Ok(None),
        };
        Ok(Some(Job {
            source,
            step: self.step,
            restart: self.restart,
            ask_spawn: config.run.ask_spawn,
            workers: config.run.workers,
            directory: config.directory.clone(),
            state: config.state.clone(),
            own_tiers,
        }))
    }
}

fn read(path: &Path, own: Option<&Tiers>) -> Result<Track, Failure> {
    let text = given::open(path).and_then(given::bounded).map_err(|error| {
        Fault::invalid(format!("{}: {error}", path.display()))
            .hint("give --track a file of tickets, TOML or JSON; docs/tracks.md shows one")
    })?;
    let own = own.into_iter().flat_map(|own| own.tiers.keys().map(String::as_str));
    let own: Vec<&str> = own.filter(|name| !tiers::NAMES.contains(name)).collect();
    let name: Arc<str> = path.display().to_string().into();
    let problem = |mistake: Mistake| {
        let origin = Origin::File { name: name.clone(), line: mistake.line, column: 1 };
        Problem::new(origin, mistake.message)
    };
    file::parse(&text, tiers::NAMES.into_iter().chain(own))
        .map_err(|mistakes| Problems(mistakes.into_iter().map(problem).collect()).into())
}

impl Job {
    /// True if somebody will be asked something.
    pub(crate) fn asks(&self) -> bool {
        match &self.source {
            Source::File { track, .. } => {
                self.step || self.ask_spawn || track.tickets.iter().any(|ticket| ticket.step_mode)
            }
            Source::Goal { out, .. } => out.is_none(),
        }
    }

    /// Works on it to the end, or until it is cancelled.
    pub(crate) async fn work(
        self,
        (household, answered): (&Household, bool),
        (model, mut settings): (OpenAi, Settings),
        cancel: CancellationToken,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let house = &household.house;
        settings.tiers = tiers::of(&self.directory, house, self.own_tiers.clone());
        let shown = TrackScreen::new(*screen);
        let board = Arc::new(Board::new(move |told| shown.show(&told)));
        if self.asks() && !answered && !screen.quiet {
            let what = if Desk::of(house).is_seen() {
                "so questions wait for whoever opens `tectum top` or `tectum pending`"
            } else {
                "so tickets do not begin; --http lets others answer"
            };
            screen.warn(&format!(
                "there is no terminal to ask on, {what}; --no-ask-spawn does not ask before each model"
            ));
        }
        household.hooks().attach_board(board.watch());
        let following = at_desk::follow(house, board.clone());
        let done = self.work_with(house, board, (model, settings), cancel, screen).await;
        following.abort();
        done
    }

    async fn work_with(
        self,
        house: &Tectum,
        board: Arc<Board>,
        (model, settings): (OpenAi, Settings),
        cancel: CancellationToken,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let folder = self.state.as_deref().map(|state| folder(state, house));
        board.list(folder.as_deref().map(kept::summaries).unwrap_or_default());
        let crew = Arc::new(Crew {
            house: house.clone(),
            model: Arc::new(model),
            settings,
            board: board.clone(),
            consent: Arc::new(AtDesk::of(house)),
            orders: Orders { step: self.step, ask_spawn: self.ask_spawn },
            cancel: cancel.clone(),
        });
        let Some((track, keeper, path)) = self.begin(&crew, folder.as_deref(), screen).await? else {
            return Ok(());
        };
        if folder.is_none() && !screen.quiet {
            screen.warn("there is no state directory, so this track cannot be resumed");
        }
        crew.board.open(track, keeper, self.step).await?;
        let ended = schedule(&crew.board, crew.clone(), self.workers, &cancel).await;
        let resume = folder.map(|_| format!("tectum run --track {}", path.display()));
        tell(&crew.board.track(), ended, resume, screen)
    }

    /// The track to work on, the file of its state, and the file it is in. `None` if there is nothing to work on.
    async fn begin(
        &self,
        crew: &Crew<OpenAi>,
        folder: Option<&Path>,
        screen: &Screen,
    ) -> Result<Option<(Track, Option<Keeper>, PathBuf)>, Failure> {
        match &self.source {
            Source::File { track, path } => {
                let keeper = folder.map(|folder| Keeper::take(folder, &track.id)).transpose()?;
                let kept = match &keeper {
                    Some(keeper) if !self.restart => keeper.load()?,
                    _ => None,
                };
                let track = match kept {
                    Some(kept) => kept::resume(track.clone(), &kept)?,
                    None => track.clone(),
                };
                Ok(Some((track, keeper, path.clone())))
            }
            Source::Goal { words, out } => {
                let mut track = crew.propose(words).await?;
                if let Some(out) = out {
                    crew.board.give_up();
                    save(&track, out)?;
                    let said = format!("written to {}: {}", out.display(), listed(&track, screen));
                    screen.answer(&json!({ "event": "plan", "track": track, "file": out }), &said)?;
                    return Ok(None);
                }
                track.id = folder.map_or(track.id.clone(), |folder| kept::free_id(folder, &track.id));
                if screen.json {
                    screen.print_json(&json!({ "event": "plan", "track": track }))?;
                } else {
                    screen.print(&listed(&track, screen))?;
                }
                let text = format!("work on the proposed track `{}`", track.id);
                let mut track = crew.accept(&track, text).await?;
                track.id = folder.map_or(track.id.clone(), |folder| kept::free_id(folder, &track.id));
                let keeper = folder.map(|folder| Keeper::take(folder, &track.id)).transpose()?;
                // The file to resume with.
                let path = folder.unwrap_or(Path::new("")).join(format!("{}.json", track.id));
                if folder.is_some() {
                    let text = file::written(&track, true)?;
                    tectum_state::replace(&path, text.as_bytes(), Lasts::PowerCut)?;
                }
                Ok(Some((track, keeper, path)))
            }
        }
    }
}

/// The folder of a project's tracks.
fn folder(state: &Path, house: &Tectum) -> PathBuf {
    state::of_project(state, house.gate().allowlist().primary()).join("tracks")
}

/// Writes a proposal to a new file of the person who asked for it.
fn save(track: &Track, out: &Path) -> Result<(), Failure> {
    let json = out.extension().is_some_and(|extension| extension == "json");
    let text = file::written(track, json)?;
    let saved = tectum_state::create(out).and_then(|mut file| file.write_all(text.as_bytes()));
    saved.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Fault::conflict(format!("{} is there already", out.display()))
            .hint("give --out a new name")
            .into(),
        _ => Fault::invalid(format!("cannot write {}: {error}", out.display())).into(),
    })
}

/// Says how it ended, and how to go on.
fn tell(track: &Track, ended: Ended, resume: Option<String>, screen: &Screen) -> Result<(), Failure> {
    let sums = TrackSummary::of(track);
    let ok = sums.completed == sums.tickets;
    let resume = resume.filter(|_| !ok);
    if screen.json {
        screen.print_json(&json!({
            "event": "end",
            "ok": ok,
            "completed": sums.completed,
            "blocked": sums.blocked,
            "todo": sums.todo,
            "cancelled": ended.cancelled,
            "stall": ended.stall,
            "error": ended.fault.as_ref().map(fault_json),
            "resume": resume,
        }))?;
    } else {
        screen.print(&summed_up(track, ended.stall.as_deref(), screen))?;
        if let Some(resume) = resume.filter(|_| !screen.quiet) {
            screen.tell(&format!("to go on where this stopped, with the same options: {resume}"));
        }
    }
    let kind = match (ended.fault, ended.cancelled) {
        (Some(fault), _) if screen.json => Some(fault.kind),
        (Some(fault), _) => return Err(fault.into()),
        (None, true) if !ok => Some(FaultKind::Cancelled),
        (None, _) => (!ok).then_some(FaultKind::Conflict),
    };
    kind.map_or(Ok(()), |kind| Err(Failure::Silent(kind.exit_code())))
}
