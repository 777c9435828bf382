//! Logging, always to standard error. The filter with its patterns is built only when asked for.

use std::io;

use tectum::config::Level;
use tracing::{Metadata, level_filters::LevelFilter};
use tracing_subscriber::{
    EnvFilter, filter::filter_fn, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use super::screen::{Colour, Screen};

/// Starts logging at a level; `TECTUM_LOG` may say more, per module.
pub(crate) fn start(level: Level, screen: &Screen) {
    let log = fmt().with_writer(io::stderr).with_ansi(screen.paints_errors);
    let level = match level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    };
    // A second start, in a test or a host that logs itself, changes nothing.
    let _ = match std::env::var("TECTUM_LOG") {
        Err(_) => log.with_max_level(level).finish().with(filter_fn(harmless)).try_init(),
        Ok(words) => match EnvFilter::try_new(&words) {
            Ok(filter) => log.with_env_filter(filter).finish().with(filter_fn(harmless)).try_init(),
            Err(error) => {
                let warning = screen.paint_error(Colour::Yellow, "warning:");
                screen.tell(&format!("{warning} TECTUM_LOG is not understood and not used: {error}"));
                log.with_max_level(level).finish().with(filter_fn(harmless)).try_init()
            }
        },
    };
}

/// The SDK tells the codes and answers of a login when it is asked for details. Nobody may ask.
fn harmless(event: &Metadata<'_>) -> bool {
    !event.target().starts_with("rmcp::transport") || *event.level() <= tracing::Level::WARN
}
