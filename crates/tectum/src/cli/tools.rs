//! `tectum tools`: what an agent is offered, what the rules say about it, what it costs.

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Config,
    config::servers::Survey,
    core::{Judgement, Snapshot, ToolInfo},
    peers::{
        client_table::ClientFacts,
        federation::{Profile, Profiles},
    },
    servers,
    tool_facts::{data, effect, tokens},
};
use tokio::runtime::Builder;

use super::{
    as_client::{self, AsClient},
    failure::Failure,
    options::Shared,
    screen::{Colour, Screen, counted, harmless, tell_note},
    servers::status,
};

/// Characters of a description in the table: about a line beside the other columns.
const MOST_SHOWN: usize = 160;

/// List the tools with effect, permission and token cost.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// Start servers that have not been started yet, so that their tools are listed too
    #[arg(long)]
    meet: bool,
    /// Show what the model in this client receives: claude, codex, opencode, gemini or qwen
    #[arg(long = "as", value_name = "CLIENT", value_parser = as_client::parse)]
    client: Option<AsClient>,
}

impl Tools {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let config = shared.load(Vec::new(), screen)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        // What servers offer is known from their last run; none is started unless that is wanted.
        let (snapshot, away, listed, remarks) = runtime.block_on(async {
            let household = shared.household(screen).await?;
            let away = if self.meet { household.federation.meet_all().await } else { Vec::new() };
            let snapshot = household.house.registry().snapshot();
            let listed = self.client.map(|client| (client, client.list(&household)));
            let status = household.federation.status().into_values();
            let remarks: Vec<String> = status.flat_map(|status| status.remarks).collect();
            household.stop().await;
            Ok::<_, Failure>((snapshot, away, listed, remarks))
        })?;
        if let Some((client, tools)) = listed {
            return client.tell_list(&tools, screen);
        }
        let unmet = unmet(shared, &config);
        let [others, agents] = Listed::of_both(&snapshot, &config.tools.profiles);
        let permission = |info: &ToolInfo| config.permissions.judge(&info.name, info.world).0;
        if screen.json {
            let tools: Vec<Value> = snapshot.tools().map(|info| data(info, permission(info))).collect();
            let total: usize = snapshot.tools().map(|info| tokens(info, &Profile::All)).sum();
            let listed = json!({ "others": others.data(), "agents": agents.data() });
            return screen
                .print_json(&json!({ "tools": tools, "tokens": total, "listed": listed, "unmet": unmet }));
        }
        let rows: Vec<(&ToolInfo, Judgement)> =
            snapshot.tools().map(|info| (info, permission(info))).collect();
        let listed = format!(
            "; coding agents see {} ({} tokens), other clients {} ({} tokens)",
            agents.tools, agents.tokens, others.tools, others.tokens
        );
        screen.print(&table(&rows, &listed, screen))?;
        remarks.iter().for_each(|remark| tell_note(remark, screen));
        for (name, fault) in &away {
            tell_note(&format!("`{name}` could not be started: {}", fault.text()), screen);
        }
        for name in unmet.iter().filter(|name| !away.iter().any(|(away, _)| away == *name)) {
            let told =
                "has not been started yet, so its tools are not listed: `tectum tools --meet` starts it";
            tell_note(&format!("`{name}` {told}"), screen);
        }
        Ok(())
    }
}

/// The list for one kind of client.
pub(crate) struct Listed {
    /// The number of tools.
    pub(crate) tools: usize,
    /// The tokens that a model reads of them.
    pub(crate) tokens: usize,
}

impl Listed {
    /// The lists for unknown clients and for coding agents.
    pub(crate) fn of_both(snapshot: &Snapshot, profiles: &Profiles) -> [Self; 2] {
        let agent = ClientFacts::known().iter().find(|facts| facts.coding);
        [ClientFacts::unknown(), agent.unwrap_or(ClientFacts::unknown())].map(|facts| {
            let profile = profiles.profile(facts.name, facts);
            let listed = || snapshot.tools().filter(|info| profile.lists(info));
            let read = |info: &ToolInfo| tokens(info, &profile);
            Self { tools: listed().count(), tokens: listed().map(read).sum() }
        })
    }

    pub(crate) fn data(&self) -> Value {
        json!({ "tools": self.tools, "tokens": self.tokens })
    }
}

/// The servers in use of which nobody knows what they offer.
fn unmet(shared: &Shared, config: &Config) -> Vec<String> {
    let traces = servers::directory(config);
    let known = |name: &str| traces.as_deref().is_some_and(|traces| status::is_known(traces, name));
    let specs = Survey::read(&shared.sources(Vec::new()), config).resolved().specs;
    specs.into_iter().map(|spec| spec.name.to_string()).filter(|name| !known(name)).collect()
}

fn table(rows: &[(&ToolInfo, Judgement)], listed: &str, screen: &Screen) -> String {
    let widest = rows.iter().map(|(info, _)| info.name.chars().count()).max().unwrap_or(0).max("TOOL".len());
    let head =
        format!("{:<widest$}  {:<6}  {:<10}  {:>6}  DESCRIPTION", "TOOL", "EFFECT", "PERMISSION", "TOKENS");
    let mut text = format!("{}\n", screen.paint(Colour::Bold, &head));
    for (info, judgement) in rows {
        let colour = match judgement {
            Judgement::Allow => Colour::Green,
            Judgement::Ask => Colour::Yellow,
            Judgement::Deny => Colour::Red,
        };
        let judgement = screen.paint(colour, &format!("{:<10}", judgement.to_string()));
        let (effect, tokens) = (effect(info), tokens(info, &Profile::All));
        let words = harmless(&first_sentence(&info.description)).into_owned();
        text.push_str(&format!("{:<widest$}  {effect:<6}  {judgement}  {tokens:>6}  {words}\n", info.name));
    }
    let total: usize = rows.iter().map(|(info, _)| tokens(info, &Profile::All)).sum();
    let sum = format!("{}, about {total} tokens{listed}", counted(rows.len() as u64, "tool"));
    text + &screen.paint(Colour::Dim, &sum)
}

/// The first sentence, at most so much of it as a line holds. A full stop inside of code or of an
/// ellipsis ends nothing.
fn first_sentence(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ends = |(at, _): &(usize, &str)| {
        !flat[..*at].ends_with('.') && flat[..*at].matches('`').count().is_multiple_of(2)
    };
    let sentence = match flat.match_indices(". ").find(ends) {
        Some((end, _)) => &flat[..=end],
        None => &flat,
    };
    match sentence.char_indices().nth(MOST_SHOWN) {
        None => sentence.to_owned(),
        Some((end, _)) => {
            let whole = sentence[..end].rfind(' ').unwrap_or(end);
            format!("{}\u{2026}", &sentence[..whole])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_is_the_one_people_see() {
        assert_eq!(first_sentence("Read a file.\nThe rest."), "Read a file.");
        assert_eq!(first_sentence("Read v1.2 files"), "Read v1.2 files");
        assert_eq!(first_sentence(""), "");
        assert_eq!(first_sentence("Bodies as `{ ... }`. More."), "Bodies as `{ ... }`.");
        assert_eq!(first_sentence("One ... two. Three."), "One ... two.");
        let long = format!("{} end", "word ".repeat(50));
        let shown = first_sentence(&long);
        assert!(shown.ends_with("word\u{2026}") && shown.chars().count() <= MOST_SHOWN + 1, "{shown}");
    }
}
