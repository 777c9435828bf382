//! Keeps one server: starts it on demand, shares it among all callers, and waits with a backoff after
//! it died.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

use crate::{Asked, Patience, Report, Spec, Trouble, session::Session};

/// The most changed files that are remembered between questions.
const MOST_CHANGED: usize = 1000;

/// One server, running or not.
#[derive(Debug)]
pub struct Keeper {
    spec: Spec,
    patience: Patience,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    state: KeptSession,
    /// The number of deaths since the last answer.
    deaths: u32,
    /// Files that may have changed since the last notification to the server.
    changed: BTreeSet<PathBuf>,
}

#[derive(Debug)]
enum KeptSession {
    Away,
    Starting(Start),
    Up(Arc<Session>),
    Pausing { why: Trouble, until: Instant },
}

/// A start that continues even if a caller stops waiting for it.
#[derive(Clone, Debug)]
struct Start {
    since: Instant,
    done: watch::Receiver<Option<Started>>,
}

/// The result of a start, and the time of a failure.
type Started = Result<Arc<Session>, (Trouble, Instant)>;

impl Keeper {
    /// A server that is not started yet.
    pub fn new(spec: Spec, patience: Patience) -> Self {
        let kept = Kept { state: KeptSession::Away, deaths: 0, changed: BTreeSet::new() };
        Self { spec, patience, kept: Mutex::new(kept) }
    }

    /// The timeouts of the server.
    pub fn patience(&self) -> &Patience {
        &self.patience
    }

    /// Notes that a file may have changed on the disk; the server is notified with the next question.
    pub fn changed(&self, path: PathBuf) {
        let mut kept = self.kept.lock();
        if kept.changed.len() < MOST_CHANGED {
            kept.changed.insert(path);
        }
    }

    /// True if the server has answered a question and still runs.
    pub fn is_ready(&self) -> bool {
        matches!(&self.kept.lock().state, KeptSession::Up(session) if session.answered() && session.over().is_none())
    }

    /// The diagnostics for exactly this text.
    pub async fn diagnose(&self, asked: &Asked) -> Result<Report, Trouble> {
        match self.ask(asked).await {
            // The idle server was just ending when the question came.
            Err(Trouble::Idle) => self.ask(asked).await,
            answer => answer,
        }
    }

    async fn ask(&self, asked: &Asked) -> Result<Report, Trouble> {
        let begun = Instant::now();
        let session = self.session().await?;
        // The start and the first answer share one timeout.
        let limit = if session.answered() {
            self.patience.answer
        } else {
            self.patience.start.saturating_sub(begun.elapsed()).max(self.patience.answer)
        };
        let changed: Vec<PathBuf> = std::mem::take(&mut self.kept.lock().changed).into_iter().collect();
        let report = session.diagnose(asked, &changed, limit, self.patience.settle).await;
        if report.is_ok() {
            self.kept.lock().deaths = 0;
        }
        report
    }

    /// The running server, started if necessary.
    async fn session(&self) -> Result<Arc<Session>, Trouble> {
        let start = {
            let mut kept = self.kept.lock();
            self.look(&mut kept);
            match &kept.state {
                KeptSession::Up(session) => return Ok(session.clone()),
                KeptSession::Pausing { why, until } => {
                    let pause = until.saturating_duration_since(Instant::now());
                    return Err(Trouble::Pausing { why: why.to_string(), pause });
                }
                KeptSession::Starting(start) => start.clone(),
                KeptSession::Away => {
                    let start = self.start();
                    kept.state = KeptSession::Starting(start.clone());
                    start
                }
            }
        };
        let mut done = start.done;
        let told = match timeout(self.patience.start, done.wait_for(Option::is_some)).await {
            Ok(Ok(done)) => done.clone(),
            Ok(Err(_)) => None,
            Err(_) => return Err(Trouble::Starting(start.since.elapsed())),
        };
        match told {
            Some(told) => told.map_err(|(why, _)| why),
            None => Err(Trouble::Died("its start was broken off".into())),
        }
    }

    /// Updates the state: a start that is done, a server that ended, a pause that is over.
    fn look(&self, kept: &mut Kept) {
        if let KeptSession::Starting(start) = &kept.state {
            let done = start.done.borrow().clone();
            let lost = start.done.has_changed().is_err();
            match done {
                Some(Ok(session)) => kept.state = KeptSession::Up(session),
                Some(Err((why, ended))) => self.pause(kept, why, ended),
                None if lost => kept.state = KeptSession::Away,
                None => {}
            }
        }
        if let KeptSession::Up(session) = &kept.state {
            match session.over() {
                None => {}
                Some((Trouble::Idle, _)) => kept.state = KeptSession::Away,
                Some((why, ended)) => self.pause(kept, why, ended),
            }
        }
        if matches!(&kept.state, KeptSession::Pausing { until, .. } if *until <= Instant::now()) {
            kept.state = KeptSession::Away;
        }
    }

    fn pause(&self, kept: &mut Kept, why: Trouble, ended: Instant) {
        let pause =
            self.patience.pause.saturating_mul(1 << kept.deaths.min(16)).min(self.patience.most_pause);
        kept.deaths += 1;
        kept.state = KeptSession::Pausing { why, until: ended + pause };
    }

    fn start(&self) -> Start {
        let (tell, done) = watch::channel(None);
        let (spec, patience) = (self.spec.clone(), self.patience);
        tokio::spawn(async move {
            let session = tokio::select! {
                session = Session::open(&spec, &patience) => session,
                // The keeper was dropped, and so was everybody who waited.
                () = tell.closed() => return,
            };
            let _ = tell.send(Some(session.map(Arc::new).map_err(|why| (why, Instant::now()))));
        });
        Start { since: Instant::now(), done }
    }
}
