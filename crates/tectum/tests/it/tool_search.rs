//! The words people use find the right tool. Some clients keep tools from their model until it searches for
//! them; this ranks the lists that they are given by their own rules. `cargo xtask clients --case wishes`
//! asks the real programs.

use serde_json::{Value, json};

use crate::{federated::with, rig::Rig};

/// The words that a model types, and the tools that fit them; the real clients are asked the same.
const WISHES: &str = include_str!("../../../../xtask/clients/wishes.txt");

/// The list that a client got.
struct Told {
    tools: Vec<Value>,
    instructions: String,
}

/// A client that searches.
struct Searcher {
    name: &'static str,
    /// The score of each tool for a query; zero is no match.
    rule: fn(&Told, &str) -> Vec<f64>,
    /// The least number of our tools that it shows: its own take part, and two of them came first at
    /// most.
    shows: usize,
    /// True if its model has tools from the start that say so.
    loads: bool,
}

const SEARCHERS: [Searcher; 3] = [
    Searcher { name: "claude-code", rule: claude, shows: 3, loads: true },
    Searcher { name: "codex-mcp-client", rule: codex, shows: 8, loads: false },
    Searcher { name: "qwen-cli-mcp-client-tectum", rule: qwen, shows: 3, loads: false },
];

impl Searcher {
    fn told(&self, rig: &Rig) -> Told {
        let mut client = rig.stdio_raw();
        let info = json!({"name": self.name, "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        let instructions =
            client.request("initialize", hello)["instructions"].as_str().expect("words").to_owned();
        client.notify("notifications/initialized", json!({}));
        let tools = client.request("tools/list", json!({}))["tools"].as_array().expect("a list").clone();
        Told { tools, instructions }
    }

    /// The wishes that do not lead to any of their tools.
    fn missed(&self, told: &Told) -> Vec<String> {
        let missed = |(wish, names): &(&str, Vec<&str>)| {
            let scores = (self.rule)(told, wish);
            let reached = told.tools.iter().zip(&scores).any(|(tool, score)| {
                let loaded = self.loads && tool["_meta"]["anthropic/alwaysLoad"] == true;
                // Whoever fits as well may come before.
                let place = scores.iter().filter(|other| *other >= score).count();
                names.contains(&word(tool, "name")) && (loaded || *score > 0.0 && place <= self.shows)
            });
            (!reached).then(|| format!("{}: {wish} -> {names:?}", self.name))
        };
        wishes().iter().filter_map(missed).collect()
    }
}

fn wishes() -> Vec<(&'static str, Vec<&'static str>)> {
    let lines = WISHES.lines().filter(|line| !line.starts_with('#'));
    let parts = lines.map(|line| line.split_once(": ").expect("a wish and its tools"));
    parts.map(|(wish, tools)| (wish, tools.split(", ").collect())).collect()
}

fn word<'a>(tool: &'a Value, field: &str) -> &'a str {
    tool[field].as_str().unwrap_or_default()
}

/// Points for each word of the query: in the name, in the hint and in the description.
fn claude(told: &Told, query: &str) -> Vec<f64> {
    let score = |tool: &Value| {
        let (name, description) = (word(tool, "name"), word(tool, "description").to_lowercase());
        let hint = tool["_meta"]["anthropic/searchHint"].as_str().unwrap_or_default().to_lowercase();
        let parts: Vec<&str> = name.split('_').chain(["tectum"]).collect();
        let points = |wanted: &str| {
            let in_name = match () {
                () if parts.contains(&wanted) => 12,
                () if parts.iter().any(|part| part.contains(wanted)) => 6,
                () => 0,
            };
            let in_whole = match () {
                () if name == wanted => 12,
                () if name.contains(wanted) || "tectum".contains(wanted) => 4,
                () => 0,
            };
            let has =
                |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == wanted);
            in_name + in_whole + 4 * i32::from(has(&hint)) + 2 * i32::from(has(&description))
        };
        f64::from(query.split(' ').map(points).sum::<i32>())
    };
    told.tools.iter().map(score).collect()
}

/// BM25 over names, title, description, the server's instructions and the names of arguments. An underscore
/// is no end of a word, so names say little, and words of the instructions stand in every document.
fn codex(told: &Told, query: &str) -> Vec<f64> {
    let document = |tool: &Value| {
        let name = word(tool, "name");
        let arguments = tool["inputSchema"]["properties"].as_object().into_iter().flat_map(|map| map.keys());
        let arguments: Vec<&str> = arguments.map(String::as_str).collect();
        let (title, description) = (word(tool, "title"), word(tool, "description"));
        let (instructions, arguments) = (&told.instructions, arguments.join(" "));
        stems(&format!(
            "mcp__tectum__{name} {name} {name} tectum {title} {description} {instructions} {arguments}"
        ))
    };
    let documents: Vec<Vec<String>> = told.tools.iter().map(document).collect();
    let all = documents.len() as f64;
    let mean = documents.iter().map(Vec::len).sum::<usize>() as f64 / all;
    let score = |document: &Vec<String>| {
        let points = |stem: &String| {
            let times = document.iter().filter(|other| *other == stem).count() as f64;
            let holders = documents.iter().filter(|document| document.contains(stem)).count() as f64;
            let rare = (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln();
            rare * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * document.len() as f64 / mean))
        };
        stems(query).iter().map(points).sum()
    };
    documents.iter().map(score).collect()
}

/// The words of a text that are not in every text, without their endings.
fn stems(text: &str) -> Vec<String> {
    const COMMON: &str = "a about all an and any are as at be by can do each for from how i if in into is it its me my \
        no not of on one or other our out some than that the their them then these they this those to up was what \
        when where which who will with you your";
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let words = words.filter(|word| !COMMON.split(' ').any(|common| common == *word));
    let stem = |word: &str| {
        let ends = |end: &&str| word.ends_with(end) && word.len() >= end.len() + 3 && !word.ends_with("ss");
        let end = ["ing", "ed", "es", "s"].iter().find(|end| ends(end)).map_or("", |end| *end);
        word.strip_suffix(end).unwrap_or(word).trim_end_matches('e').to_owned()
    };
    words.map(stem).collect()
}

/// Points for each word of the query that is anywhere in the name or in the description.
fn qwen(told: &Told, query: &str) -> Vec<f64> {
    const COMMON: [&str; 9] = ["a", "for", "in", "my", "of", "on", "the", "this", "to"];
    const DELETE: [&str; 5] = ["delete", "remove", "cancel", "stop", "clear"];
    let score = |tool: &Value| {
        let (name, description) = (format!("mcp__tectum__{}", word(tool, "name")), word(tool, "description"));
        let description = description.to_lowercase();
        let points = |wanted: &str| {
            let delete = DELETE.contains(&wanted);
            let same = if delete { DELETE.to_vec() } else { vec![wanted] };
            let in_name = match () {
                () if same.iter().any(|word| name.ends_with(&format!("_{word}"))) => 12,
                () if same.iter().any(|word| name.contains(word)) => 6,
                () => 0,
            };
            let other = delete && same.iter().any(|word| *word != wanted && name.contains(word));
            in_name + 2 * i32::from(same.iter().any(|word| description.contains(word))) + 6 * i32::from(other)
        };
        f64::from(query.split(' ').filter(|word| !COMMON.contains(word)).map(points).sum::<i32>())
    };
    told.tools.iter().map(score).collect()
}

#[test]
fn plain_words_find_the_right_tool_in_every_client_that_searches() {
    let rig = with("");
    let missed: Vec<String> =
        SEARCHERS.iter().flat_map(|searcher| searcher.missed(&searcher.told(&rig))).collect();
    assert!(wishes().len() >= 20 && missed.is_empty(), "{missed:#?}");
}

#[test]
fn without_our_words_for_them_tools_are_not_found() {
    let rig = with("");
    for searcher in &SEARCHERS {
        let mut told = searcher.told(&rig);
        for tool in &mut told.tools {
            tool["description"] = json!("");
            tool["title"] = json!("");
            tool["_meta"] = json!({});
        }
        let missed = searcher.missed(&told).len();
        assert!(missed >= 5, "{} misses {missed} only: its rule finds whatever is asked for", searcher.name);
    }
}
