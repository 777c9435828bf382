//! A process beside us that swaps folders for links while we work: nothing is read outside,
//! nothing is changed outside, at any depth.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tectum_security::Allowlist;

use crate::scene::{CANARY, Scene, list, read, remove, rename, walk, write};

/// How long the attack lasts.
const LASTS: Duration = Duration::from_secs(5);
/// Folders that change places with a link to the like-named folder outside.
const SWAPPED: &[&str] = &["sub", "sub/deep", "other/sub", "other/sub/deep"];
/// How the calls spell the folders they work in.
const CALLED: &[&str] =
    &["sub", "sub/deep", "other/sub", "other/sub/deep", "sub/../sub/deep", "other/sub/deep/.."];

/// One kind of call in one folder: what it gave back, or nothing.
type Work = fn(&Allowlist, &str) -> Option<String>;

const WORK: &[(&str, Work)] = &[
    ("read", |allowed, folder| read(allowed, &format!("{folder}/file.txt")).ok()),
    ("list", |allowed, folder| list(allowed, folder).ok().map(|names| names.join("\n"))),
    ("walk", |allowed, folder| {
        let found = walk(allowed, folder).ok()?;
        Some(found.into_values().flatten().collect())
    }),
    ("write", |allowed, folder| write(allowed, &format!("{folder}/file.txt"), "inside").ok()?),
    ("create", |allowed, folder| write(allowed, &format!("{folder}/new/made.txt"), "inside").ok()?),
    ("remove", |allowed, folder| remove(allowed, &format!("{folder}/new")).ok().map(|()| String::new())),
    ("move", |allowed, folder| {
        let (here, there) = (format!("{folder}/file.txt"), format!("{folder}/moved.txt"));
        let moved = rename(allowed, &here, &there);
        rename(allowed, &there, &here).or(moved).ok().map(|()| String::new())
    }),
];

#[test]
fn heavy_no_call_escapes_a_renaming_attacker() {
    let scene = Scene::new();
    for folder in SWAPPED {
        scene.file(&format!("{folder}/file.txt"), "inside");
        let target = folder.strip_prefix("other/").unwrap_or(folder);
        // An absolute link and a relative one: the kernel walks them differently.
        let up = "../".repeat(folder.split('/').count());
        scene.link(scene.outside.join(target), &format!("{folder}.absolute"));
        scene.link(format!("{up}outside/{target}"), &format!("{folder}.relative"));
    }
    // A name that only the outside has: no listing may show it.
    fs::write(scene.outside.join("sub").join(CANARY), CANARY).expect("made");
    fs::write(scene.outside.join("sub/deep").join(CANARY), CANARY).expect("made");
    let before = scene.outside_now();
    let allowed = scene.allowlist();
    let (swaps, naive) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let counts: Vec<[AtomicUsize; 2]> = WORK.iter().map(|_| Default::default()).collect();
    let until = Instant::now() + LASTS;
    let folders = || CALLED.iter().copied().cycle().take_while(|_| Instant::now() < until);
    std::thread::scope(|scope| {
        scope.spawn(|| attack(&scene, until, &swaps));
        scope.spawn(|| {
            let escapes = folders().filter(|folder| escapes_naively(&scene, folder)).count();
            naive.store(escapes, Ordering::Relaxed);
        });
        for ((name, work), counts) in WORK.iter().zip(&counts) {
            let allowed = &allowed;
            scope.spawn(move || {
                for folder in folders() {
                    let given = work(allowed, folder);
                    counts[usize::from(given.is_some())].fetch_add(1, Ordering::Relaxed);
                    assert!(!given.is_some_and(|text| text.contains(CANARY)), "{name} in {folder} escaped");
                }
            });
        }
    });
    let (swaps, naive) = (swaps.into_inner(), naive.into_inner());
    println!("{swaps} swaps; resolving first and opening later escaped {naive} times");
    assert!(naive > 0, "the attack must succeed against a lesser door, or it proves nothing");
    for ((name, _), [failed, done]) in WORK.iter().zip(counts) {
        let (failed, done) = (failed.into_inner(), done.into_inner());
        println!("{name}: {done} done, {failed} refused or failed, 0 outside");
        assert!(done > 20, "{name} must also succeed, or it proves nothing");
    }
    assert_eq!(scene.outside_now(), before);
}

/// The door we do not have: resolve the name, judge it, open it.
fn escapes_naively(scene: &Scene, folder: &str) -> bool {
    let Ok(path) = scene.root.join(folder).join("file.txt").canonicalize() else { return false };
    path.starts_with(&scene.root) && fs::read_to_string(path).is_ok_and(|text| text.contains(CANARY))
}

/// Swaps each folder in turn, in one step and in two, and always puts it back.
fn attack(scene: &Scene, until: Instant, swaps: &AtomicUsize) {
    for folder in SWAPPED.iter().cycle().take_while(|_| Instant::now() < until) {
        for link in ["absolute", "relative"] {
            let (real, link) = (scene.root.join(folder), scene.root.join(format!("{folder}.{link}")));
            let exchange = || renameat_with(CWD, &real, CWD, &link, RenameFlags::EXCHANGE);
            if exchange().is_ok() {
                std::thread::yield_now();
                let _ = exchange();
                swaps.fetch_add(2, Ordering::Relaxed);
            }
            let away = real.with_extension("away");
            if fs::rename(&real, &away).is_ok() {
                if fs::rename(&link, &real).is_ok() {
                    std::thread::yield_now();
                    let _ = fs::rename(&real, &link);
                    swaps.fetch_add(2, Ordering::Relaxed);
                }
                // A call may have made the folder anew in the meantime, and may be working in it.
                while fs::rename(&away, &real).is_err() && Instant::now() < until {
                    let _ = fs::remove_dir_all(&real);
                }
            }
        }
    }
}
