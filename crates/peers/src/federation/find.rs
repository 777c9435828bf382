//! Finding tools by what they do, for agents that are not shown all of them: a ranked search
//! over one index that is made when the tools change and shared by everybody.

mod index;
mod words;

use std::{
    collections::BTreeSet,
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

use self::index::Index;

/// The most tools that are found.
const MOST_FOUND: usize = 20;

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
    made: OnceLock<Tools>,
}

/// The tools by name, and the index of their words.
#[derive(Debug, Default)]
struct Tools {
    found: Vec<FoundTool>,
    index: Index,
}

impl ToolIndex {
    /// From now on these are searched: those of servers, since not every client hears when one joins the
    /// list, and those of ours that are not listed; none that is withheld.
    pub(crate) fn set(&self, tools: &Arc<Snapshot>, withheld: BTreeSet<String>) {
        let searched = Searched { tools: Arc::downgrade(tools), withheld, made: OnceLock::new() };
        *self.0.lock() = Arc::new(searched);
    }

    fn get(&self) -> Arc<Searched> {
        self.0.lock().clone()
    }
}

impl Searched {
    fn tools(&self) -> &Tools {
        self.made.get_or_init(|| {
            let tools = self.tools.upgrade().unwrap_or_default();
            let searched = |info: &&ToolInfo| info.server.is_some() || !info.listed;
            let own = |info: &ToolInfo| matches!(&*info.name, FIND_TOOLS | CALL_TOOL);
            let tools = tools.tools().filter(searched).filter(|info| !own(info));
            let mut tools: Vec<&ToolInfo> =
                tools.filter(|info| !self.withheld.contains(&*info.name)).collect();
            tools.sort_by(|one, other| one.name.cmp(&other.name));
            let found = |info: &&ToolInfo| FoundTool {
                name: info.name.to_string(),
                description: info.description.clone(),
                input_schema: (*info.input_schema).clone(),
            };
            Tools { found: tools.iter().map(found).collect(), index: Index::new(tools.into_iter()) }
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
        let Tools { found, index } = searched.tools();
        let limit = args.limit.unwrap_or(5).clamp(1, MOST_FOUND);
        let tools: Vec<FoundTool> =
            index.search(&args.query, limit).into_iter().map(|number| found[number].clone()).collect();
        if tools.is_empty() {
            let text = format!("No tool of {} fits `{}`; try other words.", found.len(), args.query);
            return Ok(Reply::new(text, Found { tools, searched: found.len() }));
        }
        let mut text = format!("Call one with {CALL_TOOL}: {{\"name\": ..., \"arguments\": {{...}}}}\n");
        for tool in &tools {
            let description = tool.description.trim();
            text.push_str(&format!("\n{}\n  {description}\n  arguments: {}\n", tool.name, tool.input_schema));
        }
        Ok(Reply::new(text, Found { tools, searched: found.len() }))
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
