//! `todo_write`: changes the list of what is to do.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{Card, Ctx, Effect, Fault, Reply, Subject, Tool, ToolRole, Wants};

use super::list::{TodoChange, TodoDraft, TodoItem, Todos, directives, face};
use crate::cards::CHANGES;

/// Writes the list.
#[derive(Clone, Debug)]
pub struct TodoWrite(pub Arc<Todos>);

/// What to do with the list.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub(super) enum TodoAction {
    /// Make `todos` the whole list.
    #[default]
    Replace,
    /// Add `todos` at its end.
    Add,
    /// Change the item at `index` to what the one todo says; what it leaves out stays.
    Update,
    /// Take the item at `index` away.
    Remove,
}

/// Write the todo list (plan); without arguments shows it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    #[serde(default)]
    #[schemars(with = "TodoAction")]
    action: Option<TodoAction>,
    #[serde(default)]
    #[schemars(with = "Vec<TodoDraft>")]
    todos: Option<Vec<TodoDraft>>,
    #[serde(default)]
    #[schemars(with = "usize")]
    index: Option<usize>,
}

/// The list after the change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Its items.
    pub items: Vec<TodoItem>,
}

impl Tool for TodoWrite {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "todo_write",
        title: "Write todos",
        effect: Effect::Add,
        primary: "",
        deadline: Duration::from_secs(10),
        role: ToolRole::Alias,
        ..CHANGES
    };

    fn wants(&self, _: &Args) -> Wants {
        Wants { subject: Subject::None, paths: Vec::new() }
    }

    async fn call(&self, _: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        // Whoever says nothing wants to look; a list is given up only by an empty one.
        if let Args { action: None, todos: None, index: None } = args {
            let items = self.0.items();
            return Ok(Reply::new(face(&items), Output { items }));
        }
        let items = change(args).and_then(|change| self.0.change(change)).map_err(|errors| {
            Fault::invalid(format!("the list was not changed:\n{}", errors.join("\n")))
                .hint("mend all of it and send it again")
        })?;
        Ok(Reply { directives: directives(&items), ..Reply::new(face(&items), Output { items }) })
    }
}

fn change(args: Args) -> Result<TodoChange, Vec<String>> {
    let (action, index) = (args.action.unwrap_or_default(), args.index);
    let named = args.todos.is_some();
    let mut todos = args.todos.unwrap_or_default();
    let mut errors = Vec::new();
    if matches!(action, TodoAction::Replace | TodoAction::Add) && index.is_some() {
        errors.push("`index` goes with update and remove only".to_owned());
    }
    if matches!(action, TodoAction::Replace) && !named {
        errors.push("`todos` is missing: name the whole list, or [] to empty it".to_owned());
    }
    if matches!(action, TodoAction::Add) && todos.is_empty() {
        errors.push("`todos` is empty: name what to add".to_owned());
    }
    if matches!(action, TodoAction::Update | TodoAction::Remove) && index.is_none() {
        errors.push("`index` is missing: which item?".to_owned());
    }
    if matches!(action, TodoAction::Update) && todos.len() != 1 {
        errors.push(format!("update takes one todo with what changes, and here are {}", todos.len()));
    }
    if matches!(action, TodoAction::Remove) && !todos.is_empty() {
        errors.push("remove takes an `index` and no `todos`".to_owned());
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(match (action, index.unwrap_or_default()) {
        (TodoAction::Replace, _) => TodoChange::Replace(todos),
        (TodoAction::Add, _) => TodoChange::Add(todos),
        (TodoAction::Update, index) => TodoChange::Update(index, todos.pop().unwrap_or_default()),
        (TodoAction::Remove, index) => TodoChange::Remove(index),
    })
}
