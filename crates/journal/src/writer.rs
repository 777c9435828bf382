//! The writer: a call is appended before its caller is answered, and waits for the disk only if the
//! settings say so.

use std::{
    fmt, io,
    path::PathBuf,
    sync::{Arc, LazyLock},
    time::{Duration, SystemTime},
};

use parking_lot::Mutex;
use tectum_core::{Call, Fault, Recorder, Recording, Seen, SessionId};
use tectum_redact::Redactor;
use tectum_state::Moment;
use tokio::sync::Semaphore;

use crate::{
    Gap, HookRequest, Record, Start, line,
    making::{Draft, SharedMembers},
    seed::Seed,
    segment::{OpenSegment, make_room},
    syncer::{SyncPolicy, Syncer},
};

/// Calls above this are made a record of beside the thread that answers: looking through so much for
/// secrets takes some milliseconds. Below it the call's own thread does it, so that a client that does
/// not read its answers has no more of them made.
const LARGE: usize = 2 << 20;
/// So many of them at the same time, since each is in memory several times meanwhile.
const MOST_LARGE: usize = 2;
/// Room for a change's result and for what stands around it.
const RESULT: u64 = 256 << 10;

/// How a journal is kept.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder of its segments.
    pub folder: PathBuf,
    /// When records are synced.
    pub sync: SyncPolicy,
    /// The size in bytes at which a segment is full.
    pub segment: u64,
    /// The most bytes of all segments together.
    pub most: u64,
    /// How long a segment is kept after its last record.
    pub longest: Duration,
    /// The directory that gets `logs/sessions`, if that is wanted.
    pub seed: Option<PathBuf>,
    /// The command that writes, such as `serve`.
    pub command: String,
    /// The project's directory.
    pub directory: PathBuf,
}

/// The journal of one process. Nothing is created before the first record. Cheap to clone.
#[derive(Clone)]
pub struct Writer(Arc<Shared>);

type MakeRedactor = Box<dyn FnOnce() -> Result<Redactor, String> + Send>;

struct Shared {
    settings: Settings,
    redactor: LazyLock<Result<Redactor, String>, MakeRedactor>,
    /// The id of this process's run.
    run: String,
    known: Mutex<SharedMembers>,
    own: Mutex<Own>,
    syncer: Arc<Syncer>,
    large: Semaphore,
    seed: Option<Mutex<Seed>>,
}

/// What this process writes to.
#[derive(Debug, Default)]
struct Own {
    open: Option<OpenSegment>,
    /// The calls that could not be recorded since the last record.
    gap: Option<Gap>,
}

impl Writer {
    /// A journal that hides what the redactor finds, which is made for the first record. Without one
    /// nothing is recorded.
    pub fn new(
        settings: Settings,
        redactor: impl FnOnce() -> Result<Redactor, String> + Send + 'static,
    ) -> Self {
        let redactor = LazyLock::new(Box::new(redactor) as MakeRedactor);
        let syncer = Syncer::new(settings.sync);
        let seed = settings.seed.clone().map(|root| Mutex::new(Seed::new(root, settings.command.clone())));
        let run = format!("r-{:016x}", getrandom::u64().unwrap_or_else(|_| u64::from(std::process::id())));
        let (own, known, large) = (Mutex::default(), Mutex::default(), Semaphore::new(MOST_LARGE));
        Self(Arc::new(Shared { settings, redactor, run, known, own, syncer, large, seed }))
    }

    /// Makes the redactor, beside us: that takes some milliseconds, which the first call need not wait.
    pub fn warm_up(&self) {
        let shared = self.0.clone();
        // Without a thread the first record makes it.
        let _ = std::thread::Builder::new().name("journal".into()).spawn(move || drop(shared.redactor()));
    }

    /// Records a request to the hook API.
    pub fn hook(&self, method: &str, path: &str, body: &str, status: u16) {
        let (method, path, body) = (method.to_owned(), path.to_owned(), body.to_owned());
        let request = HookRequest { at: Moment::micros(SystemTime::now()), method, path, body, status };
        self.0.keep(|redactor| Ok(line::of(&Record::Hook(request.hidden(redactor)))?));
    }

    /// The name of a conversation in the journal.
    pub fn session(&self, session: &SessionId) -> String {
        self.0.session(session)
    }

    /// How often the disk was waited for so far.
    pub fn syncs(&self) -> u64 {
        self.0.syncer.syncs()
    }

    /// Syncs what is left and lets go of the segment, so that the next process can continue it.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Recorder for Writer {
    fn record<'a>(&'a self, seen: Seen<'a>) -> Option<Recording<'a>> {
        let size =
            seen.call.args.get().len() + seen.outcome.result.as_ref().map_or(0, |result| result.size());
        if size <= LARGE {
            let number = self.0.keep(|redactor| Ok(self.0.draft(seen, redactor).line(redactor)));
            return self.0.syncer.waits().then(|| Box::pin(self.0.syncer.wait(number)) as Recording<'a>);
        }
        Some(Box::pin(async move {
            // It fails only when it is closed, which it never is.
            let _turn = self.0.large.acquire().await;
            let draft = self.0.redactor().map(|redactor| self.0.draft(seen, redactor).owned());
            let shared = self.0.clone();
            let keep = move || shared.keep(|redactor| Ok(draft?.line(redactor)));
            // It fails only if it panicked, which is told where it does.
            let kept = tokio::task::spawn_blocking(keep).await;
            self.0.syncer.wait(kept.unwrap_or_default()).await;
        }))
    }

    fn ready_for(&self, change: &Call) -> Result<(), Fault> {
        let size = 2 * change.args.get().len() as u64 + RESULT;
        let ready = self.0.prepare(size).and_then(|()| match self.0.syncer.trouble() {
            Some(trouble) => Err(io::Error::other(trouble)),
            None => Ok(()),
        });
        ready.map_err(|error| {
            let message = format!("{} was not run, because it could not be recorded: {error}", change.tool);
            let folder = self.0.settings.folder.display();
            Fault::conflict(message).hint(format!(
                "make room on the disk of {folder}; what only reads goes on working, and changes work again as soon as there is room"
            ))
        })
    }
}

impl Shared {
    fn session(&self, session: &SessionId) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.run.as_bytes()).update(&[0]).update(session.0.as_bytes());
        format!("s-{}", &hasher.finalize().to_hex()[..16])
    }

    fn draft<'a>(&self, seen: Seen<'a>, redactor: &Redactor) -> Draft<'a> {
        Draft::of(seen, |session| self.session(session), &mut self.known.lock(), redactor)
    }

    /// Appends a record, which gets its line without secrets; the number of the record.
    fn keep(&self, line: impl FnOnce(&Redactor) -> io::Result<String>) -> u64 {
        let kept = self.redactor().and_then(|redactor| {
            let line = line(redactor)?;
            let shown = self.seed.as_ref().map(|seed| (seed, serde_json::from_str(&line[line::HEAD..])));
            let appended = self.append(&mut self.own.lock(), line);
            if let Some((seed, Ok(record))) = shown {
                seed.lock().show(&record);
            }
            appended
        });
        kept.unwrap_or_else(|error| {
            self.miss(&error);
            0
        })
    }

    fn redactor(&self) -> io::Result<&Redactor> {
        self.redactor.as_ref().map_err(|why| io::Error::other(format!("secrets could not be hidden: {why}")))
    }

    /// Counts a record that could not be appended. The next one that can tells of it.
    fn miss(&self, error: &io::Error) {
        let mut own = self.own.lock();
        let gap = own.gap.get_or_insert_with(|| {
            tracing::error!(%error, folder = %self.settings.folder.display(), "calls are not recorded");
            Gap { since: Moment::micros(SystemTime::now()), calls: 0, why: error.to_string() }
        });
        gap.calls += 1;
    }

    fn append(&self, own: &mut Own, line: String) -> io::Result<u64> {
        self.tell_gap(own)?;
        let segment = self.segment(own, line.len() as u64)?;
        segment.append(line)?;
        Ok(self.syncer.note(segment.file(), None))
    }

    /// Makes sure that a record of this size has its room on the disk.
    fn prepare(&self, size: u64) -> io::Result<()> {
        self.redactor()?;
        let mut own = self.own.lock();
        self.tell_gap(&mut own)?;
        self.segment(&mut own, size)?.reserve(size)
    }

    fn tell_gap(&self, own: &mut Own) -> io::Result<()> {
        let Some(gap) = own.gap.clone() else { return Ok(()) };
        let line = line::of(&Record::Gap(gap.clone()))?;
        let segment = self.segment(own, line.len() as u64)?;
        segment.append(line)?;
        self.syncer.note(segment.file(), None);
        tracing::info!(calls = gap.calls, "calls are recorded again");
        own.gap = None;
        Ok(())
    }

    /// The segment that takes a record of this size: the open one, one that another process left, or a
    /// new one.
    fn segment<'o>(&self, own: &'o mut Own, size: u64) -> io::Result<&'o mut OpenSegment> {
        let Settings { folder, segment: full, most, longest, .. } = &self.settings;
        if !own.open.as_ref().is_some_and(|open| open.takes(size, *full)) {
            let before = own.open.as_ref().filter(|open| open.takes(0, u64::MAX));
            let left = if before.is_none() { OpenSegment::continued(folder, *full)? } else { None };
            let mut next = match left {
                Some(left) => left,
                None => OpenSegment::begin(folder, before)?,
            };
            let is_new = next.is_empty();
            let begun = self.start(before.filter(|_| is_new)).and_then(|line| next.append(line));
            if let Err(error) = begun {
                if is_new {
                    // A segment without a record helps nobody.
                    let _ = tectum_state::remove(next.path());
                }
                return Err(error);
            }
            self.syncer.note(next.file(), is_new.then(|| next.path().to_owned()));
            own.open = Some(next);
            // More than enough is no reason to record nothing.
            let _ = make_room(folder, *most, *longest);
        }
        own.open.as_mut().ok_or_else(|| io::Error::other("no segment"))
    }

    /// The record that a process begins with.
    fn start(&self, follows: Option<&OpenSegment>) -> io::Result<String> {
        let start = Start {
            at: Moment::micros(SystemTime::now()),
            run: self.run.clone(),
            pid: std::process::id(),
            command: self.settings.command.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            directory: self.settings.directory.display().to_string(),
            follows: follows.map(OpenSegment::name),
        };
        Ok(line::of(&Record::Start(start))?)
    }

    fn close(&self) {
        self.own.lock().open = None;
        self.syncer.stop();
        if let Some(seed) = &self.seed {
            seed.lock().close();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Writer").field(&self.0.settings.folder).finish()
    }
}
