//! The list: its items, its rules and its face. A change that breaks a rule changes nothing.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    time::{SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tectum_core::{CallId, Directive, directives::TODO_ANCHOR};

/// Items of one list; a longer plan is no plan.
const MOST_ITEMS: usize = 200;
/// Characters of one text.
const MOST_TEXT: usize = 1000;

/// How far an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub enum TodoStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Being worked on; one at most.
    InProgress,
    /// Done.
    Completed,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TodoItem {
    /// Names it for good.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// The same while it is being done.
    pub active_form: String,
    /// How far it is.
    pub status: TodoStatus,
    /// The tier it is assigned to; absent for the author's own.
    pub target_tier: Option<String>,
    /// When it was written, in seconds of the epoch.
    pub created_at: u64,
    /// When it was done.
    pub completed_at: Option<u64>,
}

/// An item as a model writes it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// An update may leave them out; every other todo has them.
#[schemars(inline, description = "", extend("required" = ["content", "active_form", "status"]))]
pub(super) struct TodoDraft {
    #[schemars(with = "String")]
    pub(super) content: Option<String>,
    #[schemars(with = "String")]
    pub(super) active_form: Option<String>,
    #[schemars(with = "TodoStatus")]
    pub(super) status: Option<TodoStatus>,
    #[schemars(with = "String")]
    pub(super) target_tier: Option<String>,
}

/// The changes that the list can get.
#[derive(Debug)]
pub(super) enum TodoChange {
    Replace(Vec<TodoDraft>),
    Add(Vec<TodoDraft>),
    Update(usize, TodoDraft),
    Remove(usize),
    /// Drops the author's own items: the work is handed over.
    ClearOwn,
}

/// The list.
#[derive(Debug, Default)]
pub struct Todos(Mutex<Vec<TodoItem>>);

impl Todos {
    /// The items now.
    pub fn items(&self) -> Vec<TodoItem> {
        self.0.lock().clone()
    }

    /// Makes a change, or names everything that stands against it.
    pub(super) fn change(&self, change: TodoChange) -> Result<Vec<TodoItem>, Vec<String>> {
        let mut held = self.0.lock();
        let next = changed(&held, change)?;
        held.clone_from(&next);
        Ok(next)
    }
}

fn changed(items: &[TodoItem], change: TodoChange) -> Result<Vec<TodoItem>, Vec<String>> {
    let mut errors = Vec::new();
    let mut next = items.to_vec();
    match change {
        TodoChange::Replace(drafts) => {
            next = drafts.into_iter().enumerate().map(|one| fresh(one, &mut errors)).collect()
        }
        TodoChange::Add(drafts) => {
            next.extend(drafts.into_iter().enumerate().map(|one| fresh(one, &mut errors)))
        }
        TodoChange::Update(index, draft) => match next.get_mut(index) {
            Some(item) => update(item, draft, &mut errors),
            None => errors.push(out_of_range(index, items.len())),
        },
        TodoChange::Remove(index) if index < next.len() => drop(next.remove(index)),
        TodoChange::Remove(index) => errors.push(out_of_range(index, items.len())),
        TodoChange::ClearOwn => next.retain(|item| item.target_tier.is_some()),
    }
    if next.len() > MOST_ITEMS {
        errors.push(format!("a list has at most {MOST_ITEMS} items; this one would have {}", next.len()));
    }
    let active: Vec<String> = next
        .iter()
        .enumerate()
        .filter(|(_, item)| item.status == TodoStatus::InProgress)
        .map(|(i, _)| i.to_string())
        .collect();
    if active.len() > 1 {
        errors.push(format!("one item at most is in_progress, and these would be: {}", active.join(", ")));
    }
    if errors.is_empty() { Ok(next) } else { Err(errors) }
}

fn out_of_range(index: usize, length: usize) -> String {
    match length {
        0 => format!("index {index} is out of range: the list is empty"),
        _ => format!("index {index} is out of range: 0 to {} are there", length - 1),
    }
}

fn fresh((i, draft): (usize, TodoDraft), errors: &mut Vec<String>) -> TodoItem {
    let mut text = |name: &str, value: Option<String>| match value {
        Some(text) if !text.trim().is_empty() => bounded(i, name, text, errors),
        _ => {
            errors.push(format!("todo {i}: `{name}` is missing or empty"));
            String::new()
        }
    };
    let (content, active_form) = (text("content", draft.content), text("active_form", draft.active_form));
    if draft.status.is_none() {
        errors.push(format!("todo {i}: `status` is missing; it is pending, in_progress or completed"));
    }
    let status = draft.status.unwrap_or_default();
    TodoItem {
        id: CallId::fresh().to_string()[2..10].to_owned(),
        content,
        active_form,
        status,
        target_tier: draft.target_tier.filter(|tier| !tier.trim().is_empty()),
        created_at: now(),
        completed_at: (status == TodoStatus::Completed).then(now),
    }
}

fn update(item: &mut TodoItem, draft: TodoDraft, errors: &mut Vec<String>) {
    for (name, value, field) in [
        ("content", draft.content, &mut item.content),
        ("active_form", draft.active_form, &mut item.active_form),
    ] {
        match value {
            None => {}
            Some(text) if text.trim().is_empty() => errors.push(format!("todo 0: `{name}` is empty")),
            Some(text) => *field = bounded(0, name, text, errors),
        }
    }
    if let Some(status) = draft.status {
        item.completed_at = match (status, item.completed_at) {
            (TodoStatus::Completed, None) => Some(now()),
            (TodoStatus::Completed, done) => done,
            _ => None,
        };
        item.status = status;
    }
    if let Some(tier) = draft.target_tier {
        item.target_tier = Some(tier).filter(|tier| !tier.trim().is_empty());
    }
}

fn bounded(i: usize, name: &str, text: String, errors: &mut Vec<String>) -> String {
    if text.chars().count() > MOST_TEXT {
        errors.push(format!("todo {i}: `{name}` is longer than {MOST_TEXT} characters"));
    }
    // One item is one line.
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs())
}

/// The list as the model sees it.
pub(super) fn face(items: &[TodoItem]) -> String {
    let mut text = String::from("[CURRENT TODO STATE]\n");
    if items.is_empty() {
        text.push_str("No todos. Write a list with todo_write before work of several steps.\n");
    } else {
        let tiers: std::collections::BTreeSet<Option<&str>> =
            items.iter().map(|item| item.target_tier.as_deref()).collect();
        let mut groups: BTreeMap<(bool, &str), Vec<usize>> = BTreeMap::new();
        for (i, item) in items.iter().enumerate() {
            let tier = item.target_tier.as_deref();
            groups.entry((tier.is_none(), tier.unwrap_or("self"))).or_default().push(i);
        }
        for ((_, tier), members) in &groups {
            if tiers.len() > 1 {
                let _ = writeln!(text, "{tier}:");
            }
            for i in members {
                let item = &items[*i];
                let (mark, now) = match item.status {
                    TodoStatus::Pending => (' ', String::new()),
                    TodoStatus::InProgress if item.active_form == item.content => ('>', String::new()),
                    TodoStatus::InProgress => ('>', format!(" ({})", item.active_form)),
                    TodoStatus::Completed => ('x', String::new()),
                };
                let _ = writeln!(text, "  [{i}] [{mark}] {}{now}", item.content);
            }
        }
        let done = items.iter().filter(|item| item.status == TodoStatus::Completed).count();
        let _ = writeln!(text, "Progress: {done}/{} completed", items.len());
    }
    text.push_str("[END TODO STATE]");
    text
}

/// The directives of every change of the list: the anchor, and a note for people.
pub(super) fn directives(items: &[TodoItem]) -> Vec<Directive> {
    vec![
        Directive::ContextAnchor { key: TODO_ANCHOR.into(), content: face(items) },
        Directive::NotifyPresenter {
            key: "todo_update".into(),
            data: json!({ "items": items, "count": items.len() }),
        },
    ]
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
