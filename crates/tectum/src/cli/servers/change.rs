//! `tectum add` and `remove`: changes to a `tectum.toml`, and to nothing else.

use std::{path::Path, sync::Arc};

use clap::Args;
use tectum::{
    Fault,
    config::{
        Origin,
        servers::{Entry, Place, Source, entry::Values, keys, spoken},
        value::{Item, Value},
    },
    peers::spec::ServerName,
};

use super::{
    super::{failure::Failure, options::Shared, screen::Screen},
    Done, Site,
};

/// Add another MCP server.
#[derive(Debug, Args)]
#[command(after_help = "\
It is added to your own tectum.toml, or to the project's with --project. ${NAME} in a value is
replaced by an environment variable, so that no secret needs to be written down.

Examples:
  tectum add files -- npx -y @modelcontextprotocol/server-filesystem .
  tectum add github --env 'TOKEN=${GITHUB_TOKEN}' -- github-mcp-server stdio
  tectum add docs --url https://example.com/mcp --header 'Authorization: Bearer ${DOCS_TOKEN}'")]
pub(crate) struct Add {
    /// Its name: letters, digits, - and single _
    #[arg(value_name = "NAME")]
    name: String,
    /// The URL of a server that is already running
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// An environment variable of the program
    #[arg(long, value_name = "K=V", conflicts_with = "url")]
    env: Vec<String>,
    /// The working directory of the program
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    cwd: Option<String>,
    /// A header of every request
    #[arg(long, value_name = "K:V", requires = "url")]
    header: Vec<String>,
    /// How it is reached: stdio, http or sse
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    #[command(flatten)]
    target: Target,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "url")]
    command: Vec<String>,
}

/// Remove a server from tectum.toml.
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    target: Target,
}

/// The file that is changed.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// Change the project's tectum.toml instead of your own
    #[arg(long)]
    pub(super) project: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl Add {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let site = Site::load(shared, screen)?;
        let mut draft = site.draft(self.target.project)?;
        let name = ServerName::parse(&self.name).map_err(Fault::invalid)?;
        if self.command.is_empty() && self.url.is_none() {
            let fault = Fault::invalid(format!("`{name}` needs a command or a URL"));
            let hint = format!("`tectum add {name} -- COMMAND ARGS...`, or `tectum add {name} --url URL`");
            return Err(fault.hint(hint).into());
        }
        if draft.has(name.as_str()) {
            let fault = Fault::conflict(format!("{} already has a server `{name}`", draft.name));
            return Err(fault
                .hint(format!("remove it first with `tectum remove {name}`, or choose another name"))
                .into());
        }
        let entry = Entry {
            written: name.to_string(),
            origin: Origin::Flag("add".into()),
            source: Arc::new(Source::ours(&draft.path, draft.name.clone(), Place::Yours)),
            values: self.values()?,
            forward: Vec::new(),
            problem: None,
            name,
        };
        draft.put(&entry);
        let name = entry.name.as_str();
        let mut notes = self.notes();
        if let Some(other) = site.survey.server(name) {
            notes.push(format!("`{name}` from {} is no longer used", other.entry.origin));
        }
        if self.target.project && site.sources.file.is_none() {
            notes.push(format!("it starts once it is trusted: `tectum trust {name}`"));
        }
        let sentence = format!("added `{name}` to {}", draft.name);
        site.finish(&draft, self.target.dry_run, &Done { servers: vec![name], sentence, notes }, screen)
    }

    /// The program as it is written down: your own file serves every project, so a relative path there
    /// would mean another file in each of them.
    fn program(&self) -> Option<String> {
        let command = self.command.first()?;
        let relative = command.contains('/') && !command.starts_with(['/', '~', '$']) && self.cwd.is_none();
        match std::path::absolute(command) {
            Ok(path) if relative && !self.target.project => Some(path.display().to_string()),
            _ => Some(command.clone()),
        }
    }

    /// The reasons that may keep the program from starting, here or in another project.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let (Some(program), Some((typed, args))) = (self.program(), self.command.split_first()) else {
            return notes;
        };
        if program != *typed {
            notes.push(format!("`{typed}` is stored as {program}, so that it is found from every project"));
        }
        let plain = !program.contains(['/', '$', '~']);
        let path = std::env::var_os("PATH").unwrap_or_default();
        if plain && !std::env::split_paths(&path).any(|folder| folder.join(&program).is_file()) {
            notes.push(format!("`{program}` is not in PATH: install it before it is needed"));
        }
        let here = |arg: &&String| !arg.starts_with(['/', '-']) && Path::new(arg).is_file();
        if !self.target.project && self.cwd.is_none() {
            notes.extend(args.iter().filter(here).map(|arg| {
                format!(
                    "`{arg}` is relative to the served directory; write its full path to use it everywhere"
                )
            }));
        }
        notes
    }

    fn values(&self) -> Result<Values, Failure> {
        let origin = || Origin::Flag("add".into());
        let item = |text: &str| Item { text: text.to_owned(), origin: origin() };
        let mut values = Values::default();
        if let (Some(program), Some((_, args))) = (self.program(), self.command.split_first()) {
            values.set(&keys::COMMAND, Value::List(vec![item(&program)]), origin());
            if !args.is_empty() {
                values.set(&keys::ARGS, Value::List(args.iter().map(|arg| item(arg)).collect()), origin());
            }
        }
        let words = [(&keys::CWD, &self.cwd), (&keys::URL, &self.url), (&keys::TYPE, &self.kind)];
        for (key, word) in words {
            if let Some(word) = word {
                values.set(key, Value::Word(word.clone()), origin());
            }
        }
        for (key, pairs, separator) in [(&keys::ENV, &self.env, '='), (&keys::HEADERS, &self.header, ':')] {
            let pair = |pair: &String| match pair.split_once(separator) {
                Some((name, value)) if !name.trim().is_empty() => {
                    let value = if separator == ':' { value.trim() } else { value };
                    Ok((name.trim().to_owned(), item(value)))
                }
                // The value may be a secret, so it is not repeated.
                _ => Err(Fault::invalid(format!(
                    "--{} takes a name, `{separator}` and a value",
                    &key.name.trim_end_matches('s')
                ))
                .hint(format!("write NAME{separator}value"))),
            };
            let fields = pairs.iter().map(pair).collect::<Result<Vec<_>, Fault>>()?;
            if !fields.is_empty() {
                values.set(key, Value::Table(fields), origin());
            }
        }
        Ok(values)
    }
}

impl Remove {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let site = Site::load(shared, screen)?;
        let name = self.name.as_str();
        let mut draft = if self.target.project || site.sources.user_file.is_some() {
            site.draft(self.target.project)?
        } else {
            site.draft(true)?
        };
        if !draft.has(name) {
            let server = site.server(name)?;
            // What others use as well is not removed in passing.
            if !self.target.project && site.draft(true)?.has(name) {
                let fault = Fault::conflict(format!(
                    "`{name}` comes from {}, not from your own file",
                    server.entry.origin
                ));
                return Err(fault.hint(format!("`tectum remove {name} --project` removes it there")).into());
            }
            let fault = Fault::conflict(format!(
                "`{name}` comes from {}, which Tectum does not edit",
                server.entry.origin
            ));
            return Err(fault.hint(format!("switch it off with `tectum disable {name}`")).into());
        }
        draft.remove(name);
        let sentence = format!("removed `{}` from {}", spoken::text(name), draft.name);
        site.finish(
            &draft,
            self.target.dry_run,
            &Done { servers: vec![name], sentence, notes: Vec::new() },
            screen,
        )
    }
}
