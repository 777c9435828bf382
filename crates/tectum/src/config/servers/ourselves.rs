//! Finds the entries that are Tectum itself: files of other programs name us, and a house that
//! federates itself would call itself for ever.

use std::{
    ffi::OsString,
    io::Read as _,
    net::IpAddr,
    path::{Path, PathBuf},
};

use tectum_peers::{
    child::{
        ancestry,
        lineage::{self, Above},
    },
    spec::{ServerSpec, Transport},
};

use super::{
    Entry,
    address::host_and_port,
    context::Context,
    keys,
    variables::{self, Scope},
};
use crate::{config::Http, state};

/// The words before the program's name in a script that starts us: our own word and two older ones.
const MARKERS: &[&str] =
    &["tectum-self-ref-target:", "entrabot-self-ref-target:", "entraclaw-self-ref-target:"];
/// A larger file is no wrapper script.
const MOST_SCRIPT: u64 = 16 * 1024;

/// The reason why an entry is this house itself, if it is.
pub fn why(entry: &Entry, context: &Context, http: &Http, scope: Scope<'_>) -> Option<String> {
    let filled =
        |text: &str| variables::fill(text, entry.source.dialect, scope).unwrap_or_else(|_| text.to_owned());
    if let Some(url) = entry.values.word(&keys::URL) {
        let own = is_ours(&filled(url), http);
        return own.then(|| format!("Tectum listens on {}", http.listen));
    }
    let argv: Vec<String> = entry.argv().into_iter().map(filled).collect();
    let (command, args) = argv.split_first()?;
    let found = located(command, &entry.source.base, context);
    let is_this =
        |file: &Path| context.executable.as_deref().is_some_and(|own| ancestry::is_same_program(file, own));
    if let Some(file) = &found {
        if is_this(file) {
            return Some("this program, or a copy of it".into());
        }
        if let Some(target) = marked(file).filter(|target| is_this(target)) {
            return Some(format!("a script that starts this program, {}", target.display()));
        }
    }
    let named = Path::new(command).file_name().is_some_and(|name| name == "tectum");
    (named && args.iter().any(|word| word == "serve")).then(|| "its command is `tectum serve`".into())
}

/// True if a house that this process descends from starts this server already.
pub(super) fn is_above(spec: &ServerSpec, context: &Context) -> bool {
    let Transport::Stdio(launch) = &spec.transport else { return false };
    let within = context.environment.get(&OsString::from(lineage::WITHIN));
    Above::read(within.map(OsString::as_os_str)).starts(launch)
}

/// The file a command means, whatever it is called.
fn located(command: &str, base: &Path, context: &Context) -> Option<PathBuf> {
    let there = |path: PathBuf| path.is_file().then_some(path);
    if command.contains('/') {
        return there(base.join(command));
    }
    let path = context.environment.get(&OsString::from("PATH"))?;
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| there(folder.join(command)))
}

/// The program that a wrapper script says it starts, in a line of its own. What else a script
/// does is not looked at.
#[expect(clippy::disallowed_methods, reason = "a file of the operator's set-up, not an agent's path")]
fn marked(script: &Path) -> Option<PathBuf> {
    // Through links: a relative target starts where the script itself lies.
    let script = state::canonical(script);
    let file = std::fs::File::open(&script).ok()?;
    if file.metadata().ok()?.len() > MOST_SCRIPT {
        return None;
    }
    let mut text = Vec::new();
    file.take(MOST_SCRIPT).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let target = text.lines().find_map(|line| {
        let line = line.trim().trim_start_matches('#').trim_start();
        MARKERS.iter().find_map(|marker| line.strip_prefix(marker))
    })?;
    let target = target.trim();
    (!target.is_empty()).then(|| script.parent().unwrap_or(Path::new("/")).join(target))
}

fn is_ours(url: &str, http: &Http) -> bool {
    let Some((host, port)) = host_and_port(url) else { return false };
    if port != http.listen.port() {
        return false;
    }
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let near = ip.is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified() || ip == http.listen.ip());
    near || host.eq_ignore_ascii_case("localhost")
        || http.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AuthMode;

    #[test]
    fn our_own_address_is_known_under_its_names() {
        let http = Http {
            listen: "127.0.0.1:8999".parse().expect("an address"),
            auth: AuthMode::Token,
            allow_remote: false,
            hosts: vec!["box.local".into()],
        };
        for url in [
            "http://127.0.0.1:8999/mcp",
            "http://localhost:8999",
            "HTTP://LocalHost:8999?x",
            "http://[::1]:8999/mcp",
            "http://me@box.local:8999/mcp",
            "http://0.0.0.0:8999",
        ] {
            assert!(is_ours(url, &http), "{url}");
        }
        for url in
            ["http://127.0.0.1:9000/mcp", "https://example.com:8999", "http://localhost", "x", "http://:8999"]
        {
            assert!(!is_ours(url, &http), "{url}");
        }
    }
}
