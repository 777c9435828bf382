//! Names a rule of the house hides below a granted directory, and moves that cannot be made.

use std::path::Path;

use tectum_security::{Access, Allowlist, Durability, Flow, Hide, PathError, Reason, SafePath};

use crate::scene::{Scene, list, open, read, rename, write};

fn hiding(path: SafePath) -> SafePath {
    let secret = |name: &str| name == "a/secrets" || name.starts_with("a/secrets/");
    path.hiding(Hide::new(move |name| secret(name).then(|| "deny rule `*(a/secrets/**)`".to_owned())))
}

fn ruled(error: PathError) {
    let PathError::Denied(denied) = error else { panic!("{error}") };
    assert!(matches!(denied.reason, Reason::Ruled { .. }), "{denied}");
    assert!(denied.to_string().contains("deny rule `*(a/secrets/**)`"), "{denied}");
}

#[test]
fn hidden_names_are_counted_and_never_shown() {
    let scene = Scene::new();
    scene.file("a/secrets/x", "x").file("a/open", "y");
    let allowed = scene.allowlist();
    let folder = hiding(open(&allowed, "a", Access::Read).expect("opens"));
    let listing = folder.list(10).expect("listed");
    assert_eq!((listing.entries.len(), listing.denied), (1, 1));
    let root = hiding(open(&allowed, ".", Access::Read).expect("opens"));
    let report = root.walk(2, (), |folder| {
        for entry in folder.entries.clone() {
            assert_ne!(entry.name, "secrets");
            folder.descend(&entry.name, ());
        }
        Flow::Continue
    });
    assert_eq!(report.expect("walked").denied, 1);
}

#[test]
fn what_stands_beside_a_missing_name_is_told_without_hidden_ones() {
    let scene = Scene::new();
    scene.file("a/secrets/x", "x").file("a/open", "y").file("a/.env", "z").file("lone/file", "w");
    let allowed = scene.allowlist();
    let missing = hiding(open(&allowed, "a/opne", Access::Read).expect("opens")).missing();
    assert_eq!(
        (missing.beside, missing.name, missing.dangling),
        (vec!["open".to_owned()], "opne".into(), false)
    );
    // Nor does a link tell of one.
    scene.link("a/secrets/x", "to-secret").link("a/open", "to-open").link("a/.env", "to-env");
    let root = hiding(open(&allowed, ".", Access::Read).expect("opens"));
    let target = |name: &str| root.link_target(name.as_ref());
    assert_eq!(target("to-open"), Some("a/open".to_owned()));
    assert_eq!((target("to-secret"), target("to-env"), target("a/open")), (None, None, None));
    // Where single files are all that may be reached, nothing beside them is told.
    scene.file("lone/gone", "v");
    let lone = Allowlist::builder().tracked(scene.root.join("lone/gone")).build().expect("a snapshot");
    let gone = scene.root.join("lone/gone");
    std::fs::remove_file(&gone).expect("removed");
    let missing = open(&lone, gone.to_str().expect("UTF-8"), Access::Read).expect("opens").missing();
    assert!(missing.beside.is_empty(), "{missing:?}");
}

#[test]
fn a_path_below_is_judged_by_its_words() {
    let scene = Scene::new();
    scene.file("a/open", "y");
    let allowed = scene.allowlist();
    let folder = hiding(open(&allowed, "a", Access::Read).expect("opens"));
    let check = |path: &str, expect: bool| assert_eq!(folder.hides_below(Path::new(path)), expect, "{path}");
    check("open", false);
    check("not/there/yet", false);
    check("", false);
    check("./open", false);
    check("secrets", true);
    check("secrets/deep/x", true);
    check("b/.env", true);
    check("b/.ENV.local/x", true);
    check("keys/server.pem", true);
    check("config.toml", true);
    check("../open", true);
    check("/open", true);
    // A directory that is gone is judged like one that is there.
    let gone = hiding(open(&allowed, "a/secrets/gone", Access::Read).expect("opens"));
    assert!(gone.hides_below(Path::new("x")));
}

#[test]
fn a_directory_that_holds_a_hidden_name_stays() {
    let scene = Scene::new();
    scene.file("a/secrets/x", "x").file("b/secrets/y", "y");
    let allowed = scene.allowlist();
    let folder = hiding(open(&allowed, "a", Access::Remove).expect("opens"));
    ruled(folder.remove(true, Durability::Rename).expect_err("refused"));
    let free = open(&allowed, "c", Access::Place).expect("opens");
    ruled(folder.rename_to(&free, false, Durability::Rename).expect_err("refused"));
    assert_eq!(scene.text("a/secrets/x"), "x");
    // Nor is a tree moved to where a name in it would be hidden.
    std::fs::rename(scene.root.join("a"), scene.root.join("d")).expect("moved");
    let other = open(&allowed, "b", Access::Remove).expect("opens");
    let place = hiding(open(&allowed, "a", Access::Place).expect("opens"));
    ruled(other.rename_to(&place, false, Durability::Rename).expect_err("refused"));
    assert_eq!(scene.names("."), ["b", "d"]);
}

#[test]
fn a_move_that_cannot_be_is_told_in_a_sentence() {
    let scene = Scene::new();
    scene.file("a/x", "x").file("file", "f");
    let allowed = scene.allowlist();
    for to in ["a/b", "a/new/b"] {
        let said = rename(&allowed, "a", to).expect_err("refused").to_string();
        assert_eq!(said, format!("cannot move a into itself: {to} lies below it"));
    }
    let said = rename(&allowed, "a", "file").expect_err("refused").to_string();
    assert_eq!(said, "cannot move the directory a to file: what stands there is not a directory");
    assert_eq!(scene.names("a"), ["x"]);
}

#[test]
fn a_slash_at_the_end_means_a_directory() {
    let scene = Scene::new();
    scene.file("a/x", "x");
    let allowed = scene.allowlist();
    for path in ["new/", "a/x/", "a/new//"] {
        for access in [Access::Write, Access::Place] {
            let denied = open(&allowed, path, access).expect_err("refused");
            assert_eq!(denied.reason, Reason::Slash, "{path}");
        }
    }
    for path in ["a/x/", "a/x//", "a/x/.", "a/x/./", "a/x/./.", "a/x//."] {
        for access in [Access::Write, Access::Place, Access::Remove] {
            let denied = open(&allowed, path, access).expect_err(path);
            assert_eq!(denied.reason, Reason::Slash, "{path} {access:?}");
        }
        assert!(read(&allowed, path).is_err(), "{path}");
    }
    for path in ["a/x/..", "a/x/../y", "a/x/../../new", "a/x/./../y"] {
        for access in [Access::Read, Access::Write, Access::Place, Access::Remove] {
            let opened = open(&allowed, path, access);
            assert!(opened.is_err() || opened.is_ok_and(|path| path.file().is_err()), "{path} {access:?}");
        }
        assert!(write(&allowed, path, "x").is_err(), "{path}");
        assert!(list(&allowed, path).is_err(), "{path}");
    }
    assert!(matches!(write(&allowed, "a/", "x"), Err(PathError::NotAFile { .. })));
    assert!(matches!(write(&allowed, "a/.", "x"), Err(PathError::NotAFile { .. })));
    assert!(open(&allowed, "a/.", Access::Read).expect("opens").list(1).is_ok());
    assert!(open(&allowed, "a/", Access::Read).expect("opens").list(1).is_ok());
    assert_eq!(read(&allowed, "a/x").expect("read"), "x");
    assert_eq!(scene.names("."), ["a"]);
}
