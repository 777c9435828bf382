//! Resources of servers, for `organs = "auto"`: a server that agrees to say when one changed is believed, its
//! TTL is kept, and everything else is read about once a second. All at the same time, each for at most 2 s,
//! under one budget; who fails is asked less often, and a server that hangs delays nobody.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tectum_attend::Attention;
use tectum_attention::{Input, OrganConfig, Reading, Source};
use tectum_core::{Tectum, security::RawPath};
use tectum_peers::federation::{Federation, WatchedResource};
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, timeout},
};

/// The interval between two reads of a resource that only can be read.
const PERIOD: Duration = Duration::from_secs(1);
/// The same while nobody is at work.
const AT_REST: Duration = Duration::from_secs(30);
/// The same for one whose server says when it changes: that it still is there.
const SUBSCRIBED: Duration = Duration::from_secs(60);
/// The time for one read, or for a server to agree.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest pause after failures.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The interval at which is looked who is due.
const LOOK: Duration = Duration::from_millis(100);
/// The interval at which lists of resources are compared.
const LISTS: Duration = Duration::from_secs(2);
/// Resources that are watched; further ones are not, and that is told.
const MOST_RESOURCES: usize = 10_000;
/// Reads that are under way at the same time.
const MOST_READS: usize = 256;

/// What was read, until the thread of attention takes it.
pub(super) type Inbox = Arc<Mutex<Vec<Input>>>;

/// Everything that is watched.
pub(super) struct Poller {
    pub(super) house: Tectum,
    pub(super) federation: Arc<Federation>,
    pub(super) attention: Attention,
    pub(super) inbox: Inbox,
    /// Reads in a second.
    pub(super) requests: usize,
}

struct Watched {
    resource: WatchedResource,
    due: Instant,
    reading: bool,
    subscribed: bool,
    failures: u32,
    reads: u64,
    /// Set when the server says that it changed, until it is read.
    changed: bool,
}

/// What a task found out.
enum PollDone {
    Subscribed { organ: String, agreed: bool },
    Read { organ: String, input: Input, ttl: Option<Duration>, failed: bool },
}

impl Poller {
    pub(super) async fn run(self) {
        let mut watched: BTreeMap<String, Watched> = BTreeMap::new();
        let mut by_uri: HashMap<String, Vec<String>> = HashMap::new();
        let (mut tasks, mut changes) = (JoinSet::new(), self.federation.resource_changes());
        let (mut listed, mut tokens, mut last) = (None::<Instant>, self.requests as f64, Instant::now());
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                names = changes.next() => {
                    for organ in names.iter().filter_map(|name| by_uri.get(name)).flatten() {
                        if let Some(one) = watched.get_mut(organ) {
                            (one.due, one.changed) = (Instant::now(), true);
                        }
                    }
                    continue;
                }
                Some(found) = tasks.join_next() => {
                    if let Ok(found) = found {
                        self.take(found, &mut watched);
                    }
                    continue;
                }
                _ = look.tick() => {}
            }
            // Nobody came yet: servers stay as they are.
            if !self.attention.is_used() {
                continue;
            }
            if listed.is_none_or(|at| at.elapsed() > LISTS) {
                listed = Some(Instant::now());
                by_uri = self.list(&mut watched, &mut tasks);
            }
            tokens = (tokens + last.elapsed().as_secs_f64() * self.requests as f64).min(self.requests as f64);
            last = Instant::now();
            let mut due: Vec<(&String, &mut Watched)> =
                watched.iter_mut().filter(|(_, one)| !one.reading && one.due <= last).collect();
            // Whoever waits longest comes first, so that a small budget is shared by all.
            due.sort_by_key(|(_, one)| (!one.changed, one.due));
            for (organ, one) in due {
                if tokens < 1.0 || tasks.len() >= MOST_READS {
                    break;
                }
                tokens -= 1.0;
                one.reading = true;
                let (federation, now) = (self.federation.clone(), self.attention.now());
                let (organ, resource, pushed) = (organ.clone(), one.resource.clone(), one.subscribed);
                tasks.spawn(async move {
                    let read = timeout(PATIENCE, federation.read_watched(&resource)).await;
                    match read {
                        Ok(Ok(read)) => {
                            let make = if pushed { Reading::pushed } else { Reading::new };
                            let input = Input::State(make(&organ, now, read.state));
                            PollDone::Read { organ, input, ttl: read.ttl, failed: false }
                        }
                        _ => {
                            let input = Input::Unreadable { organ: organ.clone(), at: now };
                            PollDone::Read { organ, input, ttl: None, failed: true }
                        }
                    }
                });
            }
        }
    }

    /// Follows the lists: what is new is subscribed to and read, what is gone is forgotten. Returns the
    /// organs by the addresses that servers name.
    fn list(
        &self,
        watched: &mut BTreeMap<String, Watched>,
        tasks: &mut JoinSet<PollDone>,
    ) -> HashMap<String, Vec<String>> {
        let (mut there, mut by_uri) = (BTreeSet::new(), HashMap::<String, Vec<String>>::new());
        let resources = self.federation.watched_resources();
        if resources.len() > MOST_RESOURCES {
            tracing::warn!(
                found = resources.len(),
                watched = MOST_RESOURCES,
                "not all resources are watched"
            );
        }
        for resource in resources.into_iter().take(MOST_RESOURCES).filter(|one| self.may_be_read(one)) {
            let mut organ = format!("mcp:{}:{}", resource.server, resource.name);
            if !there.insert(organ.clone()) {
                organ = format!("{organ}:{}", resource.uri);
                there.insert(organ.clone());
            }
            by_uri.entry(resource.uri.clone()).or_default().push(organ.clone());
            if watched.contains_key(&organ) {
                continue;
            }
            let config = OrganConfig::resource(&organ, &resource.uri);
            self.attention.with(|workspace| workspace.register(config));
            let federation = self.federation.clone();
            let (asked, of) = (resource.clone(), organ.clone());
            tasks.spawn(async move {
                let agreed = timeout(PATIENCE, federation.subscribe_watched(&asked)).await;
                PollDone::Subscribed { organ: of, agreed: matches!(agreed, Ok(Ok(()))) }
            });
            let due = Instant::now() + spread(&organ, 0, PERIOD);
            let one = Watched {
                resource,
                due,
                reading: false,
                subscribed: false,
                failures: 0,
                reads: 0,
                changed: false,
            };
            watched.insert(organ, one);
        }
        let gone: Vec<String> = watched.keys().filter(|organ| !there.contains(*organ)).cloned().collect();
        for organ in gone {
            watched.remove(&organ);
            self.inbox.lock().push(Input::Gone { organ, at: self.attention.now() });
        }
        by_uri
    }

    fn take(&self, found: PollDone, watched: &mut BTreeMap<String, Watched>) {
        match found {
            PollDone::Subscribed { organ, agreed } => {
                let Some(one) = watched.get_mut(&organ).filter(|_| agreed) else { return };
                one.subscribed = true;
                let config = OrganConfig {
                    source: Source::Subscribed,
                    ..OrganConfig::resource(&organ, &one.resource.uri)
                };
                self.attention.with(|workspace| workspace.register(config));
            }
            PollDone::Read { organ, input, ttl, failed } => {
                let Some(one) = watched.get_mut(&organ) else { return };
                (one.reading, one.reads) = (false, one.reads + 1);
                one.failures = if failed { one.failures.saturating_add(1) } else { 0 };
                let usual = match ttl {
                    _ if one.subscribed => SUBSCRIBED,
                    Some(ttl) => ttl.max(PERIOD),
                    None if self.attention.is_at_work() => PERIOD,
                    None => AT_REST,
                };
                // A tenth of what the server takes in a minute, for all of its resources.
                let fair =
                    one.resource.rate.map_or(Duration::ZERO, |rate| Duration::from_secs(600) / rate.max(1));
                let pause = usual.max(fair) * 2u32.saturating_pow(one.failures.min(6));
                let longest = LONGEST_PAUSE.max(usual).max(fair);
                one.due = Instant::now() + spread(&organ, one.reads, pause.min(longest));
                one.changed &= failed;
                self.inbox.lock().push(input);
            }
        }
    }

    /// What the gate would not let an agent read is not watched either.
    fn may_be_read(&self, resource: &WatchedResource) -> bool {
        let Some(path) = resource.uri.strip_prefix("file://") else { return true };
        let reader = self.house.registry().snapshot().reader().cloned();
        let path = Path::new(path).to_str().map(RawPath::new);
        reader.zip(path).is_some_and(|(reader, path)| self.house.gate().readable(&reader, &path).is_some())
    }
}

/// A time with up to a tenth more or less of it, so that not all are due together.
fn spread(organ: &str, reads: u64, time: Duration) -> Duration {
    let hash = blake3::hash(format!("{organ}\n{reads}").as_bytes());
    let share = f64::from(hash.as_bytes()[0]) / 255.0;
    time.mul_f64(0.9 + 0.2 * share)
}
