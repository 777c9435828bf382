//! Writing: old or new, never between; what a file is stays what it was; nobody's work is lost.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::Path,
    process::Command,
};

use rustix::fs::XattrFlags;
use tectum_security::{Access, Allowlist, Batch, Change, Durability, PathError, SafePath};

use crate::scene::{
    CHILD, LIMIT, Scene, THROUGH, came_through, child, child_behind, open, read, told, write,
};

fn place(list: &Allowlist, path: &str) -> SafePath {
    open(list, path, Access::Write).unwrap_or_else(|denied| panic!("{denied}"))
}

fn full(content: &str) -> Change {
    Change::Write(content.into())
}

#[test]
fn mode_owner_and_attributes_stay() {
    let scene = Scene::new();
    scene.file("file", "old");
    let path = scene.root.join("file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4751)).expect("set");
    // Only the superuser gives files away; others keep what they have.
    let _ = chown(&path, Some(1234), Some(4321));
    let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o4751));
    let attribute = |value: &mut [u8]| rustix::fs::getxattr(&path, "user.note", value);
    let _ = rustix::fs::setxattr(&path, "user.note", b"kept", XattrFlags::empty());
    let (mut was, mut is) = ([0_u8; 16], [0_u8; 16]);
    let (had, before) = (attribute(&mut was[..]), fs::metadata(&path).expect("there"));
    for durability in [Durability::Full, Durability::Rename] {
        let target = place(&scene.allowlist(), "file");
        let batch = Batch::open(&[&target], LIMIT).expect("opens");
        batch.commit(vec![full("new")], durability).expect("written");
        let after = fs::metadata(&path).expect("there");
        assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
        assert_eq!((attribute(&mut is[..]), is), (had, was));
    }
    assert_eq!(scene.text("file"), "new");
    assert_eq!(scene.names("."), ["file"], "no temporary file stays");
}

#[test]
fn a_new_file_honours_the_umask() {
    let scene = Scene::new();
    write(&scene.allowlist(), "new/file", "text").expect("written");
    fs::write(scene.root.join("plain"), "text").expect("made");
    fs::create_dir(scene.root.join("folder")).expect("made");
    let mode = |path: &str| fs::metadata(scene.root.join(path)).expect("there").mode();
    assert_eq!(mode("new/file"), mode("plain"));
    assert_eq!(mode("new"), mode("folder"));
}

#[test]
fn a_link_is_written_through_and_stays_a_link() {
    let scene = Scene::new();
    scene.file("folder/real", "old").link("folder/real", "way").link("way", "far");
    for path in ["way", "far"] {
        write(&scene.allowlist(), path, path).expect("written");
        assert_eq!(scene.text("folder/real"), path);
        assert!(scene.root.join(path).is_symlink());
    }
    assert_eq!(scene.names("folder"), ["real"]);
}

#[test]
fn an_outsiders_write_is_a_conflict() {
    let scene = Scene::new();
    scene.file("file", "old!").file("gone", "old");
    let allowed = scene.allowlist();
    let check = |path: &str, change: Change, outsider: &dyn Fn(&Path)| {
        let target = place(&allowed, path);
        let batch = Batch::open(&[&target], LIMIT).expect("opens");
        outsider(&scene.root.join(path));
        let committed = batch.commit(vec![change], Durability::Rename);
        assert!(matches!(committed, Err(PathError::Changed(_))), "{path}: {committed:?}");
    };
    check("file", full("ours"), &|path| fs::write(path, "more than before").expect("written"));
    assert_eq!(scene.text("file"), "more than before");
    // The same length, and the clock of the content turned back.
    check("file", full("ours"), &|path| {
        let was = fs::metadata(path).and_then(|meta| meta.modified()).expect("a time");
        let file = fs::File::options().write(true).open(path).expect("opens");
        std::os::unix::fs::FileExt::write_all_at(&file, b"MORE", 0).expect("written");
        file.set_modified(was).expect("set");
    });
    assert_eq!(scene.text("file"), "MORE than before");
    check("file", Change::Delete, &|path| fs::write(path, "precious").expect("written"));
    assert_eq!(scene.text("file"), "precious");
    check("new", full("ours"), &|path| fs::write(path, "theirs").expect("written"));
    assert_eq!(scene.text("new"), "theirs");
    check("gone", full("ours"), &|path| fs::remove_file(path).expect("removed"));
    assert!(!scene.root.join("gone").exists());
    assert_eq!(scene.names("."), ["file", "new"], "no temporary file stays");
}

#[test]
fn what_became_a_link_or_another_folder_is_not_followed() {
    let scene = Scene::new();
    scene.file("file", "old").file("folder/file", "old");
    let before = scene.outside_now();
    let allowed = scene.allowlist();
    let (swapped, inside) = (place(&allowed, "file"), place(&allowed, "folder/file"));
    fs::remove_file(scene.root.join("file")).expect("removed");
    scene.link("../outside/file.txt", "file");
    assert!(matches!(Batch::open(&[&swapped], LIMIT), Err(PathError::Changed(_))));
    // The folder was judged, so its handle is good wherever the folder is now; the link that
    // stands at its name was not, and is not followed.
    fs::rename(scene.root.join("folder"), scene.root.join("moved")).expect("moved");
    scene.link("../outside", "folder");
    let batch = Batch::open(&[&inside], LIMIT).expect("opens");
    batch.commit(vec![full("new")], Durability::Rename).expect("written");
    assert_eq!(scene.text("moved/file"), "new");
    assert_eq!(scene.outside_now(), before);
}

#[test]
fn a_batch_that_fails_takes_everything_back() {
    let scene = Scene::new();
    scene.file("a", "old a").file("b", "old b").file("c", "old c").file("d", "old d");
    let allowed = scene.allowlist();
    let inode = |name: &str| fs::metadata(scene.root.join(name)).expect("there").ino();
    let before = [inode("a"), inode("d")];
    // The third of five changes meets an outsider's write.
    let paths = ["a", "d", "c", "b", "new/deep/file"].map(|path| place(&allowed, path));
    let batch = Batch::open(&paths.each_ref(), LIMIT).expect("opens");
    fs::write(scene.root.join("c"), "theirs").expect("written");
    let changes = vec![full("A"), Change::Delete, full("C"), full("B"), full("N")];
    assert!(matches!(batch.commit(changes, Durability::Full), Err(PathError::Changed(_))));
    let texts = ["a", "b", "c", "d"].map(|name| scene.text(name));
    assert_eq!(texts, ["old a", "old b", "theirs", "old d"]);
    assert_eq!([inode("a"), inode("d")], before, "the very files are back, not copies");
    assert_eq!(scene.names("."), ["a", "b", "c", "d"], "no folder and no temporary file stays");
}

#[test]
fn made_folders_go_again_when_a_later_change_cannot_be_prepared() {
    let scene = Scene::new();
    scene.file("file", "old");
    let allowed = scene.allowlist();
    let paths = ["one/two/new", "one/three/new", "blocked/x/new"].map(|path| place(&allowed, path));
    let batch = Batch::open(&paths.each_ref(), LIMIT).expect("opens");
    fs::write(scene.root.join("blocked"), "in the way").expect("written");
    assert!(batch.commit(vec![full("1"), full("2"), full("3")], Durability::Rename).is_err());
    assert_eq!(scene.names("."), ["blocked", "file"]);
    // And when a move fails.
    let from = open(&allowed, "missing", Access::Remove).expect("opens");
    let to = open(&allowed, "new/place/file", Access::Place).expect("opens");
    assert!(matches!(from.rename_to(&to, false, Durability::Rename), Err(PathError::NotFound(_))));
    let from = open(&allowed, "file", Access::Remove).expect("opens");
    let to = open(&allowed, "blocked/place/file", Access::Place).expect("opens");
    assert!(from.rename_to(&to, false, Durability::Rename).is_err());
    assert_eq!(scene.names("."), ["blocked", "file"]);
    // Where another has put something in the meantime, it stays.
    let paths = ["shared/new", "blocked"].map(|path| place(&allowed, path));
    let batch = Batch::open(&paths.each_ref(), LIMIT).expect("opens");
    fs::create_dir(scene.root.join("shared")).expect("made");
    fs::write(scene.root.join("shared/theirs"), "text").expect("made");
    fs::write(scene.root.join("blocked"), "changed").expect("written");
    assert!(batch.commit(vec![full("1"), full("2")], Durability::Rename).is_err());
    assert_eq!(scene.names("shared"), ["theirs"]);
}

#[test]
fn moving_never_replaces_unless_asked() {
    let scene = Scene::new();
    scene.file("from", "from").file("to", "to").file("folder/file", "text");
    let allowed = scene.allowlist();
    let ends = |from: &str, to: &str| {
        let from = open(&allowed, from, Access::Remove).expect("opens");
        (from, open(&allowed, to, Access::Place).expect("opens"))
    };
    let (from, to) = ends("from", "to");
    assert!(matches!(from.rename_to(&to, false, Durability::Rename), Err(PathError::Exists(_))));
    let _ = from.rename_to(&to, true, Durability::Rename).expect("moved");
    assert_eq!((scene.text("to"), scene.names(".").len()), ("from".into(), 2));
    let (from, to) = ends("folder", "folder/inner/folder");
    assert!(from.rename_to(&to, false, Durability::Rename).is_err(), "a folder cannot move into itself");
    assert_eq!(scene.names("folder"), ["file"]);
    let (from, to) = ends("to", "folder");
    assert!(from.rename_to(&to, true, Durability::Rename).is_err(), "a file does not replace a folder");
}

#[test]
fn what_a_killed_writer_left_is_swept_and_a_living_ones_is_not() {
    let scene = Scene::new();
    let mut child = Command::new("true").spawn().expect("starts");
    child.wait().expect("ends");
    let dead = format!(".tectum-{}-00000000000000ff.tmp", child.id());
    let living = format!(".tectum-{}-00000000000000ff.tmp", std::process::id());
    scene.file(&dead, "half").file(&living, "half").file(".tectum-notes.tmp", "not ours");
    write(&scene.allowlist(), "file", "text").expect("written");
    let mut left = vec![living, ".tectum-notes.tmp".into(), "file".into()];
    left.sort();
    assert_eq!(scene.names("."), left);
}

#[test]
fn leftovers_are_swept_without_a_write() {
    let scene = Scene::new();
    let mut child = Command::new("true").spawn().expect("starts");
    child.wait().expect("ends");
    let dead = |folder: &str| format!("{folder}/.tectum-{}-00000000000000ff.tmp", child.id());
    let living = format!("deep/er/.tectum-{}-00000000000000ff.tmp", std::process::id());
    let kept = "deep/file.kept-00000000000000ff";
    for file in [&dead("."), &dead("deep/er"), &dead(".git"), &living, kept, "deep/er/.tectum-notes.tmp"] {
        scene.file(file, "half");
    }
    std::os::unix::fs::symlink(&scene.outside, scene.root.join("out")).expect("made");
    fs::write(scene.outside.join(dead(".")), "not ours").expect("written");
    let before = scene.outside_now();
    assert_eq!(scene.allowlist().sweep(), 2);
    assert_eq!(scene.names("."), [".git", "deep", "out"]);
    assert_eq!(scene.names(".git").len(), 1, "nothing is changed where nothing may be");
    assert_eq!(scene.names("deep"), ["er", "file.kept-00000000000000ff"]);
    let own = living.rsplit('/').next().expect("a name");
    let mut left = vec![own, ".tectum-notes.tmp"];
    left.sort_unstable();
    assert_eq!(scene.names("deep/er"), left);
    assert_eq!(scene.outside_now(), before);
}

/// Appends a line to the file, trying again for as long as others are in the way.
fn append(list: &Allowlist, line: &str) {
    loop {
        let target = place(list, "shared/log");
        let batch = match Batch::open(&[&target], LIMIT) {
            Ok(batch) => batch,
            Err(PathError::Busy(_)) => continue,
            Err(error) => panic!("{error}"),
        };
        let mut content = batch.slots()[0].current().unwrap_or_default().to_vec();
        content.extend(line.as_bytes());
        content.push(b'\n');
        match batch.commit(vec![Change::Write(content)], Durability::Rename) {
            Ok(()) => return,
            // Its folder was made by another between the gate and here.
            Err(PathError::Changed(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn lines(scene: &Scene) -> Vec<String> {
    let mut lines: Vec<_> = scene.text("shared/log").lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn heavy_sixty_four_threads_lose_no_line() {
    let scene = Scene::new();
    let allowed = scene.allowlist();
    std::thread::scope(|scope| {
        for thread in 0..64 {
            let allowed = &allowed;
            scope.spawn(move || (0..10).for_each(|n| append(allowed, &format!("{thread}:{n}"))));
        }
    });
    let mut expect: Vec<_> =
        (0..64).flat_map(|thread| (0..10).map(move |n| format!("{thread}:{n}"))).collect();
    expect.sort();
    assert_eq!(lines(&scene), expect);
    assert_eq!(scene.names("shared"), ["log"]);
}

#[test]
fn child_appends() {
    let Some(allowed) = told() else { return };
    (0..100).for_each(|n| append(&allowed, &format!("{}:{n}", std::process::id())));
}

#[test]
fn heavy_two_processes_lose_no_line() {
    let scene = Scene::new();
    let children = [(), ()].map(|()| child("writes::child_appends", &scene.root).spawn().expect("starts"));
    let ids = children.each_ref().map(std::process::Child::id);
    for mut child in children {
        assert!(child.wait().expect("ends").success());
    }
    let mut expect: Vec<_> = ids.iter().flat_map(|id| (0..100).map(move |n| format!("{id}:{n}"))).collect();
    expect.sort();
    assert_eq!(lines(&scene), expect);
}

#[test]
fn child_fills() {
    let Some(allowed) = told() else { return };
    let big = "x".repeat(512 * 1024);
    for path in ["file", "new/deep/file"] {
        assert!(matches!(write(&allowed, path, &big), Err(PathError::Io { .. })), "{path}");
    }
    // A batch whose last file does not fit changes none.
    let paths = ["other", "file"].map(|path| place(&allowed, path));
    let batch = Batch::open(&paths.each_ref(), LIMIT).expect("opens");
    assert!(batch.commit(vec![full("small"), Change::Write(big.into())], Durability::Full).is_err());
    assert_eq!(read(&allowed, "file").expect("read"), "old");
    assert_eq!(read(&allowed, "other").expect("read"), "old");
    let root = std::env::var(CHILD).expect("told");
    let mut names: Vec<_> =
        fs::read_dir(root).expect("lists").map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["file", "other"], "no temporary file and no folder stays");
    println!("{THROUGH}");
}

/// Run without the right to pass over permissions, also for the superuser.
#[test]
fn child_may_not_write() {
    let Some(allowed) = told() else { return };
    let root = std::env::var(CHILD).expect("told");
    let file = Path::new(&root).join("file");
    let may = fs::OpenOptions::new().write(true).open(&file).is_ok();
    let target = place(&allowed, "file");
    let batch = Batch::open(&[&target], LIMIT).expect("opens");
    let written = batch.commit(vec![full("new")], Durability::Rename);
    match may {
        true => written.expect("what the system lets us write is written"),
        false => {
            assert!(matches!(written, Err(PathError::WriteProtected(_))), "{written:?}");
            assert_eq!(fs::read_to_string(&file).expect("there"), "old");
            let batch = Batch::open(&[&target], LIMIT).expect("opens");
            // Taking a name away is the folder's to allow.
            batch.commit(vec![Change::Delete], Durability::Rename).expect("deleted");
            assert!(!file.exists());
            println!("{PROTECTED}");
        }
    }
    println!("{THROUGH}");
}

/// What the child says when the permissions held.
const PROTECTED: &str = "the file was protected";

#[test]
fn permissions_of_a_file_are_not_got_round() {
    let scene = Scene::new();
    scene.file("file", "old");
    fs::set_permissions(scene.root.join("file"), fs::Permissions::from_mode(0o444)).expect("set");
    let superuser = fs::metadata(&scene.root).expect("there").uid() == 0;
    let powerless: &[&str] = &["setpriv", "--bounding-set=-dac_override"];
    let tried = Command::new(powerless[0]).args(&powerless[1..]).arg("true").status();
    let lost = superuser && tried.is_ok_and(|status| status.success());
    let program = if lost { powerless } else { &["env"] };
    let output = child_behind(program, "true", "writes::child_may_not_write", &scene.root);
    came_through(&output);
    // Only a superuser who cannot give up anything may write all the same.
    let protected = String::from_utf8_lossy(&output.stdout).contains(PROTECTED);
    assert_eq!(protected, lost || !superuser);
    // A superuser as such writes it, and its mode stays.
    if superuser {
        scene.file("other", "old");
        fs::set_permissions(scene.root.join("other"), fs::Permissions::from_mode(0o444)).expect("set");
        write(&scene.allowlist(), "other", "new").expect("written");
        assert_eq!(fs::metadata(scene.root.join("other")).expect("there").mode() & 0o777, 0o444);
    }
}

/// Run without the right to give files away, also for the superuser.
#[test]
fn child_may_not_give_away() {
    let Some(allowed) = told() else { return };
    let target = place(&allowed, "file");
    let batch = Batch::open(&[&target], LIMIT).expect("opens");
    let written = batch.commit(vec![full("new")], Durability::Rename);
    let refused = matches!(written, Err(PathError::OwnedByOthers { user: 0, group: 4321, .. }));
    assert!(refused, "{written:?}");
    println!("{THROUGH}");
}

#[test]
fn a_group_that_cannot_be_kept_is_named() {
    let scene = Scene::new();
    scene.file("file", "old");
    let path = scene.root.join("file");
    let powerless: &[&str] = &["setpriv", "--bounding-set=-chown"];
    let tried = Command::new(powerless[0]).args(&powerless[1..]).arg("true").status();
    // Only the superuser makes a file of a strange group.
    if chown(&path, Some(0), Some(4321)).is_err() || !tried.is_ok_and(|status| status.success()) {
        return;
    }
    came_through(&child_behind(powerless, "true", "writes::child_may_not_give_away", &scene.root));
    assert_eq!(scene.text("file"), "old");
    assert_eq!(fs::metadata(&path).expect("there").gid(), 4321);
    assert_eq!(scene.names("."), ["file"], "no temporary file stays");
}

/// Two files to be spared, once room is scarce.
fn fills(program: &[&str], first: &str, root: &Path) {
    let first = format!(r#"{first} && printf old >"$0/file" && printf old >"$0/other""#);
    came_through(&child_behind(program, &first, "writes::child_fills", root));
}

/// Ignored signals stay ignored in the child, so the write fails instead of ending it.
const MAY_NOT_GROW: &str = r#"trap "" XFSZ; ulimit -f 64"#;

#[test]
fn a_file_that_may_not_grow_leaves_the_old_one() {
    let scene = Scene::new();
    fills(&["env"], MAY_NOT_GROW, &scene.root);
    assert_eq!(scene.names("."), ["file", "other"]);
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let scene = Scene::new();
    let namespace: &[&str] = &["unshare", "--user", "--map-root-user", "--mount"];
    let mut trial = Command::new(namespace[0]);
    trial.args(&namespace[1..]).args(["mount", "-t", "tmpfs", "trial"]).arg(&scene.root);
    // Where nobody may mount, the size limit stands in: the same refusal at the same call.
    match trial.status().is_ok_and(|status| status.success()) {
        true => fills(namespace, r#"mount -t tmpfs -o size=128k full "$0""#, &scene.root),
        false => fills(&["env"], MAY_NOT_GROW, &scene.root),
    }
}
