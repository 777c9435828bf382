//! A provider that answers from the record: for native and federated tools alike.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use serde_json::json;
use tectum_core::{
    Call, CallId, Done, Effect, Fault, FaultKind, Judgement, NativeReply, Payload, PeerReply, Prepared,
    Provider, Subject, ToolInfo, ToolRole, Wants, World, security::Allowlist,
};
use tectum_journal::{Ending, Entry, Failure};
use tectum_native::NativeSet;

use super::session::Session;
use crate::house::Catalog;

/// A recorded result is there at once.
const DEADLINE: Duration = Duration::from_secs(60);

/// The recorded calls, and the tools whose arguments can be read.
pub(super) struct RecordedTools {
    native: Arc<NativeSet>,
    infos: Arc<[ToolInfo]>,
    calls: HashMap<CallId, Arc<Entry>>,
    allowlist: Allowlist,
}

impl RecordedTools {
    pub(super) fn new(catalog: &Catalog, allowlist: Allowlist, session: &Session) -> Self {
        let native = catalog.tools().clone();
        let mut infos = native.tools().to_vec();
        let known: BTreeSet<&str> = infos.iter().map(|info| &*info.name).collect();
        let foreign: BTreeSet<&str> = session
            .entries
            .iter()
            .filter(|entry| was_known(entry) && !known.contains(entry.tool.as_str()))
            .map(|entry| entry.tool.as_str())
            .collect();
        let foreign: Vec<ToolInfo> = foreign.into_iter().map(stand_in).collect();
        infos.extend(foreign);
        let calls =
            session.entries.iter().filter_map(|entry| Some((CallId::parse(&entry.id)?, entry.clone())));
        Self { native, infos: infos.into(), calls: calls.collect(), allowlist }
    }

    /// What a call of one of our own tools needs, without a look at the disk: the files may be gone.
    fn native(&self, call: &Call, entry: &Entry) -> Result<Prepared, Fault> {
        let mut prepared = self.native.prepare(call)?;
        prepared.deadline = DEADLINE;
        if matches!(&entry.ending, Ending::Fault(fault) if is_denied_by_rule(entry, fault)) {
            // If no rule denies it now, that is another outcome.
            prepared.work = allowed_now();
            return Ok(prepared);
        }
        for (path, access) in prepared.wants.paths.drain(..) {
            self.allowlist.admit(&path, access)?;
        }
        prepared.work = answer(&entry.ending);
        Ok(prepared)
    }
}

impl Provider for RecordedTools {
    fn tools(&self) -> Arc<[ToolInfo]> {
        self.infos.clone()
    }

    fn prepare(&self, call: &Call) -> Result<Prepared, Fault> {
        let entry = self.calls.get(&call.id);
        let entry = entry.ok_or_else(|| Fault::not_found(format!("call {} is not recorded", call.id)))?;
        if self.native.tools().iter().any(|info| info.name == call.tool) {
            return self.native(call, entry);
        }
        // How its server was configured decided then, and its verdict is recorded.
        let judgement = match entry.verdict.as_ref().map(|verdict| verdict.judgement.as_str()) {
            Some("ask") => Judgement::Ask,
            _ => Judgement::Allow,
        };
        Ok(Prepared {
            wants: Wants { subject: Subject::None, paths: Vec::new() },
            effect: Effect::Change,
            world: World::Peer(judgement),
            deadline: DEADLINE,
            max_output: usize::MAX,
            work: answer(&entry.ending),
        })
    }
}

/// Whether there was such a tool.
pub(super) fn was_known(entry: &Entry) -> bool {
    entry.server.is_some() || entry.effect.is_some()
}

fn is_denied_by_rule(entry: &Entry, fault: &Failure) -> bool {
    let denied = entry.verdict.as_ref().is_some_and(|verdict| verdict.judgement == "deny");
    denied && fault.message.contains(" is not permitted here: ")
}

/// The definition of a tool that is not here.
fn stand_in(name: &str) -> ToolInfo {
    ToolInfo {
        name: name.into(),
        title: String::new(),
        description: String::new(),
        input_schema: Arc::new(json!({ "type": "object" })),
        output_schema: None,
        effect: Effect::Change,
        world: World::Open,
        idempotent: false,
        primary: String::new(),
        role: ToolRole::Usual,
        server: None,
        listed: false,
        observed: false,
    }
}

/// The recorded result as work that is done at once.
fn answer(ending: &Ending) -> tectum_core::Work {
    let answer = match ending {
        Ending::Native { text, structured } => {
            Ok(Payload::Native(NativeReply { text: text.clone(), structured: structured.get().to_owned() }))
        }
        Ending::Peer { json, failed } => Ok(Payload::Peer(PeerReply { json: json.clone(), failed: *failed })),
        Ending::Fault(failure) => Err(fault(failure)),
        Ending::Omitted { .. } => Err(Fault::not_found("the result was too large to be kept")),
    };
    Box::new(move |_| Box::pin(async move { answer.map(Done::new) }))
}

fn allowed_now() -> tectum_core::Work {
    Box::new(|_| {
        Box::pin(async {
            Ok(Done::new(Payload::Native(NativeReply {
                text: "no rule denies this call any more".into(),
                structured: "null".into(),
            })))
        })
    })
}

/// A recorded fault.
pub(super) fn fault(failure: &Failure) -> Fault {
    let kinds = [
        FaultKind::InvalidInput,
        FaultKind::Permission,
        FaultKind::NotFound,
        FaultKind::Conflict,
        FaultKind::TooLarge,
        FaultKind::Timeout,
        FaultKind::Cancelled,
        FaultKind::Upstream,
        FaultKind::Internal,
    ];
    let named = |kind: &FaultKind| serde_json::to_value(kind).is_ok_and(|word| word == failure.kind.as_str());
    let kind = kinds.into_iter().find(named).unwrap_or(FaultKind::Internal);
    Fault { hint: failure.hint.clone(), ..Fault::new(kind, failure.message.clone()) }
}
