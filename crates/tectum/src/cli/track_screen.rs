//! A track as people see it: a line on standard error for each change of a ticket and for each call, and
//! the end of it on standard output. Programs get one object a line.

use serde_json::{Value, json};
use tectum::{
    engine::Event,
    tracks::{Ticket, TicketStatus, Told, Track, TrackSummary},
};

use super::{
    progress::one_line,
    screen::{Colour, Screen},
};

/// Characters of a line.
const MOST_LINE: usize = 160;

/// Shows what happens.
#[derive(Debug)]
pub(crate) struct TrackScreen {
    screen: Screen,
}

impl TrackScreen {
    pub(crate) fn new(screen: Screen) -> Self {
        Self { screen }
    }

    pub(crate) fn show(&self, told: &Told<'_>) {
        if self.screen.json {
            let Some(line) = as_data(told) else { return };
            // Nobody is left to tell that standard output is closed; the work goes on and is kept.
            let _ = self.screen.print_json(&line);
        } else if !self.screen.quiet {
            as_lines(told, &self.screen).iter().for_each(|line| self.screen.tell(line));
        }
    }
}

fn as_data(told: &Told<'_>) -> Option<Value> {
    match told {
        Told::Ticket(ticket) => Some(json!({ "event": "ticket", "ticket": ticket })),
        Told::Event { tier, ticket, event: Event::Called { call, failed, .. } } => Some(json!({
            "event": "call", "tier": tier, "ticket": ticket, "tool": call.name, "arguments": call.arguments,
            "failed": failed,
        })),
        Told::Event { .. } => None,
    }
}

fn as_lines(told: &Told<'_>, screen: &Screen) -> Vec<String> {
    match told {
        Told::Ticket(ticket) => {
            let what = match ticket.status {
                TicketStatus::Todo => "put back".to_owned(),
                TicketStatus::InProgress => format!("begun by {}", ticket.assigned_to),
                TicketStatus::Completed => {
                    format!("completed: {}", ticket.result.as_deref().unwrap_or_default())
                }
                TicketStatus::Blocked => why_blocked(ticket),
            };
            let name = screen.paint_error(colour(ticket.status), &ticket.id);
            let mut lines = vec![format!("{name} {}", one_line(&what, MOST_LINE))];
            let analysis = ticket.analysis.as_ref().filter(|_| ticket.status == TicketStatus::Blocked);
            lines.extend(analysis.map(|said| format!("{name} QA: {}", one_line(said, MOST_LINE * 3))));
            lines
        }
        Told::Event { tier, ticket, event } => {
            let who = if ticket.is_empty() { tier } else { ticket };
            let line = match event {
                Event::Calls(call) => format!("{} {}", call.name, call.arguments),
                Event::Called { call, failed: true, text, .. } => {
                    let why = text.lines().next().unwrap_or_default();
                    format!("{} failed: {}", call.name, why.trim_start_matches("ERROR: "))
                }
                _ => return Vec::new(),
            };
            vec![screen.paint_error(Colour::Dim, &format!("  {who}: {}", one_line(&line, MOST_LINE)))]
        }
    }
}

fn colour(status: TicketStatus) -> Colour {
    match status {
        TicketStatus::Todo => Colour::Dim,
        TicketStatus::InProgress => Colour::Cyan,
        TicketStatus::Completed => Colour::Green,
        TicketStatus::Blocked => Colour::Yellow,
    }
}

fn why_blocked(ticket: &Ticket) -> String {
    format!("blocked: {}", ticket.blocked_reason.as_deref().unwrap_or_default())
}

/// A track as a list, for a person to accept.
pub(crate) fn listed(track: &Track, screen: &Screen) -> String {
    let mut text = format!(
        "track {}: {}\n",
        screen.paint(Colour::Bold, &track.id),
        one_line(&track.description, MOST_LINE * 3)
    );
    for ticket in &track.tickets {
        text.push_str(&format!("  {}: {}\n", ticket.id, one_line(&ticket.description, MOST_LINE * 6)));
        let files = ticket.target_file.iter().chain(&ticket.context_requirements);
        for (what, names) in [("after", ticket.depends_on.clone()), ("files", files.cloned().collect())] {
            if !names.is_empty() {
                text.push_str(&format!("    {what}: {}\n", one_line(&names.join(", "), MOST_LINE * 3)));
            }
        }
    }
    text
}

/// How a track ended: a line, and one for each ticket that is not completed.
pub(crate) fn summed_up(track: &Track, stall: Option<&str>, screen: &Screen) -> String {
    let sums = TrackSummary::of(track);
    let mut text = format!("{}: {} of {} tickets completed", track.id, sums.completed, sums.tickets);
    for (count, word) in [(sums.blocked, "blocked"), (sums.todo, "left to do")] {
        if count > 0 {
            text.push_str(&format!(", {count} {word}"));
        }
    }
    text.push('\n');
    for ticket in track.tickets.iter().filter(|ticket| ticket.status != TicketStatus::Completed) {
        let what = match ticket.status {
            TicketStatus::Blocked => why_blocked(ticket),
            _ => "left to do".to_owned(),
        };
        let name = screen.paint(colour(ticket.status), &ticket.id);
        text.push_str(&format!("  {name} {}\n", one_line(&what, MOST_LINE * 3)));
        if let Some(analysis) = &ticket.analysis {
            text.push_str(&format!("    QA: {}\n", one_line(analysis, MOST_LINE * 3)));
        }
    }
    text.extend(stall.map(|stall| format!("  {}\n", one_line(stall, MOST_LINE * 6))));
    text
}
