//! Approvals across changes, processes and accidents.

use serde_json::value::RawValue;

use super::*;
use crate::{
    peer::Item,
    spec::{Launch, Transport},
};

fn offer(description: &str) -> Arc<Offer> {
    let json = format!(r#"{{"name":"t","description":"{description}","inputSchema":{{}}}}"#);
    let raw = RawValue::from_string(json).expect("JSON");
    let tools = vec![Item::read(raw, "name", &mut Vec::new()).expect("an item")];
    Arc::new(Offer { tools, fresh: true, known: true, ..Offer::default() })
}

fn spec(name: &str) -> ServerSpec {
    let launch = Launch { command: "true".into(), args: Vec::new(), env: Default::default(), cwd: None };
    ServerSpec::new(ServerName::parse(name).expect("a name"), Transport::Stdio(launch))
}

/// Another process approves all that waits.
fn approve(state: &Path, server: &ServerName) {
    let _lock = Pins::lock(state).expect("locked");
    let mut pins = Pins::read(state, server).expect("read").expect("there");
    pins.changes().iter().for_each(|change| pins.approve(change));
    pins.write(state, server).expect("kept");
}

#[test]
fn a_change_of_one_server_touches_no_other_ones_file() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let approvals = Arc::new(Approvals::new(Some(scratch.path().to_owned())));
    let specs: Vec<ServerSpec> = (0..100).map(|n| spec(&format!("s{n}"))).collect();
    let mut offers: Vec<Arc<Offer>> = specs.iter().map(|_| offer("first")).collect();
    let compose = |offers: &[Arc<Offer>]| -> (Vec<Arc<Standing>>, usize, usize) {
        let before = approvals.counted();
        let all = specs.iter().zip(offers).map(|(spec, offer)| approvals.standing(spec, offer)).collect();
        let now = approvals.counted();
        (all, now.0 - before.0, now.1 - before.1)
    };
    let (first, looks, reads) = compose(&offers);
    assert_eq!((looks, reads), (100, 100));
    let (again, looks, reads) = compose(&offers);
    assert_eq!((looks, reads), (0, 0));
    assert!(first.iter().zip(&again).all(|(one, other)| Arc::ptr_eq(one, other)));
    offers[7] = offer("second");
    let (all, looks, reads) = compose(&offers);
    assert_eq!((looks, reads), (1, 0), "whoever changed, and nobody else");
    assert!(all[7].withholds("t") && !all[8].withholds("t"));

    // What we wrote ourselves is not read again.
    assert!(!approvals.is_stale());
    approvals.look_again();
    let (_, looks, reads) = compose(&offers);
    assert_eq!((looks, reads), (100, 0));

    approve(scratch.path(), &specs[7].name);
    assert!(approvals.is_stale());
    approvals.look_again();
    let (all, _, reads) = compose(&offers);
    assert_eq!(reads, 1);
    assert!(!all[7].withholds("t"));
}

#[test]
fn what_another_process_approved_is_not_written_over() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let server = spec("s");
    let approvals = Arc::new(Approvals::new(Some(scratch.path().to_owned())));
    approvals.standing(&server, &offer("first"));
    assert!(approvals.standing(&server, &offer("second")).withholds("t"));
    approve(scratch.path(), &server.name);
    // Nobody told us: but the server's next offer has its file looked at.
    assert!(!approvals.standing(&server, &offer("second")).withholds("t"));
    approvals.keep_only(|_| false);
    assert!(
        approvals.standing(&server, &offer("first")).withholds("t"),
        "a server that comes back is read anew"
    );
}

#[test]
fn approvals_given_while_a_server_changes_are_never_lost() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let (state, servers) = (scratch.path().to_owned(), ["a", "b"].map(spec));
    let approvals = Arc::new(Approvals::new(Some(state.clone())));
    for server in &servers {
        approvals.standing(server, &offer("0"));
    }
    for round in 1..=100 {
        let text = round.to_string();
        assert!(servers.iter().all(|server| approvals.standing(server, &offer(&text)).withholds("t")));
        // A person approves while both offers are listed anew, again and again.
        std::thread::scope(|scope| {
            for server in &servers {
                scope.spawn(|| approve(&state, &server.name));
                scope.spawn(|| (0..3).for_each(|_| drop(approvals.standing(server, &offer(&text)))));
            }
        });
        approvals.look_again();
        for server in &servers {
            assert!(!approvals.standing(server, &offer(&text)).withholds("t"), "round {round}");
        }
    }
}

#[test]
fn what_cannot_be_read_withholds_and_is_left_as_it_is() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let (state, server) = (scratch.path(), spec("s"));
    let file = Pins::file(state, &server.name);
    let approvals = Arc::new(Approvals::new(Some(state.to_owned())));
    assert!(!approvals.standing(&server, &offer("first")).withholds("t"), "a first meeting");
    assert!(file.exists());
    for broken in ["", "{", "{\"version\":99}"] {
        tectum_state::replace(&file, broken.as_bytes(), Lasts::Process).expect("written");
        for standing in
            [approvals.standing(&server, &offer("other")), approvals.standing(&server, &offer("first"))]
        {
            assert!(standing.withholds("t") && standing.withholds_instructions(), "{broken}");
        }
        assert_eq!(tectum_state::read(&file).expect("there").as_deref(), Some(broken.as_bytes()));
    }
    tectum_state::set_aside(&file, "removed").expect("moved");
    assert!(approvals.standing(&server, &offer("first")).lost().is_some_and(|why| why.ends_with("are gone")));
    assert!(!file.exists());
    // Another run knows the server from what it remembers.
    let approvals = Arc::new(Approvals::new(Some(state.to_owned())));
    approvals.expect(&server.name);
    assert!(approvals.standing(&server, &offer("first")).withholds("t") && !file.exists());
}

#[test]
fn what_cannot_be_kept_is_compared_with_all_the_same() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let (state, server) = (scratch.path().join("state"), spec("s"));
    tectum_state::replace(&state, b"no folder", Lasts::Process).expect("written");
    let approvals = Arc::new(Approvals::new(Some(state)));
    assert!(!approvals.standing(&server, &offer("first")).withholds("t"));
    assert!(approvals.standing(&server, &offer("second")).withholds("t"));
}

#[test]
fn a_server_that_was_never_met_has_nothing_written() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let server = spec("s");
    let approvals = Arc::new(Approvals::new(Some(scratch.path().to_owned())));
    approvals.standing(&server, &Arc::default());
    assert!(!Pins::file(scratch.path(), &server.name).exists());
    approvals.remember(&server.name, |state| Some((state.join("s.json"), b"{}".to_vec())));
    assert!(!scratch.path().join("s.json").exists(), "no memory without approvals");
}

#[test]
fn nothing_is_kept_without_a_place() {
    let (server, approvals) = (spec("s"), Arc::new(Approvals::new(None)));
    let first = approvals.standing(&server, &offer("first"));
    let second = approvals.standing(&server, &offer("second"));
    assert!(!second.withholds("t") && Arc::ptr_eq(&first, &second));
    assert_eq!(approvals.counted(), (0, 0));
}
