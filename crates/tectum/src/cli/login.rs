//! `tectum login` and `tectum logout`: leave to use a remote server, and giving it back.
//!
//! Which server a name stands for is looked up by whoever runs these.

use std::path::Path;

use clap::Args;
use serde_json::json;
use tectum::{
    Fault, FaultKind,
    peers::{
        auth,
        spec::{Remote, ServerSpec, Transport},
    },
};
use tokio::runtime::Builder;

use super::{
    failure::Failure,
    screen::{Screen, harmless},
    serve,
};

/// Log in at a remote server.
#[derive(Debug, Args)]
pub(crate) struct Login {
    /// The server's name in the settings
    #[arg(value_name = "NAME")]
    name: String,
    /// Open the page in a browser, too
    #[arg(long)]
    browser: bool,
}

/// Forget the login at a remote server.
#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// The server's name in the settings
    #[arg(value_name = "NAME")]
    name: String,
}

impl Login {
    pub(crate) fn run(
        self,
        find: impl FnOnce(&str) -> Result<ServerSpec, Failure>,
        state: Option<&Path>,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let (spec, state) = (find(&self.name)?, place(state)?);
        let remote = remote(&spec)?;
        let shown = std::cell::Cell::new(false);
        let show = |address: &str| {
            shown.set(true);
            screen.tell(&format!("Open this page to log in at {}:\n\n  {}\n", spec.name, harmless(address)));
            if self.browser
                && let Err(why) = auth::open(address)
            {
                screen.warn(&format!("{why}; open the page by hand"));
            }
        };
        let work = auth::login(&spec.name, remote, state, show);
        let granted = serve::to_the_end(Builder::new_current_thread(), work)?.map_err(|why| {
            let name = &spec.name;
            let hint = if shown.get() {
                "check the message on that page, then run it again".to_owned()
            } else {
                // It did not come so far.
                format!("check that its URL is right and that it responds: `tectum get {name}`")
            };
            Fault::new(FaultKind::Upstream, format!("cannot log in at {name}: {why}")).hint(hint)
        })?;
        let scopes = if granted.scopes.is_empty() {
            String::new()
        } else {
            format!(" ({})", harmless(&granted.scopes.join(" ")))
        };
        screen.answer(
            &json!({ "server": spec.name.as_str(), "scopes": granted.scopes, "issuer": granted.issuer }),
            &screen.ok(&format!("logged in at {}{scopes}", spec.name)),
        )
    }
}

impl Logout {
    pub(crate) fn run(
        self,
        find: impl FnOnce(&str) -> Result<ServerSpec, Failure>,
        state: Option<&Path>,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let (spec, state) = (find(&self.name)?, place(state)?);
        let had = auth::logout(&spec.name, remote(&spec)?, state).map_err(Fault::internal)?;
        let name = spec.name.as_str();
        let done = if had {
            format!("the login at {name} is forgotten")
        } else {
            format!("there was no login at {name}")
        };
        screen.answer(&json!({ "server": name, "forgotten": had }), &screen.ok(&done))
    }
}

/// The address of a server that can want a login.
fn remote(spec: &ServerSpec) -> Result<&Remote, Failure> {
    match &spec.transport {
        Transport::Http(remote) | Transport::Sse(remote) => Ok(remote),
        Transport::Stdio(_) => {
            let message = format!("{} is a local program and needs no login", spec.name);
            let hint = "put its credentials into `env` in its settings";
            Err(Fault::invalid(message).hint(hint).into())
        }
    }
}

fn place(state: Option<&Path>) -> Result<&Path, Failure> {
    state.ok_or_else(|| {
        let message =
            "there is nowhere to keep a login: neither XDG_STATE_HOME nor HOME is set to an absolute path";
        Fault::invalid(message).hint("set one of them").into()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tectum::peers::spec::{Launch, ServerName};

    use super::*;

    const QUIET: Screen =
        Screen { json: false, quiet: true, terminal: false, paints_results: false, paints_errors: false };

    fn refusal(done: Result<(), Failure>) -> String {
        match done.expect_err("refused") {
            Failure::Fault(fault) => fault.message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_remote_servers_have_logins() {
        let launch = Launch { command: "x".into(), args: Vec::new(), env: BTreeMap::new(), cwd: None };
        let spec = ServerSpec::new(ServerName::parse("local").expect("a name"), Transport::Stdio(launch));
        let state = tempfile::tempdir().expect("a directory");
        let login = Login { name: "local".into(), browser: false };
        let said = refusal(login.run(|_| Ok(spec.clone()), Some(state.path()), &QUIET));
        assert!(said.contains("needs no login"), "{said}");
        let logout = Logout { name: "local".into() };
        let said = refusal(logout.run(|_| Ok(spec), None, &QUIET));
        assert!(said.contains("nowhere to keep a login"), "{said}");
    }

    #[test]
    fn a_name_nobody_knows_is_told_as_it_was_found() {
        let unknown = |name: &str| Err(Fault::not_found(format!("no server {name}")).into());
        let login = Login { name: "who".into(), browser: false };
        assert_eq!(refusal(login.run(unknown, None, &QUIET)), "no server who");
    }

    #[test]
    fn a_server_that_cannot_be_reached_is_a_peer_that_failed() {
        let remote = Remote {
            url: "http://127.0.0.1:1/mcp".into(),
            headers: BTreeMap::new(),
            scopes: Vec::new(),
            client_id: None,
            client_secret: None,
        };
        let spec = ServerSpec::new(ServerName::parse("gone").expect("a name"), Transport::Http(remote));
        let state = tempfile::tempdir().expect("a directory");
        let login = Login { name: "gone".into(), browser: false };
        let said = refusal(login.run(|_| Ok(spec.clone()), Some(state.path()), &QUIET));
        assert!(said.starts_with("cannot log in at gone: "), "{said}");
        Logout { name: "gone".into() }
            .run(|_| Ok(spec), Some(state.path()), &QUIET)
            .expect("nothing to forget");
    }
}
