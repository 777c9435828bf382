//! `tectum console`: an address to sign in at the console of a Tectum that runs, and the browser that opens it.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use tectum::{Fault, houses, peers::auth, state};

use super::{
    failure::Failure,
    options::Shared,
    questions::{credential, posted, proof},
    screen::Screen,
    status::{asked, sockets},
};

/// Print an address that opens the console of a running `tectum up`.
#[derive(Debug, Args)]
pub(crate) struct ConsoleCommand {
    /// Open it in the browser, too
    #[arg(long)]
    open: bool,
    /// The process of the Tectum, as `tectum status` shows it; needed where several are meant
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
}

impl ConsoleCommand {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let socket = self.meant(shared)?;
        let header = [proof(&credential(shared)?)];
        let said = posted(houses::ask(&socket, "POST", "/console/code", &header, None))?;
        let url = said["url"].as_str().unwrap_or_default();
        screen.answer(&json!({ "url": url }), url)?;
        if self.open {
            open(url, shared.sources(Vec::new()).state.as_deref(), screen);
        }
        Ok(())
    }

    /// The house that is meant: the one with this process number, else the only one that listens, else the
    /// only one of those that serves this folder.
    fn meant(&self, shared: &Shared) -> Result<PathBuf, Failure> {
        let all = asked("/api/house", &sockets(shared));
        let all = all.into_iter().filter_map(|(socket, told)| Some((socket, told?)));
        let mut found: Vec<(PathBuf, Value)> = match self.pid {
            Some(pid) => all.filter(|(_, house)| house["pid"] == pid).collect(),
            None => all.filter(|(_, house)| house["console"] == true).collect(),
        };
        if found.len() > 1 {
            let here = state::canonical(&shared.sources(Vec::new()).directory);
            let here = |house: &Value| house["project"].as_str().is_some_and(|at| Path::new(at) == here);
            if found.iter().filter(|(_, house)| here(house)).count() == 1 {
                found.retain(|(_, house)| here(house));
            }
        }
        if found.len() > 1 {
            let shown = |house: &Value| format!("--pid {} ({})", house["pid"], house["project"]);
            let shown: Vec<String> = found.iter().map(|(_, house)| shown(house)).collect();
            let fault = Fault::invalid(format!("{} Tectums have a console", found.len()));
            return Err(fault.hint(format!("say which: {}", shown.join(", "))).into());
        }
        let none = || match self.pid {
            Some(pid) => Fault::not_found(format!("no Tectum runs as process {pid}"))
                .hint("`tectum status` shows those that run"),
            None => {
                Fault::not_found("no Tectum that has a console is running").hint("`tectum up` starts one")
            }
        };
        Ok(found.pop().ok_or_else(none)?.0)
    }
}

/// Opens an address with a code. Other users see the words of a command, so the browser is given a file of our own
/// that leads there.
pub(crate) fn open(url: &str, state: Option<&Path>, screen: &Screen) {
    let opened =
        state.ok_or_else(|| "there is no place for a file of our own".to_owned()).and_then(|state| {
            let file = state.join("console.html");
            let text = format!(
                "<!doctype html><meta charset=\"utf-8\"><title>Tectum</title>\
             <meta http-equiv=\"refresh\" content=\"0;url={url}\"><a href=\"{url}\">To the console</a>\n"
            );
            tectum_state::replace(&file, text.as_bytes(), tectum_state::Lasts::Process)
                .map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
            auth::open_file(&file)
        });
    if let Err(why) = opened {
        screen.warn(&format!("{why}; open the address by hand"));
    }
}
