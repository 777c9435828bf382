//! Waiting for a folder: it ends when nobody wants it any more, and takes few threads.

use std::{
    fs::File,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
};

use rustix::fs::{FlockOperation, flock};
use tectum_security::{Abandoned, Access, Batch, PathError};

use crate::scene::{LIMIT, Scene, open, write};

/// What another process does: it has a handle of its own.
fn hold(scene: &Scene) -> File {
    let folder = File::open(&scene.root).expect("opens");
    flock(&folder, FlockOperation::LockExclusive).expect("locked");
    folder
}

#[test]
fn a_cancelled_call_waits_for_no_folder() {
    let scene = Scene::new();
    scene.file("file", "old");
    let allowed = scene.allowlist();
    let held = hold(&scene);
    let cancelled = Arc::new(AtomicBool::new(false));
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        // One waits for the other process, one for the first.
        for _ in 0..2 {
            let asked = cancelled.clone();
            let place = open(&allowed, "file", Access::Write).expect("opens");
            let place = place.unless_abandoned(Abandoned::new(move || asked.load(Ordering::SeqCst)));
            let tell = tell.clone();
            scope.spawn(move || tell.send(Batch::open(&[&place], LIMIT).map(drop)).expect("heard"));
        }
        assert!(told.try_recv().is_err(), "both wait");
        cancelled.store(true, Ordering::SeqCst);
        for _ in 0..2 {
            let ended = told.recv().expect("it ends while the folder is held");
            assert!(matches!(ended, Err(PathError::Abandoned(_))), "{ended:?}");
        }
    });
    drop(held);
    write(&allowed, "file", "new").expect("the folder is free again");
}

#[test]
fn few_threads_wait_behind_another_process() {
    const CALLS: usize = 64;
    const MAY_WAIT: usize = 16;
    let scene = Scene::new();
    let allowed = scene.allowlist();
    let held = hold(&scene);
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        for call in 0..CALLS {
            let (allowed, tell) = (&allowed, tell.clone());
            scope.spawn(move || tell.send(write(allowed, &format!("{call}"), "new")).expect("heard"));
        }
        // So many answers come while the folder is held; nothing but its release brings the rest.
        for _ in 0..CALLS - MAY_WAIT {
            let ended = told.recv().expect("an answer");
            assert!(matches!(ended, Err(PathError::Busy(_))), "{ended:?}");
        }
        drop(held);
        for _ in 0..MAY_WAIT {
            told.recv().expect("an answer").expect("whoever waited gets its turn");
        }
    });
    assert_eq!(scene.names(".").len(), MAY_WAIT);
}
