//! A progress bar on standard error, for work that takes longer than a second on a terminal.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use super::super::screen::Screen;

/// Work that ends sooner shows nothing.
const QUIET: Duration = Duration::from_secs(1);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// The characters of a full bar.
const WIDTH: u64 = 30;

/// How far some work is.
#[derive(Debug)]
pub(crate) struct Bar {
    what: &'static str,
    wanted: bool,
    began: Instant,
    shown: Option<Instant>,
}

impl Bar {
    pub(crate) fn new(what: &'static str, screen: &Screen) -> Self {
        let wanted = !screen.quiet && !screen.json && io::stderr().is_terminal();
        Self { what, wanted, began: Instant::now(), shown: None }
    }

    /// Shows how far it is, once it has taken a while.
    pub(crate) fn show(&mut self, done: u64, total: u64) {
        let now = Instant::now();
        let due = self.shown.map_or(now - self.began >= QUIET, |shown| now - shown >= PAUSE);
        if !self.wanted || !due || total == 0 {
            return;
        }
        self.shown = Some(now);
        // Nobody is left to tell that standard error is closed.
        let _ = write!(io::stderr().lock(), "\r{}\x1b[K", line(self.what, done, total));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}

fn line(what: &str, done: u64, total: u64) -> String {
    let done = done.min(total);
    let full = (u128::from(done) * u128::from(WIDTH) / u128::from(total.max(1))) as usize;
    let percent = u128::from(done) * 100 / u128::from(total.max(1));
    format!("{what} [{}{}] {percent:>3} %", "#".repeat(full), "-".repeat(WIDTH as usize - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills_up() {
        assert_eq!(line("x", 0, 10), format!("x [{}]   0 %", "-".repeat(30)));
        assert_eq!(line("x", 5, 10), format!("x [{}{}]  50 %", "#".repeat(15), "-".repeat(15)));
        assert_eq!(line("x", u64::MAX, u64::MAX), format!("x [{}] 100 %", "#".repeat(30)));
    }
}
