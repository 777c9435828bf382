//! `--as CLIENT`: what that client's model would be given, and what it costs.

use serde_json::{Value, json};
use tectum::{
    FaultKind, Outcome,
    peers::{
        client_table::{ClientFacts, ToolsShown},
        serve::{self, Form},
    },
    servers::Household,
};

use super::{
    failure::Failure,
    screen::{Screen, counted, harmless, tell_note},
    tokens::estimate,
};

/// A client that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct AsClient(&'static ClientFacts);

/// Reads the name of a client, for the command line.
pub(super) fn parse(word: &str) -> Result<AsClient, String> {
    ClientFacts::named(word).map(AsClient).ok_or_else(|| {
        let known: Vec<String> =
            ClientFacts::known().iter().map(|facts| format!("{} ({})", facts.title, facts.name)).collect();
        format!("unknown client; known clients: {}", known.join(", "))
    })
}

impl AsClient {
    /// A name that it gives itself.
    fn name(self) -> &'static str {
        self.0.name.trim_end_matches('*')
    }

    /// The form of its results under these settings.
    pub(super) fn form(self, household: &Household) -> Form {
        household.federation.forms().form(self.name(), self.0, None)
    }

    /// The list, as its model sees it.
    pub(super) fn list(self, household: &Household) -> Vec<Value> {
        let snapshot = household.house.registry().snapshot();
        let profile = household.federation.profile(self.name(), self.0);
        let definitions = serve::definitions(&snapshot, &profile, &self.form(household));
        let read = |definition: &String| {
            let tool: Value = serde_json::from_str(definition).unwrap_or_default();
            let (name, description, schema) = (&tool["name"], &tool["description"], &tool["inputSchema"]);
            let tokens = tokens(&format!("{name}{description}{schema}"));
            json!({ "name": name, "description": description, "input_schema": schema, "tokens": tokens })
        };
        definitions.iter().map(read).collect()
    }

    /// Prints the list.
    pub(super) fn tell_list(self, tools: &[Value], screen: &Screen) -> Result<(), Failure> {
        let all: u64 = tools.iter().filter_map(|tool| tool["tokens"].as_u64()).sum();
        let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
        let names = tokens(&tools.iter().map(name).collect::<Vec<_>>().join("\n"));
        let (word, at_once) = match self.0.tools {
            ToolsShown::All => ("all", all),
            ToolsShown::Names => ("names", names),
            ToolsShown::Search => ("search", 0),
        };
        if screen.json {
            return screen.print_json(&json!({
                "client": self.0.title, "shown": word, "tools": tools, "tokens": all, "tokens_at_once": at_once,
            }));
        }
        let mut text = String::new();
        for tool in tools {
            let described = tool["description"].as_str().unwrap_or_default();
            let (name, tokens, schema) = (name(tool), &tool["tokens"], &tool["input_schema"]);
            text.push_str(&format!("{name}  ({tokens} tokens)\n{}\n{schema}\n\n", described.trim()));
        }
        let count = counted(tools.len() as u64, "tool");
        let title = self.0.title;
        text.push_str(&match self.0.tools {
            ToolsShown::All => format!("{count}: {title} gives its model all definitions up front, about {all} tokens"),
            ToolsShown::Names => format!(
                "{count}: {title} gives its model the names, about {names} tokens, and each definition on \
                 request; all definitions together are about {all}"
            ),
            ToolsShown::Search => format!(
                "{count}: {title} gives its model only the tools it searches for; all definitions together are about {all} tokens"
            ),
        });
        screen.print(&harmless(&text))
    }

    /// Prints what its model is given of an outcome.
    pub(super) fn tell_call(self, form: &Form, outcome: &Outcome, screen: &Screen) -> Result<(), Failure> {
        let answer: Value = serde_json::from_str(&serve::answered(outcome, form)).unwrap_or_default();
        let (given, is_error) = match answer.get("error") {
            Some(error) => (error["message"].as_str().unwrap_or_default().to_owned(), true),
            None => (self.0.given(&answer["result"]), answer["result"]["isError"] == true),
        };
        let tokens = tokens(&given);
        if screen.json {
            screen.print_json(&json!({
                "client": self.0.title, "given": given, "is_error": is_error, "tokens": tokens,
            }))?;
        } else {
            screen.print_foreign(&given)?;
            let title = self.0.title;
            let cost = counted(tokens, "token");
            tell_note(&format!("this is what the model in {title} receives: about {cost}"), screen);
        }
        match &outcome.result {
            Err(fault) => Err(Failure::Silent(fault.kind.exit_code())),
            Ok(_) if is_error => Err(Failure::Silent(FaultKind::Upstream.exit_code())),
            Ok(_) => Ok(()),
        }
    }
}

fn tokens(text: &str) -> u64 {
    estimate(text.len()) as u64
}
