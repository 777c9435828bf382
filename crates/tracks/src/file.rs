//! A track's file, TOML or JSON: everything that is wrong with it is told at once, with lines.

use std::collections::HashMap;

use serde_json::Value;
use tectum_core::{Fault, nearest};

use crate::{
    Ticket, TicketStatus, Track,
    node::{self, Form, Mistake, Node},
    tiers::WORKER,
};

/// The most tickets of a track: more than a person can look over, and each has a stream.
const MOST_TICKETS: usize = 500;
/// The longest id, which is part of a file's name.
const MOST_ID: usize = 64;

const OF_TRACK: &[&str] = &["id", "description", "tickets"];
const OF_TICKET: &[&str] =
    &["id", "description", "assigned_to", "target_file", "context_requirements", "depends_on", "step_mode"];

/// Reads a track whose tickets are assigned to these tiers.
pub fn parse<'t>(text: &str, tiers: impl IntoIterator<Item = &'t str>) -> Result<Track, Vec<Mistake>> {
    let root = node::parse(text)?;
    let mut reader = Reader { mistakes: Vec::new(), tiers: tiers.into_iter().collect() };
    let track = reader.track(&root);
    if reader.mistakes.is_empty() {
        return Ok(track);
    }
    reader.mistakes.sort_by_key(|mistake| mistake.line);
    Err(reader.mistakes)
}

/// A track as a file that [`parse`] reads, without how far its tickets are: JSON, or TOML.
pub fn written(track: &Track, json: bool) -> Result<String, Fault> {
    let mut value = serde_json::to_value(track).map_err(|error| Fault::internal(error.to_string()))?;
    for ticket in value["tickets"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        let says = |value: &Value| {
            !(value.is_null() || *value == false || value.as_array().is_some_and(Vec::is_empty))
        };
        ticket.retain(|key, value| OF_TICKET.contains(&key.as_str()) && says(value));
    }
    let text = if json {
        serde_json::to_string_pretty(&value).map_err(|error| error.to_string())
    } else {
        toml::to_string_pretty(&value).map_err(|error| error.to_string())
    };
    text.map_err(Fault::internal)
}

struct Reader<'t> {
    mistakes: Vec<Mistake>,
    tiers: Vec<&'t str>,
}

type Fields<'n> = HashMap<&'n str, &'n Node>;

impl Reader<'_> {
    fn wrong(&mut self, line: usize, message: impl Into<String>) {
        self.mistakes.push(Mistake { line, message: message.into() });
    }

    fn track(&mut self, root: &Node) -> Track {
        let fields = self.fields(root, OF_TRACK, "a track");
        let id = self.id(&fields, root.line, "the track");
        let description = self.text(&fields, "description").unwrap_or_default();
        let nodes: &[Node] = match fields.get("tickets") {
            Some(Node { form: Form::List(nodes), .. }) => nodes,
            Some(node) => {
                self.wrong(node.line, "`tickets` must be a list of tickets");
                &[]
            }
            None => &[],
        };
        match nodes.len() {
            0 if !fields.contains_key("tickets") => {
                self.wrong(root.line, "there are no tickets: write [[tickets]] for each")
            }
            0 => self.wrong(fields["tickets"].line, "there are no tickets"),
            count if count > MOST_TICKETS => {
                self.wrong(
                    nodes[MOST_TICKETS].line,
                    format!("there are {count} tickets; {MOST_TICKETS} are the most"),
                );
            }
            _ => {}
        }
        let tickets: Vec<(usize, Ticket)> = nodes.iter().map(|node| (node.line, self.ticket(node))).collect();
        self.names(&tickets);
        self.circles(&tickets);
        Track { id, description, tickets: tickets.into_iter().map(|(_, ticket)| ticket).collect() }
    }

    fn ticket(&mut self, node: &Node) -> Ticket {
        let fields = self.fields(node, OF_TICKET, "a ticket");
        let id = self.id(&fields, node.line, "the ticket");
        let description = self.text(&fields, "description");
        if matches!(node.form, Form::Table(_))
            && description.as_ref().is_none_or(|text| text.trim().is_empty())
        {
            self.wrong(node.line, format!("the ticket `{id}` has no description: say what is to be done"));
        }
        let assigned_to = self.text(&fields, "assigned_to").unwrap_or_else(|| WORKER.into());
        if !self.tiers.contains(&assigned_to.as_str()) {
            let line = fields.get("assigned_to").map_or(node.line, |node| node.line);
            self.wrong(
                line,
                format!("there is no tier `{assigned_to}`; there are: {}", self.tiers.join(", ")),
            );
        }
        let step_mode = match fields.get("step_mode").map(|node| (&node.form, node.line)) {
            Some((Form::Flag(flag), _)) => *flag,
            Some((_, line)) => {
                self.wrong(line, "`step_mode` must be true or false");
                false
            }
            None => false,
        };
        Ticket {
            id,
            description: description.unwrap_or_default(),
            status: TicketStatus::Todo,
            assigned_to,
            target_file: self.text(&fields, "target_file"),
            context_requirements: self.words(&fields, "context_requirements"),
            depends_on: self.words(&fields, "depends_on"),
            blocked_reason: None,
            step_mode,
            result: None,
            analysis: None,
        }
    }

    /// The entries of a table that are known; the others are mistakes.
    fn fields<'n>(&mut self, node: &'n Node, known: &[&str], what: &str) -> Fields<'n> {
        let Form::Table(entries) = &node.form else {
            self.wrong(node.line, format!("{what} must be a table"));
            return Fields::new();
        };
        let mut fields = Fields::new();
        for (key, value) in entries {
            if !known.contains(&key.as_str()) {
                let meant = nearest(key, known.iter().copied());
                let meant = meant.map_or(format!("it has: {}", known.join(", ")), |near| {
                    format!("did you mean `{near}`?")
                });
                self.wrong(value.line, format!("{what} has no `{key}`; {meant}"));
            } else if fields.insert(key, value).is_some() {
                self.wrong(value.line, format!("`{key}` is given twice"));
            }
        }
        fields
    }

    fn text(&mut self, fields: &Fields<'_>, key: &str) -> Option<String> {
        match fields.get(key).map(|node| (&node.form, node.line))? {
            (Form::Text(text), _) => Some(text.clone()),
            (_, line) => {
                self.wrong(line, format!("`{key}` must be text"));
                None
            }
        }
    }

    fn words(&mut self, fields: &Fields<'_>, key: &str) -> Vec<String> {
        let Some(node) = fields.get(key) else { return Vec::new() };
        let Form::List(each) = &node.form else {
            self.wrong(node.line, format!("`{key}` must be a list of texts"));
            return Vec::new();
        };
        let mut words = Vec::new();
        for node in each {
            match &node.form {
                Form::Text(word) => words.push(word.clone()),
                _ => self.wrong(node.line, format!("`{key}` must be a list of texts")),
            }
        }
        words
    }

    fn id(&mut self, fields: &Fields<'_>, line: usize, what: &str) -> String {
        let id = self.text(fields, "id").unwrap_or_default();
        let line = fields.get("id").map_or(line, |node| node.line);
        let fits = id.len() <= MOST_ID
            && id.starts_with(|c: char| c.is_ascii_alphanumeric())
            && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        match fields.get("id").map(|node| &node.form) {
            None => self.wrong(line, format!("{what} has no id")),
            Some(Form::Text(_)) if !fits => self.wrong(
                line,
                format!("the id {id:?} must be 1 to {MOST_ID} letters, digits, `-`, `_` or `.`, and begin with a letter or digit"),
            ),
            Some(_) => {}
        }
        id
    }

    /// Ids that stand twice, and dependencies on what is not there.
    fn names(&mut self, tickets: &[(usize, Ticket)]) {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (line, ticket) in tickets.iter().filter(|(_, ticket)| !ticket.id.is_empty()) {
            match first.get(ticket.id.as_str()) {
                Some(before) => self.wrong(
                    *line,
                    format!("the id `{}` is also that of the ticket in line {before}", ticket.id),
                ),
                None => drop(first.insert(&ticket.id, *line)),
            }
        }
        for (line, ticket) in tickets {
            for other in ticket.depends_on.iter().filter(|other| !first.contains_key(other.as_str())) {
                let meant = nearest(other, first.keys().copied());
                let meant = meant.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                self.wrong(
                    *line,
                    format!("the ticket `{}` depends on `{other}`, which is not there{meant}", ticket.id),
                );
            }
        }
    }

    /// Tickets that wait for themselves, each circle once.
    fn circles(&mut self, tickets: &[(usize, Ticket)]) {
        let mut open: Vec<&(usize, Ticket)> = tickets.iter().collect();
        loop {
            let waits = |ticket: &Ticket| {
                open.iter()
                    .find(|(_, other)| ticket.depends_on.contains(&other.id))
                    .map(|(_, other)| other.id.as_str())
            };
            let free: Vec<&str> = open
                .iter()
                .filter(|(_, ticket)| waits(ticket).is_none())
                .map(|(_, ticket)| ticket.id.as_str())
                .collect();
            if !free.is_empty() {
                open.retain(|(_, ticket)| !free.contains(&ticket.id.as_str()));
                continue;
            }
            let Some((_, start)) = open.first() else { return };
            // Everybody left waits for somebody left, so whoever follows that comes back.
            let mut way = vec![start.id.as_str()];
            let circle = loop {
                let last = way.last().copied().unwrap_or_default();
                let next =
                    open.iter().find(|(_, ticket)| ticket.id == last).and_then(|(_, ticket)| waits(ticket));
                let Some(next) = next else { return };
                if let Some(at) = way.iter().position(|id| *id == next) {
                    break way.split_off(at);
                }
                way.push(next);
            };
            let line = open.iter().find(|(_, ticket)| ticket.id == circle[0]).map_or(1, |(line, _)| *line);
            let names: Vec<String> =
                circle.iter().chain(circle.first()).map(|id| format!("`{id}`")).collect();
            self.wrong(line, format!("these tickets wait for each other: {}", names.join(" waits for ")));
            open.retain(|(_, ticket)| !circle.contains(&ticket.id.as_str()));
        }
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
