//! Children without a guard: pipes, environment, log, and the end of a tree by its mark.

use std::collections::BTreeMap;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::Secret;

fn launch(command: &str, args: &[&str]) -> Launch {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    Launch { command: command.into(), args, env: BTreeMap::new(), cwd: None }
}

fn begin(launch: &Launch, directory: &Path) -> (Child, Arc<Stderr>) {
    let log = Arc::new(Stderr::new());
    let child = start(&Order { launch, directory, guard: None }, Arc::clone(&log)).expect("starts");
    (child, log)
}

async fn all_output(child: &mut Child) -> String {
    let mut text = String::new();
    child.stdout.read_to_string(&mut text).await.expect("readable");
    text
}

/// Processes with this text in their environment.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the test asks the system about the processes it started")]
fn survivors(text: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("readable").flatten();
    let environments = processes.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    environments.filter(|bytes| memchr::memmem::find(bytes, text.as_bytes()).is_some()).count()
}

#[tokio::test]
async fn what_goes_in_comes_out() {
    let (mut child, _) = begin(&launch("cat", &[]), Path::new("/"));
    let long = "x".repeat(3 * 1024 * 1024);
    let Child { stdin, stdout, .. } = &mut child;
    let mut back = vec![0; long.len()];
    let (sent, received) = tokio::join!(stdin.write_all(long.as_bytes()), stdout.read_exact(&mut back));
    sent.expect("sent");
    received.expect("received");
    assert!(back == long.as_bytes());
    assert!(child.stop().await.success());
}

#[tokio::test]
async fn the_environment_is_the_one_that_was_made() {
    let mut launch = launch("env", &[]);
    launch.env.insert("OWN_KEY".into(), Secret::new("value"));
    let (mut child, _) = begin(&launch, Path::new("/"));
    let text = all_output(&mut child).await;
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_once('=')).map(|pair| pair.0).collect();
    assert!(names.contains(&"OWN_KEY") && names.contains(&"PATH") && names.contains(&"TECTUM_GUARDED"));
    assert!(text.contains("EFFERENT_COPY_DISABLE=1\n"));
    // The test runner sets many of these.
    assert!(!names.iter().any(|name| name.starts_with("CARGO") || name.starts_with("NEXTEST")), "{names:?}");
}

#[tokio::test]
async fn it_starts_where_it_should() {
    let scratch = tempfile::tempdir().expect("a directory");
    let place = scratch.path().canonicalize().expect("there");
    let mut launch = launch("pwd", &[]);
    let (mut child, _) = begin(&launch, &place);
    assert_eq!(all_output(&mut child).await.trim_end(), place.to_str().expect("text"));
    launch.cwd = Some("/".into());
    let (mut child, _) = begin(&launch, &place);
    assert_eq!(all_output(&mut child).await, "/\n");
    launch.cwd = Some(place.join("none"));
    let order = Order { launch: &launch, directory: &place, guard: None };
    let said = start(&order, Arc::default()).expect_err("refused").to_string();
    assert!(said.contains("none is not a directory to start in"), "{said}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    for (guard, command) in [(None, "tectum-has-no-such-server"), (Some(Path::new("/none")), "./nor-this")] {
        let launch = launch(command, &[]);
        let order = Order { launch: &launch, directory: Path::new("/"), guard };
        let said = start(&order, Arc::default()).expect_err("refused").to_string();
        assert!(said.starts_with("there is no program "), "{said}");
    }
}

#[tokio::test]
async fn last_words_are_in_the_log_when_it_has_ended() {
    let script = "echo one >&2; printf '\\033[1mtwo' >&2; exit 3";
    let (mut child, log) = begin(&launch("sh", &["-c", script]), Path::new("/"));
    assert_eq!(child.ended().await.code(), Some(3));
    assert_eq!(child.ended().await.code(), Some(3), "it may be asked twice");
    assert_eq!(log.lines(), ["one", r"\u{1b}[1mtwo"]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_stubborn_tree_is_found_by_its_mark() {
    let unique = format!("TREE={}", mark().expect("random"));
    let script = "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 1000' & (setsid sleep 1000 &) ; echo up; \
                  while :; do sleep 1000; done";
    for dropped in [false, true] {
        let mut launch = launch("sh", &["-c", script]);
        launch.env.insert("TREE".into(), Secret::new(&unique["TREE=".len()..]));
        let (mut child, _) = begin(&launch, Path::new("/"));
        let mut up = [0; 3];
        child.stdout.read_exact(&mut up).await.expect("it comes up");
        // A process that is just being started has no environment to look at yet.
        while survivors(&unique) < 3 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        if dropped {
            drop(child);
        } else {
            child.stop().await;
            assert_eq!(survivors(&unique), 0);
        }
        // Each look is at a later moment; the runner ends a test that never gets there.
        while survivors(&unique) > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn memory_is_bounded_for_the_child_and_what_it_starts() {
    const MOST: u64 = 512 * 1024 * 1024;
    // The limits are read after a line has come in, when they are set for sure.
    let launch = launch("sh", &["-c", "read line; sh -c 'cat /proc/self/limits'"]);
    let order = Order { launch: &launch, directory: Path::new("/"), guard: None };
    let mut child = start_within(&order, Some(MOST), Arc::new(Stderr::new())).expect("starts");
    child.stdin.write_all(b"go\n").await.expect("written");
    let limits = all_output(&mut child).await;
    let line = limits.lines().find(|line| line.starts_with("Max data size")).expect("told");
    assert_eq!(line.split_whitespace().nth(3), Some(MOST.to_string().as_str()), "{line}");
    child.stop().await;
}
