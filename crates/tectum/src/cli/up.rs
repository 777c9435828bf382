//! `tectum up`: MCP over streamable HTTP, with everything a client needs to connect.

use std::{io, net::SocketAddr, time::Duration};

use clap::Args;
use serde_json::json;
use tectum::{
    Config, Fault, FaultKind,
    config::{AuthMode, keys, servers::Live},
    houses::{Door, open_door},
    peers::serve::{Auth, HttpOptions, HttpServer, LineServer},
    servers::{Household, UP},
    token::{self, TokenPlace},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    runtime::Builder,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    connect, console,
    failure::Failure,
    options::Shared,
    screen::{Colour, Screen, counted},
    serve, stop,
    tools::Listed,
    warnings::{tell_strange_rules, tell_wide_reach},
    within,
};

/// Serve over HTTP and show how to connect a client.
#[derive(Debug, Args)]
pub(crate) struct Up {
    /// The port; 0 takes any free one
    #[arg(short, long, value_name = "N", conflicts_with = "listen", value_parser = port)]
    port: Option<u16>,
    /// The address and port, such as 127.0.0.1:8999
    #[arg(long, value_name = "ADDR", value_parser = address)]
    listen: Option<SocketAddr>,
    /// Let every program on this machine connect, without a token
    #[arg(long)]
    no_auth: bool,
    /// Which tools clients see: auto, lean, all, or a profile of your own
    #[arg(long, value_name = "PROFILE")]
    tools: Option<String>,
    /// Open the console in the browser
    #[arg(long)]
    open: bool,
}

/// A port, or which numbers are ports.
fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "a port is a number from 1 to 65535, or 0 for any free one".into())
}

/// An address and port, or how one is written.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "write a numeric address and a port, such as 127.0.0.1:8999 or [::1]:8999".into())
}

impl Up {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let config = self.load(shared, screen)?;
        tell_wide_reach(&config, screen);
        if let Some(circle) = within::circle(&config, shared.above) {
            return Err(circle.into());
        }
        let (options, kept) = options(&config)?;
        let live = Live::new(shared.sources(self.flags())).listening(config.http.listen);
        let door = open_door(&config, &shared.sources(self.flags()));
        let said = Said { config: &config, kept: kept.as_ref(), opens: self.open, screen };
        serve::to_the_end(workers(), listen(live, options, door, said))?
    }

    fn flags(&self) -> Vec<(&'static keys::Key, String, String)> {
        let mut flags = serve::profile_flag(self.tools.as_ref());
        if let Some(address) = self.listen {
            flags.push((&keys::LISTEN, address.to_string(), "--listen".to_owned()));
        }
        if self.no_auth {
            flags.push((&keys::AUTH, "none".to_owned(), "--no-auth".to_owned()));
        }
        flags
    }

    fn load(&self, shared: &Shared, screen: &Screen) -> Result<Config, Failure> {
        let mut config = shared.load(self.flags(), screen)?;
        if let Some(port) = self.port {
            config.http.listen.set_port(port);
        }
        Ok(config)
    }
}

/// Who is served where, as the settings say, and where the token is.
pub(crate) fn options(config: &Config) -> Result<(HttpOptions, Option<TokenPlace>), Failure> {
    refuse_strangers(config)?;
    let (auth, kept) = auth(config)?;
    let listen = config.http.listen;
    let (allow_remote, hosts) = (config.http.allow_remote, config.http.hosts.clone());
    Ok((HttpOptions { listen, auth, allow_remote, hosts }, kept))
}

/// The listener of a house: MCP, and the hook API beside it.
pub(crate) async fn bind(household: &Household, options: HttpOptions) -> Result<HttpServer, Failure> {
    let (address, house, federation) =
        (options.listen, household.house.clone(), household.federation.clone());
    match HttpServer::bind(house, federation, options).await {
        Ok(server) => {
            tectum_web::own_listener(server.address());
            household.hooks().listens_at(server.address());
            Ok(server.beside(household.hooks().beside()))
        }
        Err(error) => Err(taken(address, &error).await),
    }
}

/// A listener beside other work, until it is ended.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<io::Result<()>>,
}

impl Listener {
    /// Stops listening; calls in flight end.
    pub(crate) async fn end(self) {
        self.stop.cancel();
        // How it ended matters to nobody any more.
        let _ = self.serving.await;
    }
}

/// Serves a house that has other work to do, and says where. Must be called within a runtime.
pub(crate) async fn beside(
    household: &Household,
    options: HttpOptions,
    kept: Option<&TokenPlace>,
    screen: &Screen,
) -> Result<Listener, Failure> {
    let server = bind(household, options).await?;
    let (address, stop) = (server.address(), CancellationToken::new());
    if kept.is_none() {
        screen.warn(NO_TOKEN);
    }
    if !screen.quiet {
        screen.tell(&format!(
            "questions are answered at http://{address}/api too; token {}",
            whereabouts(kept)
        ));
    }
    let serving = tokio::spawn(server.run(stop.clone()));
    Ok(Listener { address, stop, serving })
}

/// The warning of a listener that everybody can use.
const NO_TOKEN: &str = "no token is required: every program on this machine can call these tools";

/// Where the token is, in words.
fn whereabouts(kept: Option<&TokenPlace>) -> String {
    match kept {
        Some(TokenPlace::File(path)) => format!("in {}", path.display()),
        Some(TokenPlace::Environment) => "in TECTUM_TOKEN".into(),
        None => "not required".into(),
    }
}

/// Many clients, some threads; more than four only move work between caches.
fn workers() -> Builder {
    const MOST: usize = 4;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut runtime = Builder::new_multi_thread();
    runtime.worker_threads(cores.min(MOST));
    runtime
}

/// What is said of a house, and to whom.
#[derive(Clone, Copy)]
struct Said<'a> {
    config: &'a Config,
    kept: Option<&'a TokenPlace>,
    /// Whether the console is opened.
    opens: bool,
    screen: &'a Screen,
}

async fn listen(live: Live, options: HttpOptions, door: Option<Door>, said: Said<'_>) -> Result<(), Failure> {
    let bound = live.bound();
    let ended = CancellationToken::new();
    stop::on_signal(ended.clone())?;
    let household = Household::start(said.config, live, UP).await?;
    let server = match bind(&household, options).await {
        Ok(server) => server,
        Err(failure) => {
            household.stop().await;
            return Err(failure);
        }
    };
    let (hooks, closing) = (household.hooks(), ended.clone());
    // A reader of events would keep its connection open for as long as we wait for it.
    tokio::spawn(async move {
        closing.cancelled().await;
        hooks.close();
    });
    let _ = bound.set(server.address());
    let at = server.address();
    let lines = LineServer::new(household.house.clone(), household.federation.clone());
    let attending = household.attend(door, lines, true);
    // Clients are served while what the servers offer is still being read.
    let telling = async {
        household.settled().await;
        let told = tell(at, &household, said);
        if told.is_err() {
            ended.cancel();
        }
        told
    };
    let (served, told) = tokio::join!(server.run(ended.clone()), telling);
    if let Some(attending) = attending {
        attending.end().await;
    }
    household.stop().await;
    told?;
    Ok(served?)
}

/// Says how to connect, and what is strange about the settings.
fn tell(at: SocketAddr, household: &Household, said: Said<'_>) -> Result<(), Failure> {
    let Said { config, kept, opens, screen } = said;
    tell_strange_rules(config, &household.house, screen);
    let (url, hooks) = (format!("http://{at}/mcp"), format!("http://{at}/api"));
    let console = household.hooks().console_link();
    let snapshot = household.house.registry().snapshot();
    let [others, agents] = Listed::of_both(&snapshot, &config.tools.profiles);
    if kept.is_none() {
        screen.warn(NO_TOKEN);
    }
    if screen.json {
        let file = kept.and_then(|kept| match kept {
            TokenPlace::File(path) => path.to_str(),
            TokenPlace::Environment => None,
        });
        screen.print_json(&json!({
            "url": url,
            "hooks": hooks,
            "console": console,
            "directory": config.directory,
            "tools": others.tools,
            "tokens": others.tokens,
            "agents": agents.data(),
            "auth": if kept.is_some() { "token" } else { "none" },
            "token_file": file,
        }))?;
    } else if !screen.quiet {
        let addresses =
            [url.as_str(), &hooks, console.as_deref().unwrap_or("not here: nowhere to keep a credential")];
        screen.print(&greeting(addresses, &told_of(&others, &agents), said)?)?;
    }
    if let Some(console) = console.filter(|_| opens) {
        console::open(&console, config.state.as_deref(), screen);
    }
    Ok(())
}

fn greeting([url, hooks, console]: [&str; 3], tools: &str, said: Said<'_>) -> Result<String, Failure> {
    let Said { config, kept, screen, .. } = said;
    let label = |text: &str| screen.paint(Colour::Bold, text);
    let token = whereabouts(kept);
    let roots: Vec<String> = config.workspace.roots.iter().map(|root| root.display().to_string()).collect();
    let roots = roots.join(", ");
    Ok(format!(
        "{} {roots} with {tools}\n{}     {}\n{} {console}\n{}  {hooks}\n{}   {token}\n\n{}{}",
        label("serving"),
        label("url"),
        screen.paint(Colour::Green, url),
        label("console"),
        label("status"),
        label("token"),
        connect::greeting(&config.directory, url, kept, screen)?,
        screen.paint(
            Colour::Dim,
            "Ctrl-C stops. `tectum tools` lists the tools, `tectum policy test` explains the rules."
        ),
    ))
}

/// The number of tools that clients are listed, in words.
fn told_of(others: &Listed, agents: &Listed) -> String {
    let all = format!("{} (about {} tokens)", counted(others.tools as u64, "tool"), others.tokens);
    if others.tools == agents.tools {
        return all;
    }
    format!("{all}; coding agents see {} (about {} tokens)", agents.tools, agents.tokens)
}

fn auth(config: &Config) -> Result<(Auth, Option<TokenPlace>), Failure> {
    if config.http.auth == AuthMode::None {
        return Ok((Auth::None, None));
    }
    let given = std::env::var("TECTUM_TOKEN").ok();
    let token = token::obtain(given.as_deref().filter(|text| !text.is_empty()), config.state.as_deref())?;
    Ok((Auth::Token(token.secret), Some(token.kept)))
}

/// An address that other machines reach is a decision on record, and never without a token.
fn refuse_strangers(config: &Config) -> Result<(), Fault> {
    let listen = config.http.listen;
    if listen.ip().is_loopback() {
        return Ok(());
    }
    if config.http.auth == AuthMode::None {
        let message = format!("{listen} is reachable from other machines, so a token is required");
        return Err(
            Fault::invalid(message).hint("drop --no-auth (or http.auth = \"none\"), or listen on 127.0.0.1")
        );
    }
    if !config.http.allow_remote {
        return Err(Fault::invalid(format!("{listen} is reachable from other machines")).hint(
            "if that is meant, set [http] allow_remote = true in ~/.config/tectum/tectum.toml, or TECTUM_HTTP_ALLOW_REMOTE=true",
        ));
    }
    Ok(())
}

/// The reason why it is not possible to listen there. Another Tectum is known by how it refuses who
/// shows no token.
async fn taken(address: SocketAddr, error: &io::Error) -> Failure {
    let fault = match error.kind() {
        io::ErrorKind::AddrInUse if is_tectum(address).await => Fault::conflict(format!(
            "another Tectum is already listening on {address}"
        ))
        .hint("use that one, stop it, or choose another port with --port N; --port 0 takes any free one"),
        io::ErrorKind::AddrInUse => Fault::conflict(format!("{address} is taken by another program"))
            .hint("choose another port with --port N, or --port 0 for any free one"),
        io::ErrorKind::PermissionDenied => {
            Fault::new(FaultKind::Permission, format!("this user may not listen on {address}"))
                .hint("use a port above 1023")
        }
        _ => Fault::conflict(format!("cannot listen on {address}: {error}"))
            .hint("choose another address with --listen"),
    };
    fault.into()
}

/// The part of an answer that is looked at.
const MOST_ANSWER: u64 = 4096;
/// The time that whoever listens there may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(1);

/// True if a Tectum listens at an address of this machine.
async fn is_tectum(address: SocketAddr) -> bool {
    let ask = async {
        let mut stream = TcpStream::connect(address).await?;
        let question = format!("GET /api HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(question.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(MOST_ANSWER).read_to_end(&mut answer).await?;
        io::Result::Ok(String::from_utf8_lossy(&answer).to_lowercase().contains("tectum"))
    };
    matches!(tokio::time::timeout(PATIENCE, ask).await, Ok(Ok(true)))
}
