//! The rules of the list, and its face.

use super::*;

fn draft(content: &str, status: TodoStatus) -> TodoDraft {
    TodoDraft {
        content: Some(content.into()),
        active_form: Some(format!("{content}ing")),
        status: Some(status),
        target_tier: None,
    }
}

fn two() -> Todos {
    let todos = Todos::default();
    let drafts = vec![draft("Read", TodoStatus::Completed), draft("Write", TodoStatus::InProgress)];
    todos.change(TodoChange::Replace(drafts)).expect("fine");
    todos
}

#[test]
fn the_list_has_a_face() {
    let todos = two();
    todos.change(TodoChange::Add(vec![draft("Test", TodoStatus::Pending)])).expect("fine");
    assert_eq!(
        face(&todos.items()),
        "[CURRENT TODO STATE]\n  [0] [x] Read\n  [1] [>] Write (Writeing)\n  [2] [ ] Test\nProgress: 1/3 completed\n[END TODO STATE]"
    );
    assert!(
        face(&[]).starts_with("[CURRENT TODO STATE]\nNo todos.") && face(&[]).ends_with("[END TODO STATE]")
    );
}

#[test]
fn tiers_are_grouped_under_the_numbers_of_the_whole_list() {
    let tiered = |content: &str, tier: Option<&str>| TodoDraft {
        target_tier: tier.map(str::to_owned),
        ..draft(content, TodoStatus::Pending)
    };
    let todos = Todos::default();
    let drafts =
        vec![tiered("a", None), tiered("b", Some("lead")), tiered("c", Some("eng")), tiered("d", None)];
    let items = todos.change(TodoChange::Replace(drafts)).expect("fine");
    assert_eq!(
        face(&items),
        "[CURRENT TODO STATE]\neng:\n  [2] [ ] c\nlead:\n  [1] [ ] b\nself:\n  [0] [ ] a\n  [3] [ ] d\nProgress: 0/4 completed\n[END TODO STATE]"
    );
    assert_eq!(todos.change(TodoChange::ClearOwn).expect("fine").len(), 2);
}

#[test]
fn completing_stamps_the_time_and_taking_back_removes_it() {
    let todos = two();
    let done = TodoDraft { status: Some(TodoStatus::Completed), ..TodoDraft::default() };
    let items = todos.change(TodoChange::Update(1, done)).expect("fine");
    assert!(items[1].completed_at.is_some() && items[1].content == "Write");
    let id = items[1].id.clone();
    let back = TodoDraft {
        status: Some(TodoStatus::Pending),
        content: Some("Write\n it".into()),
        ..TodoDraft::default()
    };
    let items = todos.change(TodoChange::Update(1, back)).expect("fine");
    assert_eq!((items[1].completed_at, items[1].content.as_str(), &items[1].id), (None, "Write it", &id));
    assert_eq!(id.len(), 8);
    assert_eq!(todos.change(TodoChange::Remove(0)).expect("fine").len(), 1);
}

#[test]
fn every_mistake_is_named_and_nothing_changes() {
    let todos = two();
    let before = todos.items();
    let bad = vec![
        TodoDraft::default(),
        TodoDraft { content: Some("x".repeat(1001)), ..draft("x", TodoStatus::InProgress) },
        draft("y", TodoStatus::InProgress),
    ];
    let errors = todos.change(TodoChange::Replace(bad)).expect_err("refused");
    assert_eq!(errors.len(), 5, "{errors:?}");
    assert!(
        errors[0].starts_with("todo 0: `content`") && errors[3].contains("longer than 1000"),
        "{errors:?}"
    );
    assert!(errors[4].contains("in_progress") && errors[4].ends_with("1, 2"), "{errors:?}");
    for (change, word) in [
        (TodoChange::Update(2, TodoDraft::default()), "0 to 1"),
        (TodoChange::Remove(9), "out of range"),
        (TodoChange::Add(vec![draft("z", TodoStatus::InProgress)]), "one item at most"),
        (TodoChange::Update(0, TodoDraft { content: Some(" ".into()), ..TodoDraft::default() }), "empty"),
        (TodoChange::Replace(vec![draft("x", TodoStatus::Pending); 201]), "at most 200"),
    ] {
        let errors = todos.change(change).expect_err("refused");
        assert!(errors.join("\n").contains(word), "{errors:?}");
    }
    assert_eq!(todos.items(), before);
    let empty = Todos::default().change(TodoChange::Remove(0)).expect_err("refused");
    assert!(empty[0].contains("empty"));
}

#[test]
fn every_change_asks_for_the_anchor_and_a_note() {
    let asked = directives(&two().items());
    assert!(
        matches!(&asked[0], Directive::ContextAnchor { key, content } if key == "todo_state" && content.contains("Read"))
    );
    assert!(
        matches!(&asked[1], Directive::NotifyPresenter { key, data } if key == "todo_update" && data["count"] == 2)
    );
}
