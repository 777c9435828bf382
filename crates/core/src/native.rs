//! The native set: tools of this process behind the same door as every peer.

use std::{collections::HashMap, fmt, sync::Arc};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::{
    Call, Card, Fault, NativeReply, Payload, Prepared, Provider, Reply, Text, Tool, ToolInfo, arguments,
    provider::Done,
};

/// Parses a call for one tool.
type Prepare = Box<dyn Fn(&Call) -> Result<Prepared, Fault> + Send + Sync>;

/// One native tool with its type erased.
pub struct NativeTool {
    info: ToolInfo,
    prepare: Prepare,
    max_output: usize,
}

impl NativeTool {
    /// Derives everything from the one declaration.
    pub fn new<T: Tool>(tool: T) -> Self {
        let info = info::<T>();
        let schema = info.input_schema.clone();
        let tool = Arc::new(tool);
        let prepare = move |call: &Call| prepare(&tool, call, &schema);
        Self { info, prepare: Box::new(prepare), max_output: usize::MAX }
    }

    /// The same tool with its output capped below what it would allow itself.
    pub fn capped(mut self, max_output: Option<usize>) -> Self {
        self.max_output = max_output.unwrap_or(usize::MAX);
        self
    }

    /// What is known about it.
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
    let Card { name, effect, world, deadline, max_output, .. } = T::CARD;
    let args: T::Args = arguments::parse(name, &call.args, schema)?;
    let wants = tool.wants(&args);
    let tool = tool.clone();
    let work = Box::new(move |ctx| {
        Box::pin(async move {
            let reply = tool.call(&ctx, args).await?;
            let structured = written(&reply)
                .map_err(|error| Fault::internal(format!("{name}: its output is no JSON: {error}")))?;
            let text = match reply.text {
                Text::Said(text) => text,
                Text::Part(part) => part(reply.output),
            };
            Ok(Done {
                payload: Payload::Native(NativeReply { text, structured }),
                directives: reply.directives,
            })
        }) as _
    });
    Ok(Prepared { wants, effect, world, deadline, max_output, work })
}

/// The output as JSON, in a buffer that need not grow for most replies.
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

fn info<T: Tool>() -> ToolInfo {
    let Card { name, title, effect, world, idempotent, primary, .. } = T::CARD;
    let mut input = schema::<T::Args>();
    // The doc comment on `Args` is the tool's description; the schema need not repeat it.
    let description =
        input.remove("description").and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default();
    let mut output = schema::<T::Output>();
    output.remove("description");
    ToolInfo {
        name: name.into(),
        title: title.into(),
        description,
        input_schema: Arc::new(Value::Object(input)),
        output_schema: Some(Arc::new(Value::Object(output))),
        effect,
        world,
        idempotent,
        primary: primary.into(),
    }
}

fn schema<T: JsonSchema>() -> serde_json::Map<String, Value> {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    let mut map = std::mem::take(schema.ensure_object());
    map.remove("title");
    map
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
                prepared.max_output = prepared.max_output.min(tool.max_output);
                Ok(prepared)
            }
            None => Err(Fault::not_found(format!("unknown tool: {}", call.tool))),
        }
    }
}
