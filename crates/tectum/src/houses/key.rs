//! The key of a house: equal for two processes only if no client would notice a difference between them.

use std::path::Path;

use crate::{
    Config, Sources,
    config::keys::{KEYS, Key},
    reload,
};

/// Variables in which processes differ that were started from two terminals. No server and no command
/// behaves otherwise because of them.
const OF_TERMINALS: &[&str] = &[
    "ALACRITTY_WINDOW_ID",
    "COLORTERM",
    "COLUMNS",
    "GNOME_TERMINAL_SCREEN",
    "GPG_TTY",
    "ITERM_SESSION_ID",
    "KITTY_PID",
    "KITTY_WINDOW_ID",
    "KONSOLE_DBUS_SESSION",
    "KONSOLE_DBUS_WINDOW",
    "LINES",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "SSH_TTY",
    "STY",
    "TERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "TMUX_PANE",
    "VTE_VERSION",
    "WEZTERM_PANE",
    "WINDOW",
    "WINDOWID",
    "XDG_SESSION_ID",
    "ZELLIJ_PANE_ID",
    "_",
];
/// The lines of `/proc/self/status` about what a process may do.
const RIGHTS: &[&str] = &["Umask:", "Groups:", "CapEff:", "NoNewPrivs:", "Seccomp:"];
/// What a process can see of the machine.
const NAMESPACES: &[&str] = &["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"];
/// The settings of how a house is reached, which are no business of who joins it.
const DOORS: &[&str] = &["http", "serve"];

/// The key of a house of this process: same program, folder, environment and rights, same flags, and the
/// same settings where a running house does not follow them.
pub fn key(config: &Config, sources: &Sources) -> String {
    let mut parts = KeyParts(blake3::Hasher::new());
    parts.add(env!("CARGO_PKG_VERSION").as_bytes());
    parts.add(program().as_bytes());
    parts.add(config.directory.as_os_str().as_encoded_bytes());
    let here = std::env::current_dir().unwrap_or_default();
    parts.add(here.as_os_str().as_encoded_bytes());
    parts.add(sources.file.as_deref().unwrap_or(Path::new("")).as_os_str().as_encoded_bytes());
    for (key, text, _) in sources.flags.iter().filter(|(key, ..)| counts(key)) {
        parts.add(format!("{}={text}", key.path()).as_bytes());
    }
    let mut environment: Vec<_> = sources.environment.iter().collect();
    environment.sort();
    for (name, value) in environment {
        if !OF_TERMINALS.iter().any(|known| name == known) {
            parts.add(name.as_encoded_bytes());
            parts.add(value.as_encoded_bytes());
        }
    }
    rights().iter().for_each(|line| parts.add(line.as_bytes()));
    for key in KEYS.iter().filter(|key| counts(key) && !reload::is_live(key)) {
        parts.add(format!("{}: {:?}", key.path(), config.said(key)).as_bytes());
    }
    parts.0.finalize().to_hex()[..32].to_owned()
}

fn counts(key: &Key) -> bool {
    !DOORS.contains(&key.section)
}

/// Parts that do not run into each other.
struct KeyParts(blake3::Hasher);

impl KeyParts {
    fn add(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }
}

/// Which file this program is.
fn program() -> String {
    match rustix::fs::stat("/proc/self/exe") {
        Ok(file) => {
            format!(
                "{} {} {} {} {}",
                file.st_dev, file.st_ino, file.st_size, file.st_mtime, file.st_mtime_nsec
            )
        }
        Err(_) => std::env::current_exe().unwrap_or_default().display().to_string(),
    }
}

/// What the system lets this process do and see, where the system tells.
#[expect(clippy::disallowed_methods, reason = "the system's own record of a process")]
fn rights() -> Vec<String> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let status = read("/proc/self/status");
    let lines = status.lines().filter(|line| RIGHTS.iter().any(|right| line.starts_with(right)));
    let namespace = |name: &&str| {
        let seen = std::fs::read_link(format!("/proc/self/ns/{name}")).unwrap_or_default();
        seen.display().to_string()
    };
    let limits = read("/proc/self/limits");
    lines.map(str::to_owned).chain(NAMESPACES.iter().map(namespace)).chain([limits]).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test works on its own files")]
mod tests {
    use super::*;
    use crate::config::keys;

    fn sources(home: &Path) -> Sources {
        Sources {
            directory: home.to_owned(),
            environment: vec![("PATH".into(), "/bin".into()), ("TERM".into(), "xterm".into())],
            ..Sources::default()
        }
    }

    fn of(sources: &Sources) -> String {
        key(&sources.load().expect("settings"), sources)
    }

    #[test]
    fn what_a_client_would_notice_makes_another_key() {
        let (home, other) = (tempfile::tempdir().expect("made"), tempfile::tempdir().expect("made"));
        let same = sources(home.path());
        let base = of(&same);
        assert_eq!((base.len(), &base), (32, &of(&same)));
        let mut terminal = same.clone();
        terminal.environment[1].1 = "screen".into();
        terminal.environment.reverse();
        assert_eq!(of(&terminal), base, "another terminal is the same");
        let flag = |key, text: &str| (key, text.to_owned(), "--flag".to_owned());
        let mut joins = same.clone();
        joins.flags = vec![flag(&keys::JOIN, "auto"), flag(&keys::LISTEN, "127.0.0.1:1")];
        assert_eq!(of(&joins), base, "how it is reached is no difference");
        let mut variable = same.clone();
        variable.environment[0].1 = "/usr/bin".into();
        let mut profile = same.clone();
        profile.flags = vec![flag(&keys::PROFILE, "lean")];
        let mut file = same.clone();
        let user = other.path().join("user.toml");
        file.user_file = Some(user.clone());
        std::fs::write(user, "[journal]\nrecord = false\n").expect("written");
        for changed in [variable, profile, file, sources(other.path())] {
            assert_ne!(of(&changed), base, "{changed:?}");
        }
    }

    #[test]
    fn settings_that_a_running_house_follows_are_no_difference() {
        let home = tempfile::tempdir().expect("made");
        let base = of(&sources(home.path()));
        std::fs::write(home.path().join("tectum.toml"), "[permissions]\ndeny = [\"run_shell\"]\n")
            .expect("written");
        assert_eq!(of(&sources(home.path())), base);
    }
}
