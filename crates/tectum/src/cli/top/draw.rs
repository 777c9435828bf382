//! The screen of `tectum top`, for any size from 80 columns and 24 lines on.

use std::time::Instant;

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Block, Paragraph},
};

use super::view::{CallState, View};

/// Questions that are listed at once; the list moves with the chosen one.
const LISTED: usize = 4;
/// Lines for calls and servers while questions wait.
const FEW: u16 = 5;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, view: &mut View) {
    let waiting = !view.questions.is_empty();
    // A question needs the room.
    let errors = match (view.errors.is_empty(), waiting) {
        (true, _) => 0,
        (false, true) => 3,
        (false, false) => 5,
    };
    let (middle, below) = if waiting {
        (Constraint::Min(8), Constraint::Length(FEW))
    } else {
        (Constraint::Length(1), Constraint::Min(3))
    };
    let line = Constraint::Length(1);
    let [head, middle, below, wrong, foot] =
        Layout::vertical([line, middle, below, Constraint::Length(errors), line]).areas(frame.area());
    frame.render_widget(headline(view), head);
    if !waiting {
        frame.render_widget(Line::styled(" no question waits", dim()), middle);
    } else {
        questions(frame, view, middle);
    }
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(60), Constraint::Percentage(40)]).areas(below);
    calls(frame, view, left);
    servers(frame, view, right);
    if errors > 0 {
        let lines: Vec<Line<'_>> =
            view.errors.iter().rev().take(usize::from(errors) - 2).map(|text| text.as_str().into()).collect();
        frame.render_widget(Paragraph::new(lines).style(Color::Red).block(titled("Errors")), wrong);
    }
    frame.render_widget(footer(view), foot);
}

fn headline(view: &View) -> Line<'static> {
    let counted = |count: usize, thing: &str| format!("{count} {thing}{}", if count == 1 { "" } else { "s" });
    let running = view.calls.iter().filter(|call| matches!(call.state, CallState::Running(_))).count();
    Line::from(vec![
        Span::styled(" tectum top ", Style::new().add_modifier(Modifier::BOLD)),
        Span::raw(format!(
            " {}, {}, {} in flight",
            counted(view.houses.len(), "Tectum"),
            counted(view.questions.len(), "question"),
            counted(running, "call"),
        )),
    ])
}

fn footer(view: &View) -> Line<'static> {
    match &view.note {
        Some(note) => Line::styled(format!(" {note}"), Color::Yellow),
        None if view.questions.is_empty() => Line::styled(" q quit", dim()),
        None => {
            Line::styled(" a approve  s session  p project  d deny   ↑↓ choose  space more  q quit", dim())
        }
    }
}

fn questions(frame: &mut Frame<'_>, view: &mut View, area: Rect) {
    let listed = view.questions.len().min(LISTED);
    let rows = [Constraint::Length(listed as u16 + 2), Constraint::Min(3)];
    let [list, detail] = Layout::vertical(rows).areas(area);
    let place = view.place().unwrap_or_default();
    let from = place.saturating_sub(listed.saturating_sub(1));
    let line = |(at, asked): (usize, &super::AskedHere)| {
        let mark = if at == place { ">" } else { " " };
        let text = format!("{mark} {:>3}s  {}", asked.seconds_left(), asked.headline());
        if at == place { Line::styled(text, Style::new().add_modifier(Modifier::BOLD)) } else { text.into() }
    };
    let lines: Vec<Line<'_>> = view.questions.iter().enumerate().skip(from).take(listed).map(line).collect();
    frame.render_widget(Paragraph::new(lines).block(titled("Questions")), list);
    let Some(asked) = view.current() else { return };
    let facts = asked.facts().into_iter().map(|fact| Line::styled(fact, dim()));
    let preview = asked.preview().into_iter().map(|line| {
        let colour = match line.chars().next() {
            Some('+') => Color::Green,
            Some('-') => Color::Red,
            _ => Color::Reset,
        };
        Line::styled(line, colour)
    });
    let lines: Vec<Line<'_>> = facts.chain(preview).collect();
    let room = usize::from(detail.height.saturating_sub(2));
    let most = lines.len().saturating_sub(room);
    let from = view.scrolled.min(most);
    let more = if lines.len() > room {
        format!(" {}-{} of {} ", from + 1, (from + room).min(lines.len()), lines.len())
    } else {
        String::new()
    };
    let title = format!(" {} {more}", asked.id());
    view.scrolled = from;
    let shown = Paragraph::new(lines).scroll((u16::try_from(from).unwrap_or(u16::MAX), 0));
    frame.render_widget(shown.block(Block::bordered().title(title)), detail);
}

fn calls(frame: &mut Frame<'_>, view: &View, area: Rect) {
    let now = Instant::now();
    let line = |call: &super::view::CallRow| {
        let (state, colour) = match call.state {
            CallState::Running(since) => {
                (format!("{:>6}s", now.duration_since(since).as_secs()), Color::Yellow)
            }
            CallState::Done { ok: true, took_ms } => (format!("{took_ms:>5}ms"), Color::Reset),
            CallState::Done { ok: false, .. } => (" failed".to_owned(), Color::Red),
        };
        let who = [call.client.as_str(), call.project.as_str()].join(" ");
        Line::from(vec![
            Span::styled(state, colour),
            Span::raw(format!("  {}  ", call.tool)),
            Span::styled(who, dim()),
        ])
    };
    let room = usize::from(area.height.saturating_sub(2));
    let lines: Vec<Line<'_>> = view.calls.iter().rev().take(room).map(line).collect();
    frame.render_widget(Paragraph::new(lines).block(titled("Calls")), area);
}

fn servers(frame: &mut Frame<'_>, view: &View, area: Rect) {
    let line = |(project, name, state): (String, String, String)| {
        let colour = match state.as_str() {
            "ready" => Color::Green,
            "down" | "broken" => Color::Red,
            _ => Color::Reset,
        };
        Line::from(vec![
            Span::styled(format!("{state:<8}"), colour),
            Span::raw(format!(" {name}  ")),
            Span::styled(project, dim()),
        ])
    };
    let lines: Vec<Line<'_>> = view.servers().into_iter().map(line).collect();
    frame.render_widget(Paragraph::new(lines).block(titled("Servers")), area);
}

fn titled(title: &'static str) -> Block<'static> {
    Block::bordered().title(format!(" {title} "))
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};
    use serde_json::json;

    use super::*;
    use crate::cli::{asked::AskedHere, top::news::News};

    fn screen(view: &mut View) -> String {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
        view.tick();
        terminal.draw(|frame| draw(frame, view)).expect("drawn");
        terminal.backend().to_string()
    }

    fn with_calls() -> View {
        let mut view = View::default();
        let servers = json!({ "github": "ready", "search": "broken" });
        let house = json!({ "project": "/home/ana/shop", "servers": servers });
        view.hear(News::Houses(vec![("/s".into(), Some(house))]));
        for (id, tool, ok) in [("c1", "read_file", true), ("c2", "github__search", false)] {
            let data = json!({ "call": id, "tool": tool, "client": "claude-code" });
            view.hear(News::Event("/s".into(), json!({ "kind": "call.started", "data": data })));
            let data = json!({ "call": id, "tool": tool, "ok": ok, "took_ms": 12.0,
                "message": "github did not answer within 30 s" });
            view.hear(News::Event("/s".into(), json!({ "kind": "call.ended", "data": data })));
        }
        view
    }

    #[test]
    fn without_questions_the_calls_have_the_room() {
        insta::assert_snapshot!(screen(&mut with_calls()));
    }

    #[test]
    fn a_question_is_shown_with_its_diff_on_a_small_screen() {
        let mut view = with_calls();
        let diff: String = (1..40).map(|line| format!("+line {line}\n")).collect();
        let question = |id: &str, subject: &str| AskedHere {
            socket: "/s".into(),
            project: "/home/ana/shop".into(),
            said: json!({ "id": id, "kind": "call", "tool": "edit_file", "subject": subject,
                "client": "claude-code", "expires_at": 0,
                "rule": { "text": "ask edit_file", "file": "tectum.toml", "line": 4 },
                "preview": { "kind": "diff", "text": format!("--- a/cart.rs\n+++ b/cart.rs\n{diff}") } }),
        };
        view.hear(News::Questions(vec![question("q1", "src/cart.rs"), question("q2", "src/other.rs")]));
        insta::assert_snapshot!("a_question", screen(&mut view));
        view.scroll(1000);
        insta::assert_snapshot!("the_end_of_its_diff", screen(&mut view));
    }
}
