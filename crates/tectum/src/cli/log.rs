//! Logging, always to standard error and without secrets: what servers and clients said may be in
//! it. The filter with its patterns is built only when asked for.

use std::io;

use tracing::{Metadata, level_filters::LevelFilter};
use tracing_subscriber::{
    EnvFilter, filter::filter_fn, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use super::screen::Screen;

/// Starts logging at a level; `TECTUM_LOG` may say more, per module.
pub(crate) fn start(level: LevelFilter, screen: &Screen) {
    tell_panics();
    let log = fmt().with_writer(|| Redacted(io::stderr())).with_ansi(screen.paints_errors);
    // A second start, in a test or a host that logs itself, changes nothing.
    let _ = match std::env::var("TECTUM_LOG") {
        Err(_) => log.with_max_level(level).finish().with(filter_fn(harmless)).try_init(),
        Ok(words) => match EnvFilter::try_new(&words) {
            Ok(filter) => log.with_env_filter(filter).finish().with(filter_fn(harmless)).try_init(),
            Err(error) => {
                screen.warn(&format!("TECTUM_LOG is invalid and ignored: {error}"));
                log.with_max_level(level).finish().with(filter_fn(harmless)).try_init()
            }
        },
    };
}

/// Tells panics like everything else, without secrets.
fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        // There is nobody to tell that it cannot be told.
        let _ = io::Write::write_all(&mut Redacted(io::stderr()), format!("{panic}\n").as_bytes());
    }));
}

/// Writes events without secrets. An event comes whole.
struct Redacted<W>(W);

impl<W: io::Write> io::Write for Redacted<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        self.0.write_all(tectum_redact::text(&text).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The SDK tells the codes and answers of a login when it is asked for details. Nobody may ask.
fn harmless(event: &Metadata<'_>) -> bool {
    !event.target().starts_with("rmcp::transport") || *event.level() <= tracing::Level::WARN
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use super::*;

    /// The lines that were logged.
    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn secrets_are_not_logged() {
        for ansi in [false, true] {
            let paper = Paper::default();
            let writer = paper.clone();
            let log = fmt().with_ansi(ansi).with_writer(move || Redacted(writer.clone())).finish();
            let token = format!("ghp_{}", "abcdefghijklmnopqrstuvwxyz0123456789");
            tracing::subscriber::with_default(log, || {
                tracing::warn!(why = token, "it said DB_PASSWORD=hunter2");
                tracing::warn!(why = %token, "nothing else");
            });
            let logged = String::from_utf8(paper.0.lock().expect("whole").clone()).expect("text");
            assert!(!logged.contains("hunter2") && !logged.contains("abcdefg"), "{logged}");
            assert!(logged.contains("nothing else") && logged.contains("[redacted]"), "{logged}");
        }
    }

    #[test]
    fn codes_of_a_login_are_not_logged() {
        let paper = Paper::default();
        let writer = paper.clone();
        let log = fmt().with_max_level(LevelFilter::TRACE).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(log.with(filter_fn(harmless)), || {
            tracing::debug!(target: "rmcp::transport::auth", "start exchange code: hunter2");
            tracing::warn!(target: "rmcp::transport::auth", "a warning");
            tracing::trace!(target: "tectum_peers::link", "our own");
        });
        let logged = String::from_utf8(paper.0.lock().expect("whole").clone()).expect("text");
        assert!(!logged.contains("hunter2"), "{logged}");
        assert!(logged.contains("a warning") && logged.contains("our own"), "{logged}");
    }
}
