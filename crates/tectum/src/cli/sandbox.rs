//! `tectum sandbox test`: what a command of an agent may do here, found out by trying.

use std::{
    collections::BTreeSet,
    io,
    net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tectum::{
    Config, Fault, FaultKind,
    peers::{
        child::{
            self, ForkServers, Order, SandboxPlan, Through,
            sandbox::{Sandboxed, held},
        },
        spec::Launch,
    },
    sandbox_settings,
};
use tokio::{io::AsyncReadExt as _, runtime::Builder};

use super::{
    failure::Failure,
    options::Shared,
    screen::{Colour, Screen, counted, harmless},
};

/// Protected files that are tried one by one; the kernel holds the others in the same way.
const MOST_PROTECTED: usize = 10;
/// Entries looked at for one file below a closed directory.
const MOST_LOOKED_AT: usize = 1_000;
/// The name of what is made and removed again to see whether that is allowed.
const MADE: &str = "tectum-sandbox-test";

#[derive(Debug, Subcommand)]
pub(crate) enum Sandbox {
    /// Try what a command may read, change and reach here, and compare it with what is promised
    Test,
    /// Do what is listed and say how each went; for the test
    #[command(hide = true)]
    Try(Try),
}

#[derive(Debug, Args)]
pub(crate) struct Try {
    /// A deed and what to do it to
    #[arg(value_name = "DEED=TARGET")]
    deeds: Vec<String>,
}

impl Sandbox {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        match self {
            Self::Try(one) => screen.print(&one.report()),
            Self::Test => {
                let config = shared.load(Vec::new(), screen)?;
                let runtime = Builder::new_current_thread().enable_all().build()?;
                let (held, trials) = runtime.block_on(tried(&config))?;
                if screen.json {
                    screen.print_json(&data(held, &trials))?
                } else {
                    screen.print(&text(held, &trials, screen))?
                }
                if trials.iter().all(Trial::is_kept) {
                    return Ok(());
                }
                let broken = "the sandbox does not hold what it promises on this machine";
                Err(Fault::new(FaultKind::Internal, broken).into())
            }
        }
    }
}

/// One thing to try.
struct Trial {
    what: String,
    deed: &'static str,
    target: String,
    /// The promise that a command can, or that it cannot, if there is one.
    promised: Option<bool>,
    went: Result<(), String>,
}

impl Trial {
    fn is_kept(&self) -> bool {
        self.promised.is_none_or(|promised| promised == self.went.is_ok())
    }
}

/// Tries all of it within the plan that a command would have.
async fn tried(config: &Config) -> Result<(Sandboxed, Vec<Trial>), Failure> {
    let house = tectum::build_for_one_call(config)?;
    let gate = house.gate();
    let protected = gate.allowlist().closed()?;
    let servers = Arc::new(ForkServers::default());
    let scratch = servers.scratch()?;
    let settings = sandbox_settings(config, gate.allowlist());
    let plan = settings.plan(protected.clone(), scratch.path()).map_err(refused)?;
    let held = held(plan.as_ref()).map_err(refused)?;

    let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let socket = scratch.path().join("socket");
    let _named = UnixListener::bind(&socket)?;
    let mut trials = Trials { plan: plan.as_ref(), list: Vec::new() };
    for root in gate.allowlist().base_directories() {
        trials.add(format!("change files in {}", root.display()), "change", root, Some(true));
    }
    trials.add("change files in a temporary directory of its own", "change", scratch.path(), Some(true));
    let elsewhere = [config.home.clone(), gate.allowlist().primary().parent().map(Path::to_owned)];
    let elsewhere = elsewhere.into_iter().flatten().chain([std::env::temp_dir(), "/etc".into()]);
    for place in elsewhere.filter(|place| !trials.may_write(place)).collect::<BTreeSet<_>>() {
        trials.add(format!("change files in {}", place.display()), "change", &place, Some(false));
    }
    trials.add("read the system, such as /etc/passwd", "read", Path::new("/etc/passwd"), Some(true));
    for path in protected.iter().take(MOST_PROTECTED).chain(&settings.closed) {
        if let Some(file) = first_file(path) {
            trials.add(format!("read {}", path.display()), "read", &file, Some(false));
        }
    }
    let own = PathBuf::from(format!("/proc/{}/environ", std::process::id()));
    trials.add("read what other processes hold, such as Tectum's environment", "read", &own, Some(false));
    let network = plan.as_ref().is_none_or(|plan| plan.network);
    trials.add("connect over TCP", "tcp", tcp.local_addr()?, Some(network));
    trials.add("send over UDP", "udp", udp.local_addr()?, Some(network));
    let named = plan.as_ref().is_none_or(|plan| plan.unix_sockets);
    trials.add("use sockets with a name (Docker, the desktop, agents of keys)", "unix", &socket, Some(named));
    let mut list = trials.list;
    if protected.len() > MOST_PROTECTED {
        let rest = protected.len() - MOST_PROTECTED;
        let rest = counted(u64::try_from(rest).unwrap_or(u64::MAX), "more protected name");
        list.push(Trial {
            what: format!("read {rest} (not tried)"),
            deed: "",
            target: String::new(),
            promised: None,
            went: Err(String::new()),
        });
    }
    let report = report_of(&servers, &list, plan.as_ref(), gate.allowlist().primary()).await?;
    let mut lines = report.lines();
    for trial in list.iter_mut().filter(|trial| !trial.deed.is_empty()) {
        trial.went = match lines.next() {
            Some("ok") => Ok(()),
            Some(why) => Err(why.to_owned()),
            None => {
                return Err(Fault::new(FaultKind::Internal, "the command in the sandbox broke off").into());
            }
        };
    }
    Ok((held, list))
}

/// The trials, for a plan.
struct Trials<'p> {
    plan: Option<&'p SandboxPlan>,
    list: Vec<Trial>,
}

impl Trials<'_> {
    fn add(
        &mut self,
        what: impl Into<String>,
        deed: &'static str,
        target: impl TriedOn,
        promised: Option<bool>,
    ) {
        // Without a plan nothing is promised.
        let promised = promised.filter(|_| self.plan.is_some());
        if let Some(target) = target.text() {
            self.list.push(Trial { what: what.into(), deed, target, promised, went: Ok(()) });
        }
    }

    fn may_write(&self, place: &Path) -> bool {
        let place = place.canonicalize().unwrap_or_else(|_| place.to_owned());
        self.plan.is_some_and(|plan| plan.writable.iter().any(|root| place.starts_with(root)))
    }
}

/// The target of an attempt, as an argument. A path that is no text is not tried.
trait TriedOn {
    fn text(&self) -> Option<String>;
}

impl TriedOn for &Path {
    fn text(&self) -> Option<String> {
        self.to_str().map(str::to_owned)
    }
}

impl TriedOn for &PathBuf {
    fn text(&self) -> Option<String> {
        self.to_str().map(str::to_owned)
    }
}

impl TriedOn for std::net::SocketAddr {
    fn text(&self) -> Option<String> {
        Some(self.to_string())
    }
}

/// Starts this program in the sandbox and returns what it says.
async fn report_of(
    servers: &Arc<ForkServers>,
    list: &[Trial],
    plan: Option<&SandboxPlan>,
    directory: &Path,
) -> Result<String, Failure> {
    let own = child::own_guard()?;
    let command = own.to_str().ok_or_else(|| Fault::invalid("the path of this program is no text"))?;
    let mut args = vec!["sandbox".to_owned(), "try".to_owned(), "--".to_owned()];
    args.extend(
        list.iter().filter(|trial| !trial.deed.is_empty()).map(|t| format!("{}={}", t.deed, t.target)),
    );
    let launch = Launch { command: command.to_owned(), args, env: Default::default(), cwd: None };
    let order = Order { launch: &launch, directory, guard: Some(&own) };
    let mut child = servers.start(&order, plan, Through::Pipes)?;
    let (mut said, mut why) = (String::new(), String::new());
    child.stdout.read_to_string(&mut said).await?;
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut why).await?;
    }
    if child.life.ended().await.success() {
        return Ok(said);
    }
    Err(refused(io::Error::other(why.trim().trim_start_matches("tectum guard: "))))
}

fn refused(error: io::Error) -> Failure {
    Fault::new(FaultKind::Permission, error.to_string()).into()
}

/// A file that shows whether a path can be read: itself, or the first below it.
#[expect(clippy::disallowed_methods, reason = "the user's own command looks for what it will try to read")]
fn first_file(path: &Path) -> Option<PathBuf> {
    let mut open = vec![path.to_owned()];
    let mut left = MOST_LOOKED_AT;
    while let Some(path) = open.pop() {
        match path.symlink_metadata() {
            Ok(found) if found.is_file() => return Some(path),
            Ok(found) if found.is_dir() && left > 0 => {
                let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
                open.extend(entries.take(left).map(|entry| entry.path()));
                left -= 1;
            }
            _ => {}
        }
    }
    None
}

impl Try {
    /// One line for each deed, in order.
    fn report(&self) -> String {
        let line = |deed: &String| match done(deed) {
            Ok(()) => "ok\n".to_owned(),
            Err(error) => format!("{}\n", error.to_string().replace('\n', " ")),
        };
        self.deeds.iter().map(line).collect()
    }
}

#[expect(clippy::disallowed_methods, reason = "the deed is what is tried")]
fn done(deed: &str) -> io::Result<()> {
    match deed.split_once('=') {
        Some(("read", path)) => std::fs::File::open(path).map(drop),
        Some(("change", place)) => {
            let made = Path::new(place).join(format!("{MADE}-{}", std::process::id()));
            std::fs::File::create_new(&made)?;
            std::fs::remove_file(made)
        }
        Some(("tcp", address)) => TcpStream::connect(address).map(drop),
        Some(("udp", address)) => {
            UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.send_to(b"test", address).map(drop)
        }
        Some(("unix", path)) => UnixStream::connect(path).map(drop),
        _ => Err(io::Error::other("there is no such deed")),
    }
}

fn data(held: Sandboxed, trials: &[Trial]) -> Value {
    let each = trials.iter().map(|trial| {
        json!({
            "what": trial.what, "may": trial.went.is_ok(), "promised": trial.promised,
            "kept": trial.is_kept(), "why": trial.went.as_ref().err(),
        })
    });
    json!({ "sandbox": held.word(), "tried": each.collect::<Vec<_>>() })
}

fn text(held: Sandboxed, trials: &[Trial], screen: &Screen) -> String {
    let mut out = match held {
        Sandboxed::Enforced { .. } => {
            "Commands of agents are held by the kernel here. Tried just now, a command\n"
        }
        Sandboxed::OptedOut => {
            "The sandbox is off: commands of agents may do all that you may. Tried just now, one\n"
        }
    }
    .to_owned();
    for trial in trials {
        let (colour, word) =
            if trial.went.is_ok() { (Colour::Green, "can") } else { (Colour::Cyan, "cannot") };
        let what = harmless(&trial.what).into_owned();
        let broken = if trial.is_kept() {
            String::new()
        } else {
            let why =
                trial.went.as_ref().err().map(|why| format!(" ({})", harmless(why))).unwrap_or_default();
            format!("  {}{why}", screen.paint(Colour::Red, "- this is not what is promised"))
        };
        out.push_str(&format!("  {}  {what}{broken}\n", screen.paint(colour, &format!("{word:6}"))));
    }
    if matches!(held, Sandboxed::Enforced { .. }) {
        out.push_str("\nNames can be listed anywhere; what stands in closed files cannot be read.\n");
    }
    out
}
