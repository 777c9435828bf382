//! The sockets of one house: opened under names that nobody used before, removed at its end. What a killed
//! house left is removed by whoever finds that nobody listens there.

use std::{
    fs::Permissions,
    io,
    os::unix::{
        fs::PermissionsExt as _,
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
};

use super::{address, folder};

/// The ending of the sockets that take requests of the hook API.
const API: &str = "api";
/// The ending of the sockets that take relays; their names begin with the key of the house.
const MCP: &str = "mcp";
/// The most houses that anybody is told of.
const MOST: usize = 256;

/// The open sockets of this house; removed when this is dropped.
#[derive(Debug)]
pub struct Door {
    pub(super) api: UnixListener,
    /// Where the house takes relays.
    pub(super) mcp: Option<UnixListener>,
    files: Vec<PathBuf>,
}

/// The outcome of looking for a house to join.
#[derive(Debug)]
pub(super) enum Entered {
    /// A connection to it.
    Joined(UnixStream),
    /// There was none, and now there is.
    Opened(Door),
}

/// Connects to the house with this key, or opens its sockets; nobody else does so meanwhile.
pub(super) fn enter(folders: &[PathBuf], key: &str) -> io::Result<Entered> {
    in_first(folders, |folder| {
        let _lock = lock(folder)?;
        for path in folder::sockets(folder, MCP).iter().filter(|path| is_for(path, key)) {
            match address::connect(path) {
                Ok(stream) => return Ok(Entered::Joined(stream)),
                // Under the lock nobody is about to listen there.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    tectum_state::remove(path)?;
                }
                Err(_) => {}
            }
        }
        open_in(folder, Some(key)).map(Entered::Opened)
    })
}

fn is_for(path: &Path, key: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_prefix(key).is_some_and(|rest| rest.starts_with('-'))
}

/// What is done in the first folder where that works.
fn in_first<T>(folders: &[PathBuf], act: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "there is no directory for sockets");
    for folder in folders {
        match folder::make(folder).and_then(|()| act(folder)) {
            Ok(done) => return Ok(done),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Opens the sockets of a house. The caller holds the lock.
fn open_in(folder: &Path, key: Option<&str>) -> io::Result<Door> {
    let name = unused()?;
    let api = folder.join(format!("{name}.{API}"));
    let mut door = Door { api: listen(&api)?, mcp: None, files: vec![api] };
    if let Some(key) = key {
        let mcp = folder.join(format!("{key}-{name}.{MCP}"));
        door.mcp = Some(listen(&mcp)?);
        door.files.push(mcp);
    }
    Ok(door)
}

impl Door {
    /// Opens the socket of a house in the first of these folders that can be used; with a key it takes
    /// relays as well.
    pub fn open(folders: &[PathBuf], key: Option<&str>) -> io::Result<Self> {
        in_first(folders, |folder| {
            let _lock = lock(folder)?;
            open_in(folder, key)
        })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // One that stays is refused by the system, and removed by the next who looks.
        self.files.iter().for_each(|file| drop(tectum_state::remove(file)));
    }
}

/// The sockets of all houses that run, in these folders. Those that nobody listens at are removed.
pub fn running(folders: &[PathBuf]) -> Vec<PathBuf> {
    folders.iter().for_each(|folder| drop(living(folder, MCP)));
    let mut found: Vec<PathBuf> = folders.iter().flat_map(|folder| living(folder, API)).collect();
    found.truncate(MOST);
    found
}

fn living(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let sockets = folder::sockets(folder, ending);
    let (living, dead): (Vec<PathBuf>, Vec<PathBuf>) = sockets.into_iter().partition(|path| lives(path));
    // A house that is about to listen holds the lock, so one that is refused under it is dead.
    if !dead.is_empty()
        && let Ok(_lock) = lock(folder)
    {
        let dead = dead.iter().filter(|path| !lives(path));
        dead.for_each(|path| drop(tectum_state::remove(path)));
    }
    living
}

/// True unless nobody listens there.
fn lives(path: &Path) -> bool {
    let refused = [io::ErrorKind::ConnectionRefused, io::ErrorKind::NotFound];
    address::connect(path).err().is_none_or(|error| !refused.contains(&error.kind()))
}

fn listen(path: &Path) -> io::Result<UnixListener> {
    let listener = address::listen(path)?;
    listener.set_nonblocking(true)?;
    // Its folder is closed to others already.
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

fn lock(folder: &Path) -> io::Result<std::fs::File> {
    tectum_state::lock(&folder.join("lock"))
}

/// A name that nobody used before.
fn unused() -> io::Result<String> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test works on its own files")]
mod tests {
    use super::*;

    fn private(path: &Path) {
        std::fs::create_dir_all(path).expect("made");
        std::fs::set_permissions(path, Permissions::from_mode(0o700)).expect("closed");
    }

    #[test]
    fn houses_are_found_and_what_a_dead_one_left_is_removed() {
        let home = tempfile::tempdir().expect("a directory");
        let folders = [home.path().join("run/tectum"), home.path().join("state")];
        assert!(running(&folders).is_empty());
        let (one, two) =
            (Door::open(&folders, None).expect("opened"), Door::open(&folders, None).expect("opened"));
        assert_eq!(running(&folders).len(), 2);
        let mode = folders[0].metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let left = one.files[0].clone();
        assert_eq!(left.metadata().expect("there").permissions().mode() & 0o777, 0o600);
        drop(one);
        assert!(!left.exists(), "it goes with its house");
        // A killed house closes its listener and removes nothing.
        drop(UnixListener::bind(&left).expect("bound"));
        assert!(left.exists());
        assert_eq!(running(&folders), two.files);
        assert!(!left.exists(), "nobody listens there");
    }

    #[test]
    fn a_folder_that_others_may_enter_is_passed_over() {
        let home = tempfile::tempdir().expect("a directory");
        let folders = [home.path().join("open"), home.path().join("own")];
        std::fs::create_dir(&folders[0]).expect("made");
        std::fs::set_permissions(&folders[0], Permissions::from_mode(0o755)).expect("opened");
        let door = Door::open(&folders, None).expect("opened");
        assert_eq!(door.files[0].parent(), Some(folders[1].as_path()));
        let open = Door::open(&folders[..1], None).expect_err("refused").to_string();
        assert!(open.contains("for this user alone"), "{open}");
        drop(UnixListener::bind(folders[0].join("planted.api")).expect("bound"));
        assert_eq!(running(&folders), door.files, "nor is it looked into");
        assert!(folders[0].join("planted.api").exists());
    }

    #[test]
    fn a_folder_with_a_long_name_has_sockets_too() {
        let home = tempfile::tempdir().expect("a directory");
        let folder = home.path().join("a-folder-with-a-name-of-forty-characters".repeat(3)).join("tectum");
        private(&folder);
        let folders = [folder];
        let door = Door::open(&folders, None).expect("opened");
        assert!(door.files[0].as_os_str().len() > 108);
        assert_eq!(running(&folders), door.files);
    }

    #[test]
    fn of_many_that_start_together_one_opens_and_the_others_join() {
        let home = tempfile::tempdir().expect("a directory");
        let folders = [home.path().join("run")];
        let all: Vec<Entered> = std::thread::scope(|scope| {
            let start = || enter(&folders, "key").expect("entered");
            let starting: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            starting.into_iter().map(|one| one.join().expect("ends")).collect()
        });
        let opened = |entered: &&Entered| matches!(entered, Entered::Opened(_));
        assert_eq!(all.iter().filter(opened).count(), 1);
        assert!(matches!(enter(&folders, "ke").expect("entered"), Entered::Opened(_)), "another key");
        drop(all);
        assert!(matches!(enter(&folders, "key").expect("entered"), Entered::Opened(_)), "it ended");
        let left = folders[0].join("key-0.mcp");
        drop(UnixListener::bind(&left).expect("bound"));
        assert!(matches!(enter(&folders, "key").expect("entered"), Entered::Opened(_)), "it was killed");
        assert!(!left.exists());
    }
}
