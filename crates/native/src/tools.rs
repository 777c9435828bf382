//! The native set: tools of this process with the same interface as every peer.

use std::{collections::HashMap, fmt, sync::Arc};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tectum_core::{
    Call, Card, Ctx, Done, Fault, NativeReply, OutputSchema, Payload, Prepared, Provider, Reply, Text, Tool,
    ToolInfo, Wants, Work, World,
};

use crate::{
    arguments::{self, Parsed},
    schema,
};

/// Says which world the next call touches.
type WorldNow = Box<dyn Fn() -> World + Send + Sync>;

/// Parses a call for one tool.
type Prepare = Box<dyn Fn(&Call) -> Result<Prepared, Fault> + Send + Sync>;

/// One native tool with its type erased.
pub struct NativeTool {
    info: ToolInfo,
    prepare: Prepare,
    max_output: usize,
    /// The world a call touches, where that is not the same for all.
    world: Option<WorldNow>,
}

impl NativeTool {
    /// Derives everything from one declaration.
    pub fn new<T: Tool>(tool: T) -> Self {
        let info = info::<T::Args, T::Output>(&T::CARD, "");
        let schema = info.input_schema.clone();
        let tool = Arc::new(tool);
        let prepare = move |call: &Call| prepare(&tool, call, &schema);
        Self { info, prepare: Box::new(prepare), max_output: usize::MAX, world: None }
    }

    /// A tool whose work may block: a function over its arguments. An empty description stands for the
    /// doc comment on `A`; one of several names over one implementation has its own.
    pub fn row<A, O>(
        card: Card,
        description: &str,
        wants: impl Fn(&A) -> Wants + Send + Sync + 'static,
        run: impl Fn(&Ctx, A) -> Result<Reply<O>, Fault> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        let info = info::<A, O>(&card, description);
        let schema = info.input_schema.clone();
        let run = Arc::new(run);
        let prepare = move |call: &Call| {
            let Parsed::<A> { args, note } = arguments::parse(card.name, &call.args, &schema)?;
            let wants = wants(&args);
            let run = run.clone();
            let work: Work = Box::new(move |ctx: Ctx| {
                Box::pin(async move { done(card.name, note, ctx.blocking(move |ctx| run(ctx, args)).await?) })
            });
            Ok(prepared(&card, wants, work))
        };
        Self { info, prepare: Box::new(prepare), max_output: usize::MAX, world: None }
    }

    /// The same tool, where each call says which world it touches. Clients are told what its card says,
    /// which is the widest.
    pub fn reaching(mut self, world: impl Fn() -> World + Send + Sync + 'static) -> Self {
        self.world = Some(Box::new(world));
        self
    }

    /// The same tool with a lower cap on its output.
    pub fn capped(mut self, max_output: Option<usize>) -> Self {
        self.max_output = max_output.unwrap_or(usize::MAX);
        self
    }

    /// The definition of the tool.
    pub fn info(&self) -> &ToolInfo {
        &self.info
    }
}

impl fmt::Debug for NativeTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NativeTool").field(&self.info.name).finish()
    }
}

fn prepare<T: Tool>(tool: &Arc<T>, call: &Call, schema: &Value) -> Result<Prepared, Fault> {
    let Parsed::<T::Args> { args, note } = arguments::parse(T::CARD.name, &call.args, schema)?;
    let wants = tool.wants(&args);
    let tool = tool.clone();
    let work: Work = Box::new(move |ctx: Ctx| {
        Box::pin(async move { done(T::CARD.name, note, tool.call(&ctx, args).await?) })
    });
    Ok(prepared(&T::CARD, wants, work))
}

fn prepared(card: &Card, wants: Wants, work: Work) -> Prepared {
    let Card { effect, world, deadline, max_output, .. } = *card;
    Prepared { wants, effect, world, deadline, max_output, work }
}

fn done<O: Serialize>(name: &str, note: Option<String>, reply: Reply<O>) -> Result<Done, Fault> {
    let structured = written(&reply)
        .map_err(|error| Fault::internal(format!("{name}: its output is no JSON: {error}")))?;
    let mut text = match reply.text {
        Text::Said(text) => text,
        Text::Part(part) => part(reply.output),
    };
    if let Some(note) = note {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        text.extend([end, &note]);
    }
    let payload = Payload::Native(NativeReply { text, structured });
    Ok(Done { directives: reply.directives, ..Done::new(payload) })
}

/// The output as JSON, in a buffer that is large enough for most replies.
fn written<T: serde::Serialize>(reply: &Reply<T>) -> serde_json::Result<String> {
    const USUAL: usize = 8 * 1024;
    let room = match &reply.text {
        Text::Said(text) => text.len() + text.len() / 8 + 256,
        Text::Part(_) => USUAL,
    };
    let mut json = Vec::with_capacity(room);
    serde_json::to_writer(&mut json, &reply.output)?;
    String::from_utf8(json).map_err(serde::ser::Error::custom)
}

fn info<A: JsonSchema, O: JsonSchema>(card: &Card, description: &str) -> ToolInfo {
    let Card { name, title, effect, world, idempotent, primary, role, .. } = *card;
    let mut input = schema::input::<A>();
    // The doc comment on `Args` is the tool's description, unless it has its own; the schema need
    // not repeat it.
    let documented = input.remove("description").and_then(|text| text.as_str().map(str::to_owned));
    let description =
        if description.is_empty() { documented.unwrap_or_default() } else { description.into() };
    ToolInfo {
        name: name.into(),
        title: title.into(),
        description,
        input_schema: Arc::new(Value::Object(input)),
        output_schema: Some(OutputSchema::Derived(schema::result::<O>)),
        effect,
        world,
        idempotent,
        primary: primary.into(),
        role,
        server: None,
        listed: true,
        observed: true,
    }
}

/// The native tools of this process.
#[derive(Debug)]
pub struct NativeSet {
    by_name: HashMap<Arc<str>, NativeTool>,
    infos: Arc<[ToolInfo]>,
}

impl NativeSet {
    /// A set in the given order.
    pub fn new(tools: Vec<NativeTool>) -> Self {
        let infos = tools.iter().map(|tool| tool.info.clone()).collect();
        let by_name = tools.into_iter().map(|tool| (tool.info.name.clone(), tool)).collect();
        Self { by_name, infos }
    }
}

impl Provider for NativeSet {
    fn tools(&self) -> Arc<[ToolInfo]> {
        self.infos.clone()
    }

    fn prepare(&self, call: &Call) -> Result<Prepared, Fault> {
        match self.by_name.get(&call.tool) {
            Some(tool) => {
                let mut prepared = (tool.prepare)(call)?;
                prepared.world = tool.world.as_ref().map_or(prepared.world, |world| world());
                prepared.max_output = prepared.max_output.min(tool.max_output).min(call.room);
                Ok(prepared)
            }
            None => Err(Fault::not_found(format!("unknown tool: {}", call.tool))),
        }
    }
}
