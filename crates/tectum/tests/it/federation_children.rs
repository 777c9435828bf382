//! Servers behind the real guard: nothing they started outlives them, however it was started and
//! whoever is killed.
#![cfg(target_os = "linux")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use tectum::peers::{
    child::{self, Child, Order, Stderr},
    spec::{Launch, Secret},
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::rig::Rig;

const TECTUM: &str = env!("CARGO_BIN_EXE_tectum");
/// After this long a survivor is one. The code's own bound is a second; a loaded machine gets more.
const PATIENCE: Duration = Duration::from_secs(5);

/// One tree, whose every process carries a variable of the test's own.
struct Grove {
    rig: Rig,
    unique: String,
}

impl Grove {
    fn new() -> Self {
        let rig = Rig::new();
        let unique = format!("grove-{}", rig.outside().display());
        Self { rig, unique }
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        self.rig.write(name, text);
        self.rig.project().join(name)
    }

    fn launch(&self, script: &Path) -> Launch {
        let env = BTreeMap::from([("GROVE".to_owned(), Secret::new(&*self.unique))]);
        Launch { command: "sh".into(), args: vec![script.to_str().expect("text").into()], env, cwd: None }
    }

    /// Starts a script, and waits until it says that it is up.
    async fn grow(&self, script: &str) -> Child {
        let script = self.script("root.sh", script);
        let mut child = self.start(&self.launch(&script));
        let mut up = [0; 3];
        child.stdout.read_exact(&mut up).await.expect("it comes up");
        assert_eq!(&up, b"up\n");
        child
    }

    fn start(&self, launch: &Launch) -> Child {
        let order = Order { launch, directory: &self.rig.project(), guard: Some(Path::new(TECTUM)) };
        child::start(&order, Arc::new(Stderr::new())).expect("starts")
    }

    /// The processes of this tree that are alive, the guard among them.
    fn alive(&self) -> Vec<u32> {
        let is_ours = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).contains(&self.unique);
        let processes = fs::read_dir("/proc").expect("readable").flatten();
        processes
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid: &u32| fs::read(format!("/proc/{pid}/environ")).is_ok_and(is_ours))
            .collect()
    }

    /// Waits until they are as many as `STUBBORN` starts: one that just becomes another program
    /// shows no environment for a moment.
    #[track_caller]
    fn assert_grown(&self) {
        let start = Instant::now();
        while self.alive().len() < 7 && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(self.alive().len() >= 7, "only {:?} came up", self.alive());
    }

    /// Waits for the last of them.
    #[track_caller]
    fn assert_gone(&self, what: &str) {
        let start = Instant::now();
        while !self.alive().is_empty() && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        let left = self.alive();
        assert!(left.is_empty(), "{what}: {} processes survived", left.len());
        eprintln!("{what}: all gone after {:?}", start.elapsed());
    }
}

impl Drop for Grove {
    /// A failed test must not leave its tree behind.
    fn drop(&mut self) {
        for pid in self.alive() {
            kill(pid);
        }
    }
}

fn kill(pid: u32) {
    let done = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
    assert!(done.is_ok(), "kill runs");
}

/// Everything a server may do to stay.
const STUBBORN: &str = "trap '' TERM HUP INT
sleep 1000 &
setsid sleep 1000 &
(setsid sh -c 'trap \"\" TERM; sleep 1000 & sleep 1000' &)
env -i GROVE=\"$GROVE\" setsid sleep 1000 &
nohup sh -c 'sleep 1000 & wait' >/dev/null 2>&1 &
echo up
while :; do sleep 1000; done
";

#[tokio::test]
async fn input_and_output_pass_the_guard_and_so_do_their_ends() {
    let grove = Grove::new();
    let script = grove.script("echo.sh", "cat; exit 7");
    let mut child = grove.start(&grove.launch(&script));
    child.stdin.write_all(b"hello\n").await.expect("sent");
    let mut back = [0; 6];
    child.stdout.read_exact(&mut back).await.expect("received");
    assert_eq!(&back, b"hello\n");
    let Child { stdin, mut stdout, mut life } = child;
    drop(stdin);
    assert_eq!(stdout.read(&mut back).await.expect("the end"), 0);
    assert_eq!(life.ended().await.code(), Some(7), "the code is the server's own");

    // The other way round: a server that closes its output while it lives.
    let mut child = grove.grow("echo up; exec >&-; sleep 1000").await;
    assert_eq!(child.stdout.read(&mut back).await.expect("the end"), 0);
    assert!(!grove.alive().is_empty());
    child.stop().await;
    grove.assert_gone("a silent server");
}

#[tokio::test]
async fn a_signal_is_told_as_shells_tell_it() {
    let grove = Grove::new();
    let mut child = grove.grow("echo up; kill -USR1 $$").await;
    assert_eq!(child.ended().await.code(), Some(128 + 10));
    let child = grove.grow("echo up; sleep 1000").await;
    assert_eq!(child.stop().await.code(), Some(128 + 15));
}

#[tokio::test]
async fn a_polite_server_ends_in_its_own_time() {
    let grove = Grove::new();
    let left = grove.rig.project().join("left");
    let script = format!("echo up; read line; echo bye > {}", left.display());
    let child = grove.grow(&script).await;
    assert!(child.stop().await.success());
    assert_eq!(grove.rig.read("left"), "bye\n");
    let script =
        format!("trap 'echo term > {}; exit 0' TERM; echo up; while :; do sleep 0.01; done", left.display());
    let child = grove.grow(&script).await;
    assert!(child.stop().await.success());
    assert_eq!(grove.rig.read("left"), "term\n");
}

#[tokio::test]
async fn nothing_survives_a_stop() {
    let grove = Grove::new();
    let child = grove.grow(STUBBORN).await;
    grove.assert_grown();
    child.stop().await;
    assert_eq!(grove.alive(), [0; 0], "when stop returns, all are gone");
}

#[tokio::test]
async fn nothing_survives_a_drop() {
    let grove = Grove::new();
    drop(grove.grow(STUBBORN).await);
    // The holder's task needs the runtime.
    let gone = tokio::task::spawn_blocking(move || grove.assert_gone("dropped"));
    gone.await.expect("no survivors");
}

#[tokio::test]
async fn nothing_survives_the_server() {
    let grove = Grove::new();
    let script = STUBBORN.replace("while :; do sleep 1000; done", "exit 0");
    let mut child = grove.grow(&script).await;
    assert!(child.ended().await.success());
    assert_eq!(grove.alive(), [0; 0]);
}

#[test]
fn nothing_survives_the_runtime() {
    let grove = Grove::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let child = runtime.block_on(grove.grow(STUBBORN));
    drop(runtime);
    grove.assert_gone("without a runtime");
    drop(child);
}

#[tokio::test]
async fn nothing_survives_the_guard() {
    let grove = Grove::new();
    // One that leaves its session and clears its environment is known to the guard alone.
    let script = STUBBORN.replace("env -i GROVE=\"$GROVE\" setsid", "env -i GROVE=\"$GROVE\"");
    let mut child = grove.grow(&script).await;
    kill(child.id());
    child.ended().await;
    assert_eq!(grove.alive(), [0; 0]);
    // Nor does it help to hold the guard, who is the only one to know an orphan of that kind.
    let orphan = STUBBORN.replace(
        "env -i GROVE=\"$GROVE\" setsid sleep 1000 &",
        "(env -i GROVE=\"$GROVE\" setsid sleep 1000 &)",
    );
    assert_ne!(orphan, STUBBORN);
    let child = grove.grow(&orphan).await;
    grove.assert_grown();
    let held = Command::new("kill").args(["-STOP", &child.id().to_string()]).status().expect("runs");
    assert!(held.success());
    child.stop().await;
    assert_eq!(grove.alive(), [0; 0]);
    assert_eq!(zombies(), 0);
}

/// A stand-in for Tectum starts a guard and is killed.
#[test]
fn nothing_survives_tectum() {
    for seed in 0..5 {
        let grove = Grove::new();
        let script = grove.script("root.sh", STUBBORN);
        let mut parent = Command::new("sh")
            .args(["-c", "\"$0\" guard --parent $$ -- sh \"$1\" & wait"])
            .args([Path::new(TECTUM), &script])
            .env("GROVE", &grove.unique)
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut up = [0; 3];
        let mut stdout = parent.stdout.take().expect("piped");
        std::io::Read::read_exact(&mut stdout, &mut up).expect("it comes up");
        grove.assert_grown();
        parent.kill().expect("killed");
        parent.wait().expect("reaped");
        grove.assert_gone(&format!("kill -9, round {seed}"));
    }
}

#[test]
fn a_guard_whose_parent_is_gone_starts_nothing() {
    let grove = Grove::new();
    let left = grove.rig.project().join("left");
    let output = grove
        .rig
        .tectum()
        .args(["guard", "--parent", "1", "--", "touch"])
        .arg(&left)
        .stdin(Stdio::null())
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(126));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is gone"), "{output:?}");
    assert!(!left.exists());
}

#[tokio::test]
async fn heavy_nothing_survives_of_random_trees() {
    for seed in 1..=20 {
        let grove = Grove::new();
        let nodes = plant(&grove, seed);
        let child = grove.grow(". ./node0.sh").await;
        // Some are cut while they still grow.
        if seed % 2 == 0 {
            let start = Instant::now();
            while grove.alive().len() < nodes && start.elapsed() < PATIENCE {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        let before = grove.alive().len();
        let start = Instant::now();
        match seed % 3 {
            0 => drop(child),
            _ => _ = child.stop().await,
        }
        eprintln!("tree {seed}: {before} alive, {:?} to stop", start.elapsed());
        let gone = tokio::task::spawn_blocking(move || grove.assert_gone(&format!("tree {seed}")));
        gone.await.expect("no survivors");
    }
    assert_eq!(zombies(), 0);
}

/// Writes a random tree of scripts, each of which starts its children in some way.
fn plant(grove: &Grove, seed: u64) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % most
    };
    let nodes = 5 + random(15);
    let mut scripts: Vec<String> = (0..nodes)
        .map(|_| ["", "trap '' TERM\n", "trap '' TERM HUP INT\n"][random(3) as usize].to_owned())
        .collect();
    for node in 1..nodes {
        let run = format!("sh ./node{node}.sh");
        let how = match random(6) {
            0 => format!("{run} &"),
            1 => format!("setsid {run} &"),
            2 => format!("(setsid {run} &)"),
            3 => format!("env -i GROVE=\"$GROVE\" PATH=\"$PATH\" setsid {run} &"),
            4 => format!("nohup {run} >/dev/null 2>&1 &"),
            _ => format!("( ( {run} & ) & )"),
        };
        let parent = random(node) as usize;
        scripts[parent].push_str(&format!("{how}\n"));
    }
    scripts[0].push_str("echo up\n");
    for (node, script) in scripts.iter().enumerate() {
        grove.script(&format!("node{node}.sh"), &format!("{script}while :; do sleep 1000; done\n"));
    }
    nodes as usize
}

#[tokio::test]
async fn heavy_nothing_survives_of_a_storm() {
    for (what, storm) in [
        ("a loop", "i=0; echo up; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done; wait"),
        ("sessions", "i=0; echo up; while [ $i -lt 300 ]; do setsid sleep 1000 & i=$((i+1)); done; wait"),
        (
            "doubling",
            "grow() { if [ $1 -gt 0 ]; then grow $(($1-1)) & grow $(($1-1)) & fi; sleep 1000; }; echo up; grow 7",
        ),
    ] {
        let grove = Grove::new();
        let child = grove.grow(&format!("trap '' TERM\n{storm}\n")).await;
        let start = Instant::now();
        child.stop().await;
        eprintln!("{what}: {:?} to stop", start.elapsed());
        grove.assert_gone(what);
    }
}

#[tokio::test]
async fn heavy_starting_and_stopping_leaves_nothing_behind() {
    let grove = Grove::new();
    let mut counts = Vec::new();
    for round in 0..53 {
        let child = grove.grow("sleep 1000 & echo up; cat").await;
        child.stop().await;
        if round >= 2 {
            counts.push(fs::read_dir("/proc/self/fd").expect("readable").count());
        }
    }
    assert_eq!(counts.first(), counts.last(), "descriptors: {counts:?}");
    assert_eq!(zombies(), 0);
    grove.assert_gone("fifty starts");
}

/// A Tectum that another one starts meets the mark, and is not confused by it.
#[test]
fn the_mark_is_no_setting() {
    let rig = Rig::new();
    let output = rig.tectum().env("TECTUM_GUARDED", "word").args(["config", "check"]).output().expect("runs");
    assert!(output.status.success(), "{output:?}");
}

/// Children of this process that nobody reaped.
fn zombies() -> usize {
    let parent = format!(" Z {} ", std::process::id());
    let processes = fs::read_dir("/proc").expect("readable").flatten();
    let stats = processes.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats.filter(|stat| stat.contains(&parent)).count()
}
