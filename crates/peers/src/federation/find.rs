//! Finding tools by what they do, for agents that are not shown all of them: a ranked search
//! over one index that is made when the tools change and shared by everybody.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tectum_core::{
    Card, Ctx, Effect, Fault, Reply, Snapshot, Subject, Tool, ToolInfo, ToolRole, Wants, World,
};
use tectum_native::{NativeSet, NativeTool};

/// How many tools are found at most.
const MOST_FOUND: usize = 20;
/// How fast repeating a word stops counting (BM25's k1).
const SATURATION: f64 = 1.2;
/// How much long descriptions are marked down (BM25's b).
const LENGTH: f64 = 0.75;
/// Words of a question that say nothing about a tool. Some begin words that do.
const COMMON: &[&str] = &[
    "a", "all", "an", "and", "are", "at", "be", "by", "can", "did", "do", "for", "from", "has", "have",
    "how", "in", "into", "is", "it", "me", "my", "of", "on", "or", "some", "that", "the", "this", "to",
    "was", "we", "what", "when", "where", "which", "who", "why", "with", "you",
];
/// A word of the name counts as much as so many of the description.
const NAME_WEIGHT: f64 = 4.0;

/// Search for tools that are not in the list, by what they do. Call what is found with call_tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// What the tool should do, in a few words.
    query: String,
    /// How many to show, 5 if absent.
    #[serde(default)]
    limit: Option<usize>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// The tools, the best first.
    tools: Vec<FoundTool>,
    /// How many there are to search in.
    searched: usize,
}

/// One tool.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FoundTool {
    /// Its name.
    name: String,
    /// What it does.
    description: String,
    /// JSON Schema of its arguments.
    input_schema: Value,
}

/// The tool that finds tools.
#[derive(Debug, Default)]
pub(crate) struct FindTools(pub(crate) Arc<ToolIndex>);

/// The tools that find and call others, as a provider.
pub(crate) fn provider(index: &Arc<ToolIndex>) -> NativeSet {
    NativeSet::new(vec![NativeTool::new(FindTools(index.clone())), NativeTool::new(CallTool)])
}

/// The index everybody shares.
#[derive(Debug, Default)]
pub(crate) struct ToolIndex(Mutex<Arc<Searched>>);

/// The tools to search in. Their index is made by the first search: servers come and go more often than
/// anybody searches.
#[derive(Debug, Default)]
struct Searched {
    /// The registry holds them, and with them whoever searches.
    tools: Weak<Snapshot>,
    /// Those that nobody is shown before a person approved them.
    withheld: BTreeSet<String>,
    index: OnceLock<Index>,
}

impl ToolIndex {
    /// From now on these are searched: those of servers, since not every client hears when one joins the
    /// list, and those of ours that are not listed; none that is withheld.
    pub(crate) fn set(&self, tools: &Arc<Snapshot>, withheld: BTreeSet<String>) {
        let searched = Searched { tools: Arc::downgrade(tools), withheld, index: OnceLock::new() };
        *self.0.lock() = Arc::new(searched);
    }

    fn get(&self) -> Arc<Searched> {
        self.0.lock().clone()
    }
}

impl Searched {
    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let tools = self.tools.upgrade().unwrap_or_default();
            let searched = |info: &&ToolInfo| info.server.is_some() || !info.listed;
            let own = |info: &ToolInfo| matches!(&*info.name, FIND_TOOLS | CALL_TOOL);
            let tools = tools.tools().filter(searched).filter(|info| !own(info));
            Index::new(tools.filter(|info| !self.withheld.contains(&*info.name)))
        })
    }
}

impl Tool for FindTools {
    type Args = Args;
    type Output = Found;
    const CARD: Card = Card {
        name: FIND_TOOLS,
        title: "Find tools",
        effect: Effect::Read,
        world: World::Project,
        idempotent: true,
        primary: "",
        deadline: Duration::from_secs(5),
        max_output: 256 * 1024,
        role: ToolRole::Usual,
    };

    fn wants(&self, _args: &Args) -> Wants {
        Wants { subject: Subject::None, paths: Vec::new() }
    }

    async fn call(&self, _ctx: &Ctx, args: Args) -> Result<Reply<Found>, Fault> {
        let searched = self.0.get();
        let index = searched.index();
        let limit = args.limit.unwrap_or(5).clamp(1, MOST_FOUND);
        let tools = index.search(&args.query, limit);
        if tools.is_empty() {
            let text = format!("No tool of {} fits `{}`; try other words.", index.tools.len(), args.query);
            return Ok(Reply::new(text, Found { tools, searched: index.tools.len() }));
        }
        let mut text = format!("Call one with {CALL_TOOL}: {{\"name\": ..., \"arguments\": {{...}}}}\n");
        for tool in &tools {
            let description = tool.description.trim();
            text.push_str(&format!("\n{}\n  {description}\n  arguments: {}\n", tool.name, tool.input_schema));
        }
        Ok(Reply::new(text, Found { tools, searched: index.tools.len() }))
    }
}

/// The name of the tool that finds others.
pub(crate) const FIND_TOOLS: &str = "find_tools";
/// The name of the tool that calls another.
pub(crate) const CALL_TOOL: &str = "call_tool";

/// Call a tool that find_tools found: an unlisted tool can be called in no other way.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inner {
    /// The tool's name, as find_tools gave it.
    #[serde(rename = "name")]
    _name: String,
    /// Its arguments.
    #[serde(rename = "arguments", default)]
    _arguments: serde_json::Map<String, Value>,
}

/// The tool that calls another. Whoever serves it calls that one instead, so that rules, records
/// and observers see what is really called.
#[derive(Debug)]
pub(crate) struct CallTool;

impl Tool for CallTool {
    type Args = Inner;
    type Output = Value;
    const CARD: Card = Card {
        name: CALL_TOOL,
        title: "Call a found tool",
        effect: Effect::Change,
        world: World::Project,
        idempotent: false,
        primary: "",
        deadline: Duration::from_secs(5),
        max_output: 1024,
        role: ToolRole::Usual,
    };

    fn wants(&self, _args: &Inner) -> Wants {
        Wants { subject: Subject::None, paths: Vec::new() }
    }

    async fn call(&self, _ctx: &Ctx, _args: Inner) -> Result<Reply<Value>, Fault> {
        Err(Fault::invalid("call_tool is for MCP clients: call the tool itself by its name"))
    }
}

/// Words and the tools they stand in.
#[derive(Debug, Default)]
pub(crate) struct Index {
    tools: Vec<FoundTool>,
    lengths: Vec<f64>,
    words: HashMap<String, Vec<(usize, f64)>>,
}

impl Index {
    fn new<'t>(tools: impl Iterator<Item = &'t ToolInfo>) -> Self {
        let mut index = Self::default();
        for info in tools {
            let number = index.tools.len();
            let mut weights: HashMap<String, f64> = HashMap::new();
            for word in words(&info.name) {
                *weights.entry(word).or_default() += NAME_WEIGHT;
            }
            let parameters = info.input_schema.get("properties").and_then(Value::as_object);
            let parameters = parameters.into_iter().flat_map(|members| members.keys());
            for text in [&info.title, &info.description].into_iter().chain(parameters) {
                for word in words(text) {
                    *weights.entry(word).or_default() += 1.0;
                }
            }
            index.lengths.push(weights.values().sum());
            for (word, weight) in weights {
                index.words.entry(word).or_default().push((number, weight));
            }
            index.tools.push(FoundTool {
                name: info.name.to_string(),
                description: info.description.clone(),
                input_schema: (*info.input_schema).clone(),
            });
        }
        index
    }

    /// The best tools for a query, ranked by BM25; equal ones in the order of their names.
    fn search(&self, query: &str, limit: usize) -> Vec<FoundTool> {
        let count = self.tools.len() as f64;
        let mean = (self.lengths.iter().sum::<f64>() / count.max(1.0)).max(1.0);
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for word in words(query).into_iter().filter(|word| !COMMON.contains(&word.as_str())) {
            for (known, share) in self.related(&word) {
                let Some(places) = self.words.get(known) else { continue };
                let rarity = (1.0 + (count - places.len() as f64 + 0.5) / (places.len() as f64 + 0.5)).ln();
                for (tool, weight) in places {
                    let length = 1.0 - LENGTH + LENGTH * self.lengths[*tool] / mean;
                    let score = rarity * weight * (SATURATION + 1.0) / (weight + SATURATION * length);
                    *scores.entry(*tool).or_default() += share * score;
                }
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|(one, first), (other, second)| {
            second.total_cmp(first).then_with(|| self.tools[*one].name.cmp(&self.tools[*other].name))
        });
        ranked.into_iter().take(limit).map(|(tool, _)| self.tools[tool].clone()).collect()
    }

    /// The word itself, and longer words that begin with it, for half.
    fn related<'i>(&'i self, word: &'i str) -> Vec<(&'i str, f64)> {
        let mut found: Vec<(&str, f64)> = Vec::new();
        if let Some((known, _)) = self.words.get_key_value(word) {
            found.push((known, 1.0));
        }
        if word.len() >= 3 {
            let longer =
                self.words.keys().filter(|known| known.len() > word.len() && known.starts_with(word));
            found.extend(longer.map(|known| (known.as_str(), 0.5)));
        }
        found
    }
}

/// The words of a text: split at everything that is no letter or digit and inside of camelCase,
/// in lower case, without a plural's s.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut before_was_lower) = (Vec::new(), String::new(), false);
    for c in text.chars().chain([' ']) {
        if !c.is_alphanumeric() || (c.is_uppercase() && before_was_lower) {
            if word.chars().count() > 1 {
                let plain = word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s'));
                words.push(plain.unwrap_or(&word).to_owned());
            }
            word.clear();
        }
        before_was_lower = c.is_lowercase();
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, description: &str) -> ToolInfo {
        ToolInfo {
            name: name.into(),
            title: String::new(),
            description: description.into(),
            input_schema: Arc::new(Value::Null),
            output_schema: None,
            effect: Effect::Read,
            world: World::Project,
            idempotent: true,
            primary: String::new(),
            role: ToolRole::Usual,
            server: None,
            listed: false,
            observed: true,
        }
    }

    #[test]
    fn names_and_rare_words_count_most() {
        let tools = [
            info("gh__create_issue", "Open a new issue in a repository"),
            info("gh__list_issues", "List the issues of a repository"),
            info("gh__get_user", "Who a person is"),
            info("db__runQuery", "Run SQL against the database of this repository"),
        ];
        let index = Index::new(tools.iter());
        for (query, expect) in [
            ("create an issue", "gh__create_issue"),
            ("list issues", "gh__list_issues"),
            ("sql query", "db__runQuery"),
            ("who is this person", "gh__get_user"),
            ("the people and what they are: a person", "gh__get_user"),
            ("repo sql", "db__runQuery"),
        ] {
            assert_eq!(index.search(query, 1)[0].name, expect, "{query}");
        }
        assert!(index.search("weather", 5).is_empty());
        assert!(index.search("", 5).is_empty());
    }

    #[test]
    fn words_are_split_as_programmers_write_them() {
        assert_eq!(
            words("runQuery get_users HTTP2-class"),
            ["run", "query", "get", "user", "http2", "class"]
        );
    }
}
