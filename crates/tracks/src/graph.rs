//! The state machine of a track: which tickets may begin, and what the end of one means for others.
//!
//! A ticket goes from todo to in progress to completed, and from the first two to blocked. Whatever
//! waits for a blocked one is blocked with it, so that nothing waits in silence.

use tectum_core::Fault;

use crate::{Ticket, TicketStatus, Track};

/// The tickets of a track and how far they are.
#[derive(Clone, Debug)]
pub struct Graph {
    track: Track,
}

impl Graph {
    /// The graph of a track. What waits for a blocked ticket is blocked from the start.
    pub fn new(track: Track) -> Self {
        let mut graph = Self { track };
        graph.spread();
        graph
    }

    /// The track as it stands.
    pub fn track(&self) -> &Track {
        &self.track
    }

    /// The tickets that may begin, in the order of the file.
    pub fn ready(&self) -> impl Iterator<Item = &Ticket> {
        let may = |ticket: &&Ticket| {
            ticket.status == TicketStatus::Todo && ticket.depends_on.iter().all(|id| self.is_completed(id))
        };
        self.track.tickets.iter().filter(may)
    }

    /// A worker begins.
    pub fn begin(&mut self, id: &str) -> Result<(), Fault> {
        if !self.ready().any(|ticket| ticket.id == id) {
            return Err(Fault::conflict(format!("the ticket `{id}` is not ready to begin")));
        }
        self.ticket(id)?.status = TicketStatus::InProgress;
        Ok(())
    }

    /// A worker is done.
    pub fn complete(&mut self, id: &str, result: String) -> Result<(), Fault> {
        let ticket = self.ticket(id)?;
        if ticket.status != TicketStatus::InProgress {
            return Err(Fault::conflict(format!("nobody works on the ticket `{id}`")));
        }
        ticket.status = TicketStatus::Completed;
        ticket.result = Some(result);
        Ok(())
    }

    /// A ticket will not be completed. Gives all that are blocked by that, itself first.
    pub fn block(
        &mut self,
        id: &str,
        reason: String,
        analysis: Option<String>,
    ) -> Result<Vec<String>, Fault> {
        let ticket = self.ticket(id)?;
        if !matches!(ticket.status, TicketStatus::Todo | TicketStatus::InProgress) {
            return Err(Fault::conflict(format!("the ticket `{id}` has ended already")));
        }
        ticket.status = TicketStatus::Blocked;
        ticket.blocked_reason = Some(reason);
        ticket.analysis = analysis;
        let mut blocked = vec![id.to_owned()];
        blocked.extend(self.spread());
        Ok(blocked)
    }

    /// A worker left without an end: somebody else may begin.
    pub fn put_back(&mut self, id: &str) -> Result<(), Fault> {
        let ticket = self.ticket(id)?;
        if ticket.status == TicketStatus::InProgress {
            ticket.status = TicketStatus::Todo;
        }
        Ok(())
    }

    /// Where nobody works and nothing is ready though something is left: what waits for what.
    pub fn stall(&self) -> Option<String> {
        let moves = |ticket: &Ticket| ticket.status == TicketStatus::InProgress;
        if self.track.tickets.iter().any(moves) || self.ready().next().is_some() {
            return None;
        }
        let waiting = self.track.tickets.iter().filter(|ticket| ticket.status == TicketStatus::Todo);
        let waiting: Vec<String> = waiting
            .map(|ticket| {
                let open = ticket.depends_on.iter().filter(|id| !self.is_completed(id));
                let open: Vec<String> = open.map(|id| format!("`{id}`")).collect();
                format!("`{}` waits for {}", ticket.id, open.join(", "))
            })
            .collect();
        (!waiting.is_empty()).then(|| format!("nothing can begin: {}", waiting.join("; ")))
    }

    fn is_completed(&self, id: &str) -> bool {
        self.track.ticket(id).is_some_and(|ticket| ticket.status == TicketStatus::Completed)
    }

    fn ticket(&mut self, id: &str) -> Result<&mut Ticket, Fault> {
        let found = self.track.tickets.iter_mut().find(|ticket| ticket.id == id);
        found.ok_or_else(|| Fault::not_found(format!("there is no ticket `{id}`")))
    }

    /// Blocks what waits for a blocked ticket, until nothing does. Gives them in that order. The reason
    /// names the ticket that was blocked first, however far away.
    fn spread(&mut self) -> Vec<String> {
        let mut spread = Vec::new();
        loop {
            let next = self.track.tickets.iter().enumerate().find_map(|(at, ticket)| {
                let by = self.blocker(ticket).filter(|_| ticket.status == TicketStatus::Todo)?;
                let reason = by.blocked_reason.as_deref().unwrap_or_default();
                // One that was worked on had nothing blocked before it.
                let first = self.blocker(by).is_none();
                Some((
                    at,
                    if first { format!("`{}` is blocked: {reason}", by.id) } else { reason.to_owned() },
                ))
            });
            let Some((at, reason)) = next else { return spread };
            let ticket = &mut self.track.tickets[at];
            ticket.status = TicketStatus::Blocked;
            ticket.blocked_reason = Some(reason);
            spread.push(ticket.id.clone());
        }
    }

    /// A blocked ticket that this one waits for.
    fn blocker(&self, ticket: &Ticket) -> Option<&Ticket> {
        let blocked = |ticket: &&Ticket| ticket.status == TicketStatus::Blocked;
        ticket.depends_on.iter().filter_map(|id| self.track.ticket(id)).find(blocked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::tests::track;

    fn ready(graph: &Graph) -> Vec<&str> {
        graph.ready().map(|ticket| ticket.id.as_str()).collect()
    }

    fn diamond() -> Graph {
        Graph::new(track(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"]), ("e", &[])]))
    }

    #[test]
    fn a_diamond_is_walked_from_the_top() {
        let mut graph = diamond();
        assert_eq!(ready(&graph), ["a", "e"]);
        for (id, expect) in [("a", "b c e"), ("b", "c e"), ("c", "d e"), ("d", "e"), ("e", "")] {
            graph.begin(id).expect("ready");
            graph.complete(id, "done".into()).expect("begun");
            assert_eq!(ready(&graph).join(" "), expect);
        }
        assert_eq!(graph.stall(), None);
    }

    #[test]
    fn what_waits_for_a_blocked_ticket_is_blocked_and_says_by_which() {
        let mut graph = diamond();
        graph.begin("a").expect("ready");
        let blocked = graph.block("a", "it burns".into(), Some("put it out".into())).expect("begun");
        assert_eq!(blocked, ["a", "b", "c", "d"]);
        let why = |id| graph.track().ticket(id).and_then(|ticket| ticket.blocked_reason.as_deref());
        assert_eq!(why("a"), Some("it burns"));
        for id in ["b", "c", "d"] {
            assert_eq!(why(id), Some("`a` is blocked: it burns"));
        }
        assert_eq!(ready(&graph), ["e"]);
    }

    #[test]
    fn steps_that_make_no_sense_are_refused() {
        let mut graph = diamond();
        assert!(graph.begin("b").is_err(), "its dependency is not completed");
        assert!(graph.complete("a", String::new()).is_err(), "nobody began");
        graph.begin("a").expect("ready");
        assert!(graph.begin("a").is_err(), "twice");
        graph.put_back("a").expect("known");
        graph.begin("a").expect("ready again");
        graph.complete("a", String::new()).expect("begun");
        assert!(graph.block("a", "late".into(), None).is_err(), "it is completed");
        assert!(graph.begin("x").is_err() && graph.put_back("x").is_err());
    }

    #[test]
    fn a_stall_is_named() {
        let graph = Graph::new(track(&[("a", &["b"]), ("b", &["a"])]));
        let stall = graph.stall().expect("nothing can begin");
        assert_eq!(stall, "nothing can begin: `a` waits for `b`; `b` waits for `a`");
    }
}
