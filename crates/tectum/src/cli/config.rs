//! `tectum config`: what holds and where it was said, whether it is right, and its form.

use clap::Subcommand;
use serde_json::json;
use tectum::config::{schema, show};

use super::{
    Shared,
    failure::Failure,
    screen::{Colour, Screen},
    tell_strange_rules,
};

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the merged settings, each with the place it came from
    Show,
    /// Check all files and variables and tell every mistake
    Check,
    /// Print a JSON Schema of tectum.toml, for editors
    Schema,
}

impl ConfigCommand {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        match self {
            Self::Show => {
                let config = shared.load(Vec::new(), screen)?;
                match screen.json {
                    true => screen.print_json(&show::json(config.merged())),
                    false => screen.print(&show::toml(config.merged())),
                }
            }
            Self::Check => {
                let (config, house) = shared.house(screen)?;
                tell_strange_rules(&config, &house, screen);
                match screen.json {
                    true => screen.print_json(&json!({ "ok": true, "directory": config.directory })),
                    false if screen.quiet => Ok(()),
                    false => screen.print(&format!(
                        "{} the settings for {} are right",
                        screen.paint(Colour::Green, "ok:"),
                        config.directory.display()
                    )),
                }
            }
            Self::Schema => screen.print(&format!("{:#}", schema::schema())),
        }
    }
}
