//! `tectum connect`: shows what to paste where, per client.

use std::path::Path;

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Config, Fault,
    config::{
        AuthMode,
        servers::clients::{CLIENTS, Client},
    },
    core::nearest,
    token::{self, TokenPlace},
};

use super::{
    failure::Failure,
    options::Shared,
    screen::{Colour, Screen},
    snippets::{Ways, block, edits, quoted},
};

/// The clients that `tectum up` shows; `tectum connect` has the others.
const SHOWN_FIRST: [&str; 2] = ["claude", "codex"];
/// The address of `tectum up` when nobody chose another one.
const USUAL_URL: &str = "http://127.0.0.1:8999/mcp";

/// Show how to connect a client.
#[derive(Debug, Args)]
#[command(after_help = "\
It changes nothing: it prints what to run or paste. Every client can start Tectum itself, which
needs no port and no token; most can also reach a running `tectum up`.

Examples:
  tectum connect cursor
  tectum connect codex -C ~/src/my-project")]
pub(crate) struct Connect {
    /// The client; without one, all clients are listed
    #[arg(value_name = "CLIENT")]
    client: Option<String>,
    /// The URL that `tectum up` printed, if it differs from the settings
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

impl Connect {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let config = shared.load(Vec::new(), screen)?;
        let kept = kept(&config);
        let url = self.url.unwrap_or_else(|| format!("http://{}/mcp", config.http.listen));
        let ways = Ways::new(&config.directory, &url, kept.as_ref())?;
        let Some(name) = self.client else { return list(&ways, screen) };
        let client = Client::named(&name).ok_or_else(|| unknown(&name))?;
        screen.answer(&ways.data(client), &ways.text(client, screen))
    }
}

fn unknown(name: &str) -> Fault {
    let names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
    let fault = Fault::not_found(format!("there is no client `{name}`"));
    match nearest(name, names.iter().copied()) {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None => fault.hint(format!("clients: {}", names.join(", "))),
    }
}

/// The place of the token of `tectum up`, or the place it would get.
fn kept(config: &Config) -> Option<TokenPlace> {
    if config.http.auth == AuthMode::None {
        return None;
    }
    let given = std::env::var_os("TECTUM_TOKEN").is_some_and(|token| !token.is_empty());
    match config.state.as_deref() {
        Some(state) if !given => Some(TokenPlace::File(token::path(state))),
        _ => Some(TokenPlace::Environment),
    }
}

fn list(ways: &Ways<'_>, screen: &Screen) -> Result<(), Failure> {
    if screen.json {
        let all: Vec<Value> = CLIENTS.iter().map(|client| ways.data(client)).collect();
        return screen.print_json(&json!({ "clients": all }));
    }
    let mut text = format!("{}\n", screen.paint(Colour::Bold, &format!("{:<14}  CLIENT", "NAME")));
    for client in CLIENTS {
        text.push_str(&format!("{:<14}  {}\n", client.name, client.title));
    }
    screen.print(&(text + &screen.paint(Colour::Dim, "`tectum connect NAME` shows what to run or paste")))
}

/// The first clients' snippets for a running server, and where the others' are.
pub(crate) fn greeting(
    dir: &Path,
    url: &str,
    kept: Option<&TokenPlace>,
    screen: &Screen,
) -> Result<String, Failure> {
    let ways = Ways::new(dir, url, kept)?;
    let mut text = String::new();
    for client in CLIENTS.iter().filter(|client| SHOWN_FIRST.contains(&client.name)) {
        let over_http = ways.over_http(client.name).unwrap_or_default();
        text.push_str(&block(client.title, "", &[over_http], screen));
        if let Some(edits) = edits(client.name) {
            text.push_str(&format!("  {}\n", screen.paint(Colour::Dim, edits)));
        }
        text.push('\n');
    }
    let others = CLIENTS.iter().map(|client| client.name).filter(|name| !SHOWN_FIRST.contains(name));
    let others: Vec<&str> = others.collect();
    let remark = format!("{}; each also works without HTTP", others.join(", "));
    let url = if url == USUAL_URL { String::new() } else { format!(" --url {url}") };
    let line = format!("{} connect NAME -C {}{url}", quoted(&ways.program), quoted(&ways.directory));
    text.push_str(&block("Other clients", &remark, &[("", line)], screen));
    text.push('\n');
    Ok(text)
}
