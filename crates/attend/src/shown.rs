//! The attention as people and programs see it: the words of `GET /api/attention` and of the resources.

use serde_json::{Value, json};
use tectum_attention::{NewsId, OrganView};

use crate::{attention::Attention, ledger::Told};

/// News that are listed.
const MOST_LISTED: usize = 100;

impl Attention {
    /// Everything, for consoles.
    pub fn shown(&self) -> Value {
        let (organs, coherence, counters) = self.with(|workspace| {
            let organs: Vec<Value> = workspace.organs().iter().map(organ).collect();
            let oscillators = workspace.quantities().oscillators_state;
            (organs, oscillators["coherence"].clone(), serde_json::to_value(workspace.counters()))
        });
        let (news, untold, readers) = self.ledger(|ledger| {
            let news: Vec<Value> = ledger.news().rev().take(MOST_LISTED).map(told).collect();
            let readers: Vec<Value> = ledger
                .readers()
                .iter()
                .map(|reader| json!({"client": reader.client, "since": reader.since, "last": reader.last}))
                .collect();
            (news, ledger.untold(), readers)
        });
        let counts = |count: fn(&Value) -> bool| {
            let tellings = news.iter().flat_map(|news| news["told"].as_array().into_iter().flatten());
            tellings.filter(|telling| count(telling)).count()
        };
        let (delivered, seen) = (counts(|_| true), counts(|telling| !telling["seen"].is_null()));
        json!({
            "on": true,
            "organs": organs,
            "news": news,
            "coherence": coherence,
            "readers": readers,
            "delivered": delivered,
            "seen": seen,
            "untold": untold,
            "counters": counters.unwrap_or_default(),
        })
    }

    /// What is in focus, for the resource and the tool.
    pub fn focus(&self) -> Value {
        let last: Vec<Value> =
            self.ledger(|ledger| ledger.news().rev().take(5).map(|told| brief(told, true)).collect());
        let mut focus = self.with(|workspace| workspace.quantities().attention_focus);
        if let Some(members) = focus.as_object_mut() {
            members.insert("news".into(), last.into());
            return focus;
        }
        json!({ "news": last })
    }

    /// The state of the workspace after its last tick, under the names of the seed.
    pub fn state(&self) -> Value {
        self.with(|workspace| serde_json::to_value(workspace.modulation()).unwrap_or_default())
    }

    /// One of the eight state resources, by its name there.
    pub fn quantity(&self, name: &str) -> Option<Value> {
        if name == "attention/focus" {
            return Some(self.focus());
        }
        self.with(|workspace| {
            let quantities = workspace.quantities();
            let found = quantities.by_name().into_iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.clone())
        })
    }

    /// Everything about one piece of news: each factor, and who was told.
    pub fn why(&self, id: NewsId) -> Option<Value> {
        self.ledger(|ledger| ledger.news().find(|told| told.news.id == id).map(told))
    }
}

fn organ(view: &OrganView) -> Value {
    let mut all = serde_json::to_value(view).unwrap_or_default();
    let state = match view {
        OrganView { muted: true, .. } => "muted",
        OrganView { pinned: true, .. } => "pinned",
        OrganView { waiting, .. } if *waiting > 0 => "waiting",
        OrganView { freshness, .. } if *freshness <= 0.0 => "stale",
        _ => "quiet",
    };
    if let Some(members) = all.as_object_mut() {
        let name = members.remove("organ").unwrap_or_default();
        members.insert("name".into(), name);
        members.insert("state".into(), state.into());
        let salience: Vec<f32> = view.trace.iter().map(|(_, total)| *total).collect();
        members.insert("salience_now".into(), view.salience.into());
        members.insert("salience".into(), json!(salience));
        let last = view.last_signal.iter();
        let readings: Vec<Value> = last
            .map(|signal| json!({"at": view.read_at, "path": signal.path, "old": signal.old, "value": signal.new, "surprise": signal.surprise}))
            .collect();
        members.insert("count".into(), view.readings.into());
        members.insert("readings".into(), readings.into());
    }
    all
}

fn told(told: &Told) -> Value {
    let mut news = brief(told, false);
    if let Some(members) = news.as_object_mut() {
        members.insert("why".into(), serde_json::to_value(&told.news.factors).unwrap_or_default());
    }
    news
}

fn brief(told: &Told, short: bool) -> Value {
    let tellings: Vec<Value> = told
        .told
        .iter()
        .map(|telling| json!({"client": telling.client, "how": telling.how, "at": telling.at, "seen": telling.seen}))
        .collect();
    let mut news = json!({
        "id": told.news.id.to_string(),
        "at": told.news.at,
        "organ": told.news.organ,
        "subject": told.subject,
        "sentence": told.news.sentence,
        "urgent": told.news.urgent,
    });
    if let Some(members) = news.as_object_mut() {
        if short {
            members.insert("seen".into(), told.seen().into());
        } else {
            members.insert("told".into(), tellings.into());
        }
    }
    news
}
