//! The tools of one server as the house sees them.

use std::{collections::HashMap, sync::Arc};

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde_json::{Value, value::RawValue};
use tectum_core::{
    Call, CallId, Ctx, Directive, Done, Effect, Fault, FaultKind, OutputSchema, Payload, PeerReply, Prepared,
    Provider, ServerTool, Subject, ToolInfo, ToolRole, Wants, Work, World, directives::TODO_ANCHOR,
};

use super::{
    Order, Shelf, Spool, bridge,
    definitions::{self, Accepted},
    directives::CarriedDirectives,
    goods::renamed,
    names,
};
use crate::{
    client::{Callers, text_size, with_text},
    link::{error_parts, headers},
    peer::{Failure, Item, Offer, Peer, Standing, Tasks},
    visible::make_visible,
    wire::{quoted, raw, tool_result},
};

/// The tools whose calls are never copied: an observer's own, and the audit trail.
const UNOBSERVED: &[&str] = &["observe", "audit_log"];

/// A server's tools at one moment.
pub(crate) struct PeerTools {
    peer: Arc<Peer>,
    /// The offer it was made of.
    offer: Arc<Offer>,
    standing: Arc<Standing>,
    keepers: Keepers,
    infos: Arc<[ToolInfo]>,
    own: HashMap<Arc<str>, OwnTool>,
    /// Remarks on renamed and left out tools, for people.
    pub(crate) remarks: Vec<String>,
}

/// The state that outlives a call: parked calls, large results, tasks.
#[derive(Clone, Debug)]
pub(crate) struct Keepers {
    /// The clients of calls that come from one.
    pub(crate) callers: Arc<Callers>,
    /// Calls that wait for their clients.
    pub(crate) shelf: Arc<Shelf>,
    /// Results that are too large to be passed on.
    pub(crate) spool: Option<Arc<Spool>>,
    /// Tasks that are being worked on.
    pub(crate) tasks: Arc<Tasks>,
}

/// A tool by its server's own name.
#[derive(Debug)]
struct OwnTool {
    name: Arc<str>,
    /// The same as JSON.
    json: Box<RawValue>,
    /// The schema of its arguments as the server wrote it, where it annotates any of them.
    schema: String,
    withheld: bool,
}

impl PeerTools {
    /// The tools that a server offers now, without those its configuration leaves out.
    pub(crate) fn new(
        peer: &Arc<Peer>,
        offer: &Arc<Offer>,
        standing: &Arc<Standing>,
        keepers: &Keepers,
        taken: &dyn Fn(&str) -> bool,
    ) -> Self {
        let spec = &peer.spec;
        let (include, exclude) = (globs(&spec.include), globs(&spec.exclude));
        let mut tools = Self {
            peer: peer.clone(),
            offer: offer.clone(),
            standing: standing.clone(),
            keepers: keepers.clone(),
            infos: Arc::default(),
            own: HashMap::new(),
            remarks: Vec::new(),
        };
        let (mut infos, mut remarks) = (Vec::new(), Vec::new());
        let approve = format!("`tectum approve-tools {}`", spec.name);
        if let Some(why) = standing.lost() {
            remarks.push(format!("{why}; everything it offers to models is withheld: {approve}"));
        } else if standing.withholds_instructions() {
            remarks
                .push(format!("its instructions are not as they were approved and are withheld: {approve}"));
        }
        let (mut circles, mut unwanted) = (0, 0);
        for item in &offer.tools {
            if names::goes_in_circles(&spec.name, &item.key) {
                circles += 1;
                continue;
            }
            let wanted = spec.include.is_empty() || include.is_match(&*item.key);
            if !wanted || exclude.is_match(&*item.key) {
                unwanted += 1;
                continue;
            }
            let mut name = names::exposed(&spec.name, &item.key, spec.prefix);
            if !spec.prefix && taken(&name) {
                let other = names::exposed(&spec.name, &item.key, true);
                remarks.push(format!("`{name}` is a tool of our own, so this one is `{other}`"));
                name = other;
            } else if spec.prefix && name != format!("{}__{}", spec.name, item.key) {
                remarks.push(format!("`{}` is offered as `{name}`", item.key.escape_debug()));
            }
            let name: Arc<str> = name.into();
            match info(item, &name, peer, !offer.fresh) {
                Ok((mut info, repairs)) => {
                    if !repairs.is_empty() {
                        remarks.push(format!("`{name}` is repaired: {}", repairs.join("; ")));
                    }
                    let withheld = standing.withholds(&item.key);
                    if withheld {
                        info.listed = false;
                    }
                    if withheld && standing.lost().is_none() {
                        remarks
                            .push(format!("`{name}` is not as it was approved and is withheld: {approve}"));
                    }
                    let schema = headers::annotated_schema(item.json.get());
                    let json = raw(quoted(&item.key));
                    tools.own.insert(name, OwnTool { name: item.key.clone(), json, schema, withheld });
                    infos.push(info);
                }
                Err(why) => {
                    let left_out = format!("`{}` is left out: {why}", item.key.escape_debug());
                    tracing::warn!(server = %spec.name, "{left_out}");
                    remarks.push(left_out);
                }
            }
        }
        if unwanted > 0 {
            remarks.push(format!("{unwanted} tools are left out by `include` and `exclude`"));
        }
        if circles > 0 {
            remarks.push(format!("{circles} tools are left out, since they came here by way of this Tectum"));
        }
        tools.infos = infos.into();
        tools.remarks = remarks.iter().map(|remark| format!("{}: {remark}", spec.name)).collect();
        tools
    }

    /// True when it was made of these, so that made anew it would be the same.
    pub(crate) fn is_of(&self, peer: &Arc<Peer>, offer: &Arc<Offer>, standing: &Arc<Standing>) -> bool {
        let same_standing = Arc::ptr_eq(&self.standing, standing);
        Arc::ptr_eq(&self.peer, peer) && Arc::ptr_eq(&self.offer, offer) && same_standing
    }

    /// The tools that may not be shown, by the names clients know.
    pub(crate) fn withheld(&self) -> impl Iterator<Item = &str> {
        self.own.iter().filter(|(_, own)| own.withheld).map(|(name, _)| &**name)
    }

    /// The number of tools that can be called.
    pub(crate) fn usable(&self) -> usize {
        self.own.values().filter(|own| !own.withheld).count()
    }

    /// The number of tools.
    pub(crate) fn count(&self) -> usize {
        self.infos.len()
    }
}

/// The registry's entry for a tool, and the repairs of its definition.
fn info(item: &Item, name: &Arc<str>, peer: &Peer, stale: bool) -> Result<(ToolInfo, Vec<String>), String> {
    let Accepted { mut definition, repairs } = definitions::accepted(item.json.get())?;
    let schema = definition.get("inputSchema").cloned().unwrap_or_default();
    headers::check(&headers::annotated_schema(item.json.get()))?;
    let text = |key: &str| definition.get(key).and_then(Value::as_str).map(str::to_owned);
    let (title, description) = (text("title"), text("description"));
    let output = definition.get("outputSchema").cloned();
    let reads = definition.get("annotations").is_some_and(|hints| hints["readOnlyHint"] == true);
    let written = if repairs.is_empty() {
        renamed(item, "name", name)
    } else {
        definition.insert("name".into(), (**name).into());
        Value::Object(definition).to_string()
    };
    let info = ToolInfo {
        name: name.clone(),
        title: title.unwrap_or_else(|| item.key.to_string()),
        description: description.unwrap_or_default(),
        input_schema: Arc::new(schema),
        output_schema: output.map(|schema| OutputSchema::Given(Arc::new(schema))),
        // What a stranger says about its own tools lowers no gate.
        effect: Effect::Change,
        world: World::Peer(peer.spec.permission),
        idempotent: false,
        primary: String::new(),
        role: ToolRole::Usual,
        server: Some(ServerTool {
            server: peer.spec.name.as_str().into(),
            definition: shown(written).into(),
            stale,
            reads,
        }),
        listed: true,
        observed: !UNOBSERVED.contains(&&*item.key),
    };
    Ok((info, repairs))
}

/// A definition whose texts a person sees as the model does. Nearly always it is as it came.
fn shown(definition: String) -> String {
    // Escapes hide what they stand for; so do bytes beyond ASCII.
    if definition.is_ascii() && !definition.contains("\\u") {
        return definition;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(&definition) else { return definition };
    if make_visible(&mut value) { value.to_string() } else { definition }
}

impl Provider for PeerTools {
    fn tools(&self) -> Arc<[ToolInfo]> {
        self.infos.clone()
    }

    fn prepare(&self, call: &Call) -> Result<Prepared, Fault> {
        let own = self.own.get(&call.tool);
        let own = own.ok_or_else(|| Fault::not_found(format!("unknown tool: {}", call.tool)))?;
        if let Some(refusal) = self.standing.refusal(&self.peer.spec.name, &own.name) {
            return Err(refusal);
        }
        if !call.args.get().starts_with('{') {
            return Err(Fault::invalid(format!("{}: arguments must be an object", call.tool)));
        }
        let order = Order {
            method: "tools/call",
            name: Some(own.name.to_string()),
            params: vec![("name", own.json.clone()), ("arguments", call.args.clone())],
            headers: headers::of_call(&own.schema, call.args.get()),
        };
        let caller = self.keepers.callers.of(call.id);
        let room = call.room;
        let (peer, Keepers { shelf, spool, tasks, callers, .. }) = (self.peer.clone(), self.keepers.clone());
        let work: Work = Box::new(move |ctx: Ctx| {
            Box::pin(async move {
                // The step of a round is prepared before its call begins.
                let caller = caller.or_else(|| callers.of(ctx.call)).unwrap_or_default();
                let result = bridge::run(&peer, order, &caller, &shelf, Some(&ctx)).await;
                let result = result.map_err(|failure| fault(&peer, failure))?;
                let (result, task) = tasks.note(result, &peer.spec.name, caller.owner());
                if let Some(task) = task {
                    let _ = caller.began.set(task);
                }
                let found = directives(&result, &peer);
                // A client's own bound is one on what its model reads.
                let most = peer.spec.max_result;
                let over = result.get().len() > room && text_size(result.get()) > room;
                let (result, most) = if over { (with_text(result), most.min(room)) } else { (result, most) };
                let done = match spool.filter(|_| result.get().len() > most) {
                    None => done(result),
                    Some(spool) => bounded(spool, ctx.call, result, most).await?,
                };
                Ok(Done { directives: found.directives, skipped: found.skipped, ..done })
            })
        });
        Ok(Prepared {
            wants: Wants { subject: Subject::None, paths: Vec::new() },
            effect: Effect::Change,
            world: World::Peer(self.peer.spec.permission),
            deadline: self.peer.spec.most_timeout,
            max_output: usize::MAX,
            work,
        })
    }
}

fn done(json: Box<RawValue>) -> Done {
    let failed = tool_result::is_error(json.get());
    Done::new(Payload::Peer(PeerReply { json, failed }))
}

/// Keeps a large result aside and passes on what stands for it.
async fn bounded(spool: Arc<Spool>, call: CallId, result: Box<RawValue>, most: usize) -> Result<Done, Fault> {
    let size = result.get().len();
    let kept = tokio::task::spawn_blocking(move || spool.keep(call, result, most)).await;
    let kept = kept.unwrap_or_else(|_| Err(std::io::Error::other("it could not be kept")));
    kept.map(done).map_err(|error| {
        let message = format!("the result has {size} bytes and could not be kept aside: {error}");
        Fault::new(FaultKind::TooLarge, message).hint("ask for a smaller part")
    })
}

/// The directives of a result, as far as its server may give them. An anchor of a server's has the
/// server's name before its own, so that it never takes the place of ours.
fn directives(result: &RawValue, peer: &Peer) -> CarriedDirectives {
    let mut found = CarriedDirectives::in_result(result.get()).only(&peer.spec.directives);
    for directive in &mut found.directives {
        match directive {
            Directive::ContextAnchor { key, .. } => *key = format!("{}/{key}", peer.spec.name),
            Directive::TodoStateChanged { formatted_state } => {
                *directive = Directive::ContextAnchor {
                    key: format!("{}/{TODO_ANCHOR}", peer.spec.name),
                    content: std::mem::take(formatted_state),
                };
            }
            _ => {}
        }
    }
    found
}

/// The server's own error, under its name and with its own words kept for clients.
fn fault(peer: &Peer, failure: Failure) -> Fault {
    match failure {
        Failure::Ours(fault) => fault,
        Failure::Theirs(error) => {
            let (code, message) = error_parts(&error);
            let mut fault =
                Fault::new(FaultKind::Upstream, format!("{}: MCP {code}: {message}", peer.spec.name));
            fault.raw = Some(error);
            fault
        }
    }
}

/// Those of these globs that can be read.
pub(crate) fn globs(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in patterns.iter().filter_map(|pattern| Glob::new(pattern).ok()) {
        set.add(glob);
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}
