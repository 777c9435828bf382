//! What a command may do, as data, and how a fork server is told of it.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// Where people and their programs keep secrets, below the home directory. Nothing of a project is
/// built from these.
pub const CLOSED_AT_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    // Clouds and clusters.
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".config/gcloud",
    ".config/doctl",
    ".config/rclone",
    ".config/op",
    ".config/sops",
    ".config/age",
    ".terraformrc",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".s3cfg",
    ".boto",
    // Logins of tools.
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings-security.xml",
    // Agents and browsers.
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".config/tectum",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".mozilla",
    ".thunderbird",
    ".Xauthority",
    ".ICEauthority",
    // What was typed.
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
];
/// The same for the machine, where Tectum runs as its administrator.
pub const CLOSED_ON_MACHINE: &[&str] = &["/etc/shadow", "/etc/gshadow", "/etc/ssl/private", "/run/secrets"];

/// What a command may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxPlan {
    /// The only directories (or single files) that it may change: the roots, and its [`Scratch`].
    pub writable: Vec<PathBuf>,
    /// What it may not open, wherever that lies, and whether or not it is there. All else is readable.
    pub closed: Vec<PathBuf>,
    /// Whether it may reach the network.
    pub network: bool,
    /// Whether it may use sockets with a name in the file system. Behind those are programs that do
    /// anything for whoever asks, such as Docker and the user's own session.
    pub unix_sockets: bool,
}

const WRITE: &str = "--write";
const CLOSED: &str = "--closed";
const NETWORK: &str = "--network";
const UNIX_SOCKETS: &str = "--unix-sockets";
/// Stands before the others, so that a plan with nothing in it is one.
const SANDBOX: &str = "--sandbox";

impl SandboxPlan {
    /// Closes what is usually secret for a user with this home.
    pub fn close_usual(&mut self, home: Option<&Path>) {
        let at_home = home.into_iter().flat_map(|home| CLOSED_AT_HOME.iter().map(|name| home.join(name)));
        self.closed.extend(at_home.chain(CLOSED_ON_MACHINE.iter().map(PathBuf::from)));
    }

    /// As words for a fork server.
    pub(crate) fn to_args(&self) -> Vec<&OsStr> {
        let mut args = vec![SANDBOX];
        args.extend(self.network.then_some(NETWORK));
        args.extend(self.unix_sockets.then_some(UNIX_SOCKETS));
        let mut args: Vec<&OsStr> = args.into_iter().map(OsStr::new).collect();
        for (flag, paths) in [(WRITE, &self.writable), (CLOSED, &self.closed)] {
            args.extend(paths.iter().flat_map(|path| [OsStr::new(flag), path.as_os_str()]));
        }
        args
    }

    /// Takes one word and what follows it, if it is about a plan.
    pub(crate) fn take_arg(
        plan: &mut Option<Self>,
        word: &str,
        rest: &mut impl Iterator<Item = OsString>,
    ) -> Option<()> {
        if word == SANDBOX {
            *plan = Some(Self::default());
            return Some(());
        }
        let plan = plan.as_mut()?;
        match word {
            NETWORK => plan.network = true,
            UNIX_SOCKETS => plan.unix_sockets = true,
            WRITE => plan.writable.push(rest.next()?.into()),
            CLOSED => plan.closed.push(rest.next()?.into()),
            _ => return None,
        }
        Some(())
    }
}
