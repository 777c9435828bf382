//! The pool: keeps so many workers at tickets that are ready, until none is left.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use tectum_core::Fault;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{Board, Ticket};

/// Whoever works on a ticket. It says when it begins with [`Graph::begin`](crate::Graph::begin), since it may
/// have to ask a person before.
pub trait Worker: Send + Sync + 'static {
    /// Works on it to some end.
    fn work(&self, ticket: Ticket) -> impl Future<Output = Done> + Send;
}

/// The end of a worker.
#[derive(Debug)]
pub enum Done {
    /// The ticket is done; the worker's last words.
    Completed(String),
    /// It is not, and will not be.
    Blocked {
        /// Why.
        reason: String,
        /// The opinion of QA.
        analysis: Option<String>,
    },
    /// It was left as it was: somebody asked to stop.
    Left,
    /// It was left as it was, and no other will fare better.
    Failed(Fault),
}

/// The end of a track.
#[derive(Debug, Default)]
pub struct Ended {
    /// Why no worker can go on.
    pub fault: Option<Fault>,
    /// What waits for what, where something is left that nobody can begin.
    pub stall: Option<String>,
    /// True if somebody asked to stop.
    pub cancelled: bool,
}

/// Works on the board's track, with at most so many workers at once.
pub async fn schedule<W: Worker>(
    board: &Board,
    worker: Arc<W>,
    workers: usize,
    cancel: &CancellationToken,
) -> Ended {
    let mut ended = Ended::default();
    let mut at_work = JoinSet::new();
    let mut ids: HashMap<tokio::task::Id, String> = HashMap::new();
    let mut left: HashSet<String> = HashSet::new();
    loop {
        if ended.fault.is_none() && !cancel.is_cancelled() {
            for ticket in board.ready() {
                if at_work.len() >= workers.max(1) {
                    break;
                }
                if left.contains(&ticket.id) || ids.values().any(|id| *id == ticket.id) {
                    continue;
                }
                let (id, worker) = (ticket.id.clone(), worker.clone());
                let task = at_work.spawn(async move { worker.work(ticket).await });
                ids.insert(task.id(), id);
            }
        }
        let Some(joined) = at_work.join_next_with_id().await else { break };
        let (task, done) = match joined {
            Ok((task, done)) => (task, done),
            Err(error) => {
                let reason = format!("its worker broke down: {error}");
                (error.id(), Done::Blocked { reason, analysis: None })
            }
        };
        let Some(id) = ids.remove(&task) else { continue };
        let kept = match done {
            Done::Completed(result) => board.change(|graph| graph.complete(&id, result)).await,
            Done::Blocked { reason, analysis } => {
                board.change(|graph| graph.block(&id, reason, analysis)).await.map(drop)
            }
            Done::Left | Done::Failed(_) => {
                if let Done::Failed(fault) = done {
                    ended.fault.get_or_insert(fault);
                }
                left.insert(id.clone());
                board.change(|graph| graph.put_back(&id)).await
            }
        };
        if let Err(fault) = kept {
            ended.fault.get_or_insert(fault);
        }
    }
    ended.cancelled = cancel.is_cancelled();
    ended.stall = board.close().filter(|_| ended.fault.is_none() && !ended.cancelled);
    ended
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
