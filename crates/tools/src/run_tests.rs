//! Programs that write too much, never end, or are not there.

use std::sync::{
    LazyLock,
    atomic::{AtomicUsize, Ordering},
};

use super::*;

const NEVER: &(dyn Fn() -> bool + Sync) = &|| false;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

fn order<'o>(program: &'o str, args: &[&str], folder: &'o Path) -> Order<'o> {
    let args = args.iter().map(OsString::from).collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    static FREE: LazyLock<Confinement> = LazyLock::new(Confinement::none);
    let environment = vec![("PATH".into(), path)];
    Order { program: program.as_ref(), args, folder, environment, confinement: &FREE }
}

fn leash<'l>(stop: &'l (dyn Fn() -> bool + Sync), until: Instant) -> Leash<'l> {
    Leash { who: "it", slow: "ask for less", stop, until }
}

fn shell(script: &str, most: usize) -> Ran {
    let leash = leash(NEVER, soon());
    run(&order("sh", &["-c", script], Path::new("/")), &leash, most).expect("runs")
}

#[test]
fn what_it_writes_and_how_it_ends_is_told() {
    let ran = shell("echo out; echo err >&2; exit 3", 100);
    assert_eq!(
        (ran.out.as_slice(), ran.err.as_str(), ran.success, ran.cut),
        (&b"out\n"[..], "err\n", false, false)
    );
    assert!(shell("exec >&-; exec 2>&-; sleep 0.05", 100).success);
    assert!(shell("cat", 100).success, "nothing to read");
}

#[test]
fn it_sees_only_the_environment_it_is_given() {
    let ran = shell("env", 10_000);
    let seen = String::from_utf8(ran.out).expect("UTF-8");
    let names: Vec<_> = seen.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert!(names.iter().all(|name| ["PATH", "PWD", "SHLVL", "_", "OLDPWD"].contains(name)), "{names:?}");
}

#[test]
fn too_much_is_cut_and_ends_it() {
    let ran = shell("yes", 100_000);
    assert_eq!((ran.out.len(), ran.cut), (100_000, true));
    let ran = shell("echo 12345", 6);
    assert_eq!((ran.out.len(), ran.cut), (6, false));
    // Complaints are dropped, not waited for.
    let ran = shell("yes | head -c 1000000 >&2; echo done", 100);
    assert_eq!((ran.out.as_slice(), ran.err.len()), (&b"done\n"[..], COMPLAINTS));
}

#[test]
fn a_call_that_is_over_ends_all_it_started() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let script = "sleep 1000 & echo $! > child; echo $$ > leader; wait";
    // The call is over as soon as both have told their numbers.
    let told = || ["child", "leader"].iter().all(|file| number(&scratch.path().join(file)).is_some());
    let fault = run(&order("sh", &["-c", script], scratch.path()), &leash(&told, soon()), 100);
    assert_eq!(fault.expect_err("ended").kind, FaultKind::Cancelled);
    for file in ["leader", "child"] {
        let pid = number(&scratch.path().join(file)).and_then(Pid::from_raw).expect("a number");
        gone(pid);
    }
}

#[test]
fn a_deadline_ends_it_too() {
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) > 1_000_000;
    let until = Instant::now() + Duration::from_millis(50);
    let fault = run(&order("sleep", &["1000"], Path::new("/")), &leash(&stop, until), 100);
    assert_eq!(fault.expect_err("ended").kind, FaultKind::Timeout);
}

#[test]
fn what_is_not_installed_is_named() {
    let leash = leash(NEVER, soon());
    let missing = run(&order("no-such-program-here", &[], Path::new("/")), &leash, 100).expect_err("missing");
    assert_eq!(missing.kind, FaultKind::NotFound);
    assert_eq!(missing.message, "no-such-program-here is not installed, or not in PATH");
    let nowhere = run(&order("sh", &[], Path::new("/no/such/folder")), &leash, 100).expect_err("missing");
    assert_eq!(nowhere.kind, FaultKind::Conflict);
}

#[expect(clippy::disallowed_methods, reason = "the test reads what its own script wrote")]
fn number(path: &Path) -> Option<i32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// A killed orphan is gone, or a zombie until whoever inherited it looks.
#[expect(clippy::disallowed_methods, reason = "the test asks the system about its own children")]
fn gone(pid: Pid) {
    let until = soon();
    loop {
        let alive = rustix::process::test_kill_process(pid).is_ok();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        let zombie =
            stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")));
        if !alive || zombie {
            return;
        }
        assert!(Instant::now() < until, "{pid:?} still runs");
        std::thread::sleep(PAUSE);
    }
}

#[test]
fn complaints_name_no_places() {
    let check =
        |err: &str, expect: &str| assert_eq!(failed("git", err).message, format!("git failed: {expect}"));
    check(
        "\nfatal: bad config line 1 in file /home/x/.git/config\n",
        "fatal: bad config line 1 in file (a path)",
    );
    check("fatal: '/etc/x' is bad", "fatal: (a path) is bad");
    check("", "it did not say why");
}
