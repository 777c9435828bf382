//! Ctrl-C and SIGTERM: the first asks to stop, the second ends the process.

use std::{io, thread};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The exit code shells give a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Cancels `stop` on the first signal. Must be called within a runtime.
pub(crate) fn on_signal(stop: CancellationToken) -> io::Result<()> {
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        let mut next = async || {
            tokio::select! {
                _ = interrupts.recv() => {}
                _ = terminations.recv() => {}
            }
        };
        next().await;
        stop.cancel();
        next().await;
        std::process::exit(INTERRUPTED);
    });
    Ok(())
}

/// The same from a thread of its own, for a command whose work may hold its only thread.
pub(crate) fn on_signal_elsewhere(stop: CancellationToken) {
    // Without the watcher Ctrl-C keeps its plain meaning, which is to end the process.
    let _ = thread::Builder::new().name("signals".into()).spawn(move || -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        runtime.block_on(async {
            on_signal(stop)?;
            std::future::pending::<io::Result<()>>().await
        })
    });
}
