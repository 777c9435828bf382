//! One running server: its start, its handshake and the questions to it. If it breaks the protocol,
//! reads nothing, ends or is idle for too long, everybody who waits for it learns why.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json};
use tectum_child::{Child, Order, Stderr};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};

use crate::{
    Report, Trouble,
    greeting::greeting,
    message, pipes,
    shared::{Shared, refused},
    spec::{Asked, Patience, Spec},
};

/// A server that completed the handshake. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Session {
    shared: Arc<Shared>,
    /// True if it answers requests about a document; else it publishes its diagnostics by itself.
    pulled: bool,
    /// True if it has answered a question yet. The first answer is part of its start.
    answered: AtomicBool,
    /// Ends it when dropped.
    _end: tokio_util::sync::DropGuard,
}

impl Session {
    /// Starts a server and does the handshake.
    pub(crate) async fn open(spec: &Spec, patience: &Patience) -> Result<Self, Trouble> {
        let root = spec.roots.first().cloned().unwrap_or_else(|| PathBuf::from("/"));
        let log = Arc::new(Stderr::new());
        let order = Order { launch: &spec.launch, directory: &root, guard: spec.guard.as_deref() };
        let child = tectum_child::start_within(&order, spec.memory, log.clone())
            .map_err(|error| Trouble::start(&error))?;
        let Child { stdin, stdout, life } = child;
        let (out, queue) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared::new(spec, out));
        let end = shared.end.clone().drop_guard();
        tokio::spawn(pipes::write(shared.clone(), stdin, queue));
        tokio::spawn(pipes::live(shared.clone(), life, stdout, log, patience.idle));
        let hello = greeting(&root, &shared.folders, &spec.options);
        let told = timeout(patience.most_start, shared.request("initialize", &hello)).await;
        let told = told.map_err(|_| shared.give_up(Trouble::Silent(patience.most_start)))??;
        let told = told.map_err(|refusal| shared.give_up(refused(&refusal)))?;
        #[derive(Deserialize)]
        struct Hello {
            capabilities: Value,
        }
        let hello: Hello = serde_json::from_slice(&told)
            .map_err(|_| shared.give_up(Trouble::Nonsense("a greeting without capabilities".into())))?;
        shared.state.lock().used = Instant::now();
        shared.send(message::notification("initialized", &json!({})))?;
        if !shared.settings.is_null() {
            let params = json!({ "settings": shared.settings });
            shared.send(message::notification("workspace/didChangeConfiguration", &params))?;
        }
        let pulled = !hello.capabilities["diagnosticProvider"].is_null();
        Ok(Self { shared, pulled, answered: AtomicBool::new(false), _end: end })
    }

    /// The diagnostics for exactly this text.
    pub(crate) async fn diagnose(
        &self,
        asked: &Asked,
        changed: &[PathBuf],
        limit: Duration,
        settle: Duration,
    ) -> Result<Report, Trouble> {
        let answer = async {
            if self.pulled {
                let (_, _waiting) = self.shared.bring(asked, changed, true)?;
                return self.shared.pull(&asked.path).await;
            }
            self.shared.close_unversioned(&asked.path, settle).await?;
            let (version, _waiting) = self.shared.bring(asked, changed, false)?;
            self.shared.told(&asked.path, version, settle).await
        };
        let report = timeout(limit, answer).await.map_err(|_| Trouble::Slow(limit))??;
        self.answered.store(true, Ordering::Relaxed);
        Ok(report)
    }

    /// True if it has answered a question yet.
    pub(crate) fn answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Why and when it ended, if it has.
    pub(crate) fn over(&self) -> Option<(Trouble, Instant)> {
        self.shared.state.lock().over.clone()
    }
}
