//! The state that all shell tools share: the settings, the places for commands, and the sessions.

use std::{
    io,
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use tectum_child::{
    ForkServers, Installed, Launch, NotInstalled, SandboxPlan, Secret,
    sandbox::{self, Sandboxed},
};
use tectum_core::{Ctx, Fault, FaultKind};
use tectum_shell::{
    CommandEnd, Owner, Places, Running, Session, Sessions, ShellOrder, Spool, Stay, environment,
};

use crate::{SandboxSettings, Settings, ShellSettings};

/// The commands of a house.
#[derive(Debug)]
pub struct Shells {
    pub(super) settings: ShellSettings,
    sandbox: SandboxSettings,
    spool: Option<Spool>,
    places: Places,
    sessions: Sessions,
    servers: Arc<ForkServers>,
    installed: OnceLock<Installed>,
}

/// A command to run.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The program's full path.
    pub(super) program: String,
    pub(super) args: Vec<String>,
    pub(super) stdin: Option<String>,
    pub(super) terminal: bool,
    pub(super) deadline: Duration,
    /// True if it is held to the sandbox; a program that the user's own configuration names is not.
    pub(super) held: bool,
}

impl Shells {
    /// None runs yet.
    pub fn new(settings: &Settings) -> Self {
        let (settings, sandbox) = (settings.shell.clone(), settings.sandbox.clone());
        let spool = settings.spool.clone().map(Spool::new);
        Self {
            settings,
            sandbox,
            spool,
            places: Places::default(),
            sessions: Sessions::default(),
            servers: Arc::default(),
            installed: OnceLock::new(),
        }
    }

    /// The programs that are installed apart from the project. The search path is read once: no command
    /// can change it, nor what lies around the project.
    pub(super) fn installed(&self) -> &Installed {
        self.installed.get_or_init(|| Installed::apart_from(&self.settings.roots))
    }

    /// Starts a command for the client of a call, in a directory.
    /// Says what holds it.
    pub(super) async fn start(
        &self,
        ctx: &Ctx,
        wanted: Wanted,
        directory: &Path,
    ) -> Result<(Running, Sandboxed), Fault> {
        let place = self.places.take(&owner(ctx)).map_err(|why| {
            Fault::new(FaultKind::Conflict, why).hint("shell_list shows them; end one with shell_kill")
        })?;
        let known = |name: &str| tectum_child::inherited(name);
        let path = self.installed().path();
        let mut env = environment::variables(&self.settings.env, &path, wanted.terminal, &known);
        let Wanted { program, args, stdin, terminal, deadline, held } = wanted;
        let plan = if held { self.plan(ctx).await? } else { None };
        let holds = sandbox::held(plan.as_ref()).map_err(|error| not_held(&error))?;
        if plan.is_some() {
            let scratch = self.servers.scratch().map_err(|error| not_held(&error))?;
            env.insert("TMPDIR".into(), Secret::new(scratch.path().to_string_lossy()));
        }
        let launch = Launch { command: program, args, env, cwd: None };
        let order = ShellOrder {
            launch: &launch,
            directory,
            guard: self.settings.guard.as_deref(),
            stdin,
            terminal,
            spool: self.spool.as_ref().map(|spool| (spool, ctx.call.to_string())),
            deadline: Some(deadline),
            sandbox: plan.as_ref(),
        };
        let running = Running::start(&self.servers, order, place).map_err(|error| not_started(&error))?;
        Ok((running, holds))
    }

    /// The plan for a command; `None` where the user wants none.
    async fn plan(&self, ctx: &Ctx) -> Result<Option<SandboxPlan>, Fault> {
        let (settings, servers) = (self.sandbox.clone(), self.servers.clone());
        // Which protected names there are is looked up on the disk.
        ctx.blocking(move |ctx| {
            let protected = ctx.path(0)?.closed_in_roots().map_err(|error| not_held(&error))?;
            let plan = servers.scratch().and_then(|scratch| settings.plan(protected, scratch.path()));
            plan.map_err(|error| not_held(&error))
        })
        .await
    }

    /// Lets a command go on, or its output be read on, as a session of the call's client.
    pub(super) fn keep(&self, ctx: &Ctx, running: Running, stay: Staying<'_>) -> Arc<Session> {
        let stay = Stay {
            owner: owner(ctx),
            left: ctx.left.clone(),
            keep: stay.keep,
            command: stay.command.to_owned(),
            directory: stay.directory.to_owned(),
            name: ctx.call.to_string(),
            told: stay.told,
        };
        self.sessions.keep(running, stay)
    }

    /// A session of the call's client.
    pub(super) fn session(&self, ctx: &Ctx, id: &str) -> Result<Arc<Session>, Fault> {
        self.sessions.find(&owner(ctx), id).ok_or_else(|| {
            Fault::not_found(format!("no session `{id}` of this client"))
                .hint("shell_list shows those there are")
        })
    }

    /// All sessions of the call's client.
    pub(super) fn sessions(&self, ctx: &Ctx) -> Vec<Arc<Session>> {
        self.sessions.list(&owner(ctx))
    }
}

/// The facts by which a session is reported.
pub(super) struct Staying<'s> {
    pub(super) command: &'s str,
    pub(super) directory: &'s str,
    pub(super) keep: bool,
    pub(super) told: (u64, u64),
}

/// The directory that a call was granted, where a command may start.
pub(super) fn directory(ctx: &Ctx) -> Result<(String, std::path::PathBuf), Fault> {
    let path = ctx.path(0)?;
    match path.kind() {
        Some(tectum_core::security::Kind::Directory) => {
            // Without the slash that the name of a root has at its end.
            Ok((path.name(), path.absolute().components().collect()))
        }
        Some(_) => Err(Fault::invalid(format!("{} is no directory to run a command in", path.name()))),
        None => Err(Fault::not_found(format!("there is no directory {}", path.name()))),
    }
}

/// The first of these programs that is installed.
pub(super) fn first_installed(installed: &Installed, programs: &[&str]) -> Result<String, NotInstalled> {
    let mut why = NotInstalled::Nowhere;
    for program in programs {
        match installed.find(program) {
            Ok(found) => return Ok(found.to_string_lossy().into_owned()),
            Err(NotInstalled::Nowhere) => {}
            Err(of_project) => why = of_project,
        }
    }
    Err(why)
}

/// Waits for the end of a command, or until it is time to answer.
pub(super) async fn until(running: &mut Running, yields: Duration) -> Option<CommandEnd> {
    tokio::time::timeout(yields, running.ended()).await.ok()
}

fn owner(ctx: &Ctx) -> Owner {
    ctx.session.0.clone()
}

fn not_held(error: &io::Error) -> Fault {
    Fault::new(FaultKind::Permission, format!("the command was not started: its sandbox cannot be held: {error}"))
        .hint("`tectum sandbox test` shows what is missing; a person can set `sandbox = \"off\"` below [shell] in their own tectum.toml")
}

fn not_started(error: &io::Error) -> Fault {
    let kind = match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => FaultKind::InvalidInput,
        io::ErrorKind::NotFound => FaultKind::NotFound,
        _ => FaultKind::Upstream,
    };
    Fault::new(kind, format!("the command was not started: {error}"))
}
