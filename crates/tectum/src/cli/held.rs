//! Servers that are named and not in use: why, for commands that wanted something of one.

use tectum::{
    Config, Fault,
    config::servers::{Survey, spoken, survey::Server},
    peers::spec::ServerSpec,
};

use super::options::Shared;

/// The reason why a server that some file names is not in use; `None` where it is, or where nobody
/// names it.
pub(super) fn why(shared: &Shared, config: &Config, name: &str) -> Option<Fault> {
    Survey::read(&shared.sources(Vec::new()), config).server(name).and_then(fault)
}

/// The message about a server that is not in use, whether some file names it or none.
pub(super) fn missing(shared: &Shared, config: &Config, name: &str) -> Fault {
    why(shared, config, name).unwrap_or_else(|| {
        Fault::not_found(format!("no server `{name}` is in use")).hint("`tectum list` shows all of them")
    })
}

/// The reason why the server of this tool is not in use, found by the beginning of the tool's name.
pub(super) fn why_tool(shared: &Shared, config: &Config, tool: &str) -> Option<Fault> {
    owner(&Survey::read(&shared.sources(Vec::new()), config), tool).and_then(fault)
}

/// The server in use that a tool's name begins with.
pub(super) fn spec_of(shared: &Shared, config: &Config, tool: &str) -> Option<ServerSpec> {
    let survey = Survey::read(&shared.sources(Vec::new()), config);
    owner(&survey, tool)?.verdict.as_ref().ok().map(|spec| (**spec).clone())
}

fn owner<'s>(survey: &'s Survey, tool: &str) -> Option<&'s Server> {
    let its = |server: &&Server| {
        tool.strip_prefix(server.entry.name.as_str()).is_some_and(|rest| rest.starts_with("__"))
    };
    survey.servers.iter().find(its)
}

/// The reason why this server is not in use; `None` where it is.
pub(super) fn fault(server: &Server) -> Option<Fault> {
    let held = server.verdict.as_ref().err()?;
    let message = format!("server `{}` is not in use: {}", server.entry.name, spoken::text(&held.message));
    let mut fault = Fault::not_found(message);
    fault.hint.clone_from(&held.hint);
    Some(fault)
}
