//! `tectum config`: what holds and where it was said, whether it is right, and its form.

use clap::Subcommand;
use serde_json::json;
use tectum::{
    Config, Problems,
    config::{
        Problem, schema,
        servers::{Survey, Why, spoken},
        show,
    },
};

use super::{
    failure::Failure,
    options::Shared,
    screen::Screen,
    warnings::{strange_rules, tell_warnings, without_effect},
};

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the merged settings, each with the place it came from
    Show,
    /// Check all settings files and environment variables and report every mistake
    Check,
    /// Print a JSON Schema of tectum.toml, for editors
    Schema,
}

impl ConfigCommand {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        match self {
            Self::Show => {
                let config = shared.load(Vec::new(), screen)?;
                let survey = Survey::read(&shared.sources(Vec::new()), &config);
                screen.answer(&show::json(&config, &survey), &show::toml(&config, &survey))
            }
            Self::Check => {
                let (config, house) = shared.house(screen)?;
                let mut warnings = strange_rules(&config, &house);
                warnings.extend(without_effect(&config));
                warnings.extend(check_servers(shared, &config)?);
                if !screen.json {
                    tell_warnings(&warnings, screen);
                }
                let but = match warnings.len() {
                    0 => "",
                    1 => ", except for the warning above",
                    _ => ", except for the warnings above",
                };
                let directory = spoken::text(&config.directory.to_string_lossy());
                screen.done(
                    &json!({ "ok": true, "directory": config.directory, "warnings": warnings }),
                    &format!("the settings for {directory} are valid{but}"),
                )
            }
            Self::Schema => screen.print(&format!("{:#}", schema::schema())),
        }
    }
}

/// The reasons that keep servers from starting. A table of ours that is for no server is a mistake in
/// the settings; what other programs' files hold is only told.
fn check_servers(shared: &Shared, config: &Config) -> Result<Vec<String>, Failure> {
    let survey = Survey::read(&shared.sources(Vec::new()), config);
    let ours = |name: &str| config.merged().servers().iter().any(|table| table.name.as_str() == name);
    let (strays, broken): (Vec<_>, Vec<_>) = survey.broken.iter().partition(|held| ours(&held.name));
    let held = survey.servers.iter().filter_map(|server| server.verdict.as_ref().err());
    let wrong = held.filter(|held| held.why == Why::Problem).chain(broken);
    if strays.is_empty() {
        return Ok(wrong.map(|held| &held.message).chain(&survey.notes).cloned().collect());
    }
    let problem = |held: &&tectum::config::servers::Held| Problem {
        origin: held.origin.clone(),
        message: held.message.clone(),
        hint: held.hint.clone(),
    };
    Err(Problems(strays.iter().map(problem).collect()).into())
}
