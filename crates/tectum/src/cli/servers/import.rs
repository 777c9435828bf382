//! `tectum import`: finds the servers that other programs have, and uses them live or as copies.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Fault,
    config::{
        keys,
        servers::{
            Entry, Place, Source,
            clients::{CLIENTS, Client, Spot},
            context::Context,
            foreign::{self, ForeignContent},
            missing, survey,
            variables::Scope,
            why_ourselves,
        },
    },
};

use super::{
    super::{
        failure::Failure,
        options::Shared,
        screen::{Colour, Screen, counted, harmless},
    },
    Done, Site,
    change::Target,
};

/// Use the servers configured in another program.
#[derive(Debug, Args)]
#[command(after_help = "\
Clients: claude, claude-desktop, cursor, vscode, windsurf, codex, zed, gemini. Their files are read
live and never changed: a change there takes effect here. With --copy the entries are copied to
tectum.toml instead. Without an argument, it lists what can be imported.")]
pub(crate) struct Import {
    /// A client, or a file that names servers
    #[arg(value_name = "CLIENT|FILE")]
    from: Option<String>,
    /// Copy the entries instead of reading the file live
    #[arg(long, requires = "from")]
    copy: bool,
    #[command(flatten)]
    target: Target,
}

/// A file that names servers.
struct Find {
    client: &'static str,
    written: String,
    source: Arc<Source>,
    entries: Vec<Entry>,
    /// The descriptions of inputs in the file.
    inputs: BTreeMap<String, String>,
    problem: Option<String>,
}

impl Import {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let site = Site::load(shared, screen)?;
        let Some(from) = &self.from else { return list(&site, screen) };
        if from.is_empty() {
            let fault = Fault::invalid("no program is named, and no file");
            return Err(fault.hint("`tectum import` lists what can be imported").into());
        }
        let finds = match Client::named(from) {
            Some(client) => {
                let finds = of_client(&site, client);
                if finds.is_empty() {
                    let places: Vec<String> =
                        spots(&site, client).into_iter().map(|spot| spot.written).collect();
                    let fault = Fault::not_found(format!("{} has no servers", client.title));
                    return Err(fault.hint(format!("looked at {}", places.join(", "))).into());
                }
                finds
            }
            None => vec![of_file(&site, from)?],
        };
        if let Some(problem) = finds.iter().find_map(|find| find.problem.clone()) {
            return Err(Fault::invalid(problem).hint("fix that file, or import another").into());
        }
        let mut entries = finds.iter().flat_map(|find| find.entries.iter().map(move |entry| (find, entry)));
        if entries.all(|(find, entry)| is_tectum(&site, find, entry)) {
            let files: Vec<&str> = finds.iter().map(|find| find.written.as_str()).collect();
            let fault =
                Fault::not_found(format!("{} has no server other than Tectum itself", files.join(", ")));
            return Err(fault.hint("there is nothing to import; `tectum import` lists the others").into());
        }
        if self.copy { self.copied(&site, &finds, screen) } else { self.live(&site, &finds, screen) }
    }

    fn live(&self, site: &Site, finds: &[Find], screen: &Screen) -> Result<(), Failure> {
        let mut draft = site.draft(self.target.project)?;
        let usual: Vec<String> = match site.config.merged().get(&keys::READ) {
            Some(_) => Vec::new(),
            None => {
                // A project's file names what lies in the project.
                let named = site.config.federation.read.iter();
                let fits = |path: &&PathBuf| !self.target.project || path.starts_with(&site.config.directory);
                named.filter(fits).map(|path| written(site, path)).collect()
            }
        };
        let mut added = Vec::new();
        for find in finds {
            if draft.read_also(&usual, &find.written) {
                added.push(find.written.as_str());
            }
        }
        let others =
            finds.iter().flat_map(|find| find.entries.iter().filter(|entry| !is_tectum(site, find, entry)));
        let servers: Vec<&str> = others.map(|entry| entry.name.as_str()).collect();
        let sentence = if added.is_empty() {
            format!("{} already reads them", draft.name)
        } else {
            let (servers, verb) =
                (counted(servers.len() as u64, "server"), if servers.len() == 1 { "is" } else { "are" });
            format!("{servers} from {} {verb} now in use", added.join(", "))
        };
        site.finish(&draft, self.target.dry_run, &Done { servers, sentence, notes: waits(finds) }, screen)
    }

    fn copied(&self, site: &Site, finds: &[Find], screen: &Screen) -> Result<(), Failure> {
        // In the user's file they would run without having been looked at.
        if let Some(find) =
            finds.iter().find(|find| find.source.place == Place::Project && !self.target.project)
        {
            let fault = Fault::invalid(format!(
                "{} is inside the project, and only servers you trust belong in your own file",
                find.source.name
            ));
            return Err(fault
                .hint(
                    "copy it to the project's file with --project, or import it without --copy and trust it",
                )
                .into());
        }
        let mut draft = site.draft(self.target.project)?;
        let context = Context::read(&site.sources);
        let (mut servers, mut notes) = (Vec::new(), Vec::new());
        for (find, entry) in finds.iter().flat_map(|find| find.entries.iter().map(move |entry| (find, entry)))
        {
            let name = entry.name.as_str();
            if is_tectum(site, find, entry) {
                notes.push(format!("`{name}` is not copied: it is Tectum itself"));
            } else if let Some(problem) = &entry.problem {
                notes.push(format!("`{name}` is not copied: {problem}"));
            } else if draft.has(name) {
                notes.push(format!("`{name}` is not copied: {} has one", draft.name));
            } else {
                draft.put(entry);
                servers.push(name);
                let waits = missing(entry, scope(site, &context, find)).into_iter();
                notes.extend(
                    waits.map(|why| format!("`{name}` does not start yet: {}; {}", why.message, why.hint)),
                );
            }
        }
        let sentence = format!("copied {} to {}", counted(servers.len() as u64, "server"), draft.name);
        site.finish(&draft, self.target.dry_run, &Done { servers, sentence, notes }, screen)
    }
}

/// The sources of the variables in a file's entries.
fn scope<'s>(site: &'s Site, context: &'s Context, find: &'s Find) -> Scope<'s> {
    Scope {
        environment: &context.environment,
        directory: &site.config.directory,
        home: site.config.home.as_deref(),
        inputs: &context.inputs,
        described: &find.inputs,
    }
}

/// True if an entry is Tectum itself, which is never used as a server.
fn is_tectum(site: &Site, find: &Find, entry: &Entry) -> bool {
    let context = Context::read(&site.sources);
    why_ourselves(entry, &context, &site.config.http, scope(site, &context, find)).is_some()
}

fn waits(finds: &[Find]) -> Vec<String> {
    let theirs = finds.iter().filter(|find| find.source.place == Place::Project);
    theirs
        .map(|find| format!("the servers in {} start once they are trusted: `tectum trust`", find.written))
        .collect()
}

fn list(site: &Site, screen: &Screen) -> Result<(), Failure> {
    let finds: Vec<Find> = CLIENTS.iter().flat_map(|client| of_client(site, client)).collect();
    let is_read = |find: &Find| site.config.federation.read.contains(&find.source.path);
    if screen.json {
        let data = |find: &Find| {
            json!({
                "client": find.client, "file": find.source.path, "read": is_read(find), "problem": find.problem,
                "servers": find.entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(),
            })
        };
        return screen.print_json(&json!({ "found": finds.iter().map(data).collect::<Vec<Value>>() }));
    }
    if finds.is_empty() {
        return screen.print("no other program on this machine has servers");
    }
    let head = format!("{:<14}  {:>7}  {:<4}  FILE", "CLIENT", "SERVERS", "READ");
    let mut text = format!("{}\n", screen.paint(Colour::Bold, &head));
    for find in &finds {
        let count = if find.problem.is_some() { "?".into() } else { find.entries.len().to_string() };
        let read = if is_read(find) { "yes" } else { "no" };
        text.push_str(&format!("{:<14}  {count:>7}  {read:<4}  {}\n", find.client, find.written));
        if let Some(problem) = &find.problem {
            text.push_str(&format!("  {}\n", harmless(&problem.to_string())));
        }
    }
    screen.print(&(text + &screen.paint(Colour::Dim, "`tectum import CLIENT` uses them live")))
}

fn spots(site: &Site, client: &Client) -> Vec<Spot> {
    let config = site.sources.user_file.as_deref().and_then(Path::parent).and_then(Path::parent);
    client.spots(&site.config.directory, site.config.home.as_deref(), config)
}

fn of_client(site: &Site, client: &'static Client) -> Vec<Find> {
    let finds = spots(site, client).into_iter();
    let finds = finds.filter_map(|spot| look(site, client.name, &spot.path, spot.written));
    finds.filter(|find| !find.entries.is_empty() || find.problem.is_some()).collect()
}

/// The content of a file; `None` when there is none.
fn look(site: &Site, client: &'static str, path: &Path, written: String) -> Option<Find> {
    let place = survey::place_of(path, &site.config);
    let source = Arc::new(Source::foreign(path, site.shown(path), place));
    match foreign::read(&source, &site.config.directory) {
        Ok(None) => None,
        Ok(Some(ForeignContent { entries, inputs, .. })) => {
            Some(Find { client, written, source, entries, inputs, problem: None })
        }
        Err(problem) => {
            let problem = Some(problem.to_string());
            Some(Find { client, written, source, entries: Vec::new(), inputs: BTreeMap::new(), problem })
        }
    }
}

fn of_file(site: &Site, from: &str) -> Result<Find, Failure> {
    let path = std::path::absolute(from)?;
    look(site, "", &path, written(site, &path)).ok_or_else(|| {
        let known: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        let fault = Fault::not_found(format!("no client or file is called `{from}`"));
        fault.hint(format!("clients: {}", known.join(", "))).into()
    })
}

/// A path as `[federation] read` of the user's file has it: relative ones mean the served directory.
fn written(site: &Site, path: &Path) -> String {
    site.shown(path).to_string()
}
