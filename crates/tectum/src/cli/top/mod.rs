//! `tectum top`: calls, questions, servers and errors of all running Tectums, live, with answers by a key.

mod draw;
mod news;
mod view;

use std::{
    io::{self, IsTerminal as _},
    sync::mpsc,
    thread,
    time::Duration,
};

use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
};
use serde_json::{Value, json};
use tectum::Fault;

use self::{
    news::News,
    view::{Reply, View},
};
use super::{
    asked::AskedHere,
    failure::Failure,
    options::Shared,
    questions::{credential, post_answer, tell_shown},
    screen::Screen,
};

/// The longest time between two looks at the keyboard and the news.
const TICK: Duration = Duration::from_millis(100);

pub(crate) fn run(shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    if screen.json || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Fault::invalid("`tectum top` draws on a terminal, and there is none")
            .hint("use `tectum status --json` and `tectum pending --json`")
            .into());
    }
    let approver = credential(shared)?;
    let (tell, told) = mpsc::channel();
    news::gather(shared, &tell);
    let shown = watch(&mut ratatui::init(), &approver, &tell, &told);
    ratatui::restore();
    Ok(shown?)
}

fn watch(
    terminal: &mut DefaultTerminal,
    approver: &str,
    tell: &mpsc::Sender<News>,
    told: &mpsc::Receiver<News>,
) -> io::Result<()> {
    let mut view = View::default();
    loop {
        view.tick();
        terminal.draw(|frame| draw::draw(frame, &mut view))?;
        if let Some(asked) = view.first_seen() {
            thread::spawn(move || tell_shown(&asked));
        }
        let key = if event::poll(TICK)? { Some(event::read()?) } else { None };
        told.try_iter().for_each(|news| view.hear(news));
        let Some(Event::Key(key @ KeyEvent { kind: KeyEventKind::Press, .. })) = key else { continue };
        match pressed(&mut view, key) {
            Pressed::Quit => return Ok(()),
            Pressed::Seen => {}
            Pressed::Answer(asked, reply) => send(asked, reply, approver.to_owned(), tell.clone()),
        }
    }
}

/// What a key means.
enum Pressed {
    Quit,
    Seen,
    Answer(AskedHere, Reply),
}

fn pressed(view: &mut View, key: KeyEvent) -> Pressed {
    let reply = match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Pressed::Quit,
        KeyCode::Char('q') | KeyCode::Esc => return Pressed::Quit,
        KeyCode::Char('a') => Reply::Approve,
        KeyCode::Char('s') => Reply::ApproveSession,
        KeyCode::Char('p') => Reply::ApproveProject,
        KeyCode::Char('d') => Reply::Deny,
        other => {
            match other {
                KeyCode::Down | KeyCode::Char('j') => view.choose(1),
                KeyCode::Up | KeyCode::Char('k') => view.choose(-1),
                KeyCode::PageDown | KeyCode::Char(' ') => view.scroll(10),
                KeyCode::PageUp => view.scroll(-10),
                _ => {}
            }
            return Pressed::Seen;
        }
    };
    view.answered(reply).map_or(Pressed::Seen, |asked| Pressed::Answer(asked, reply))
}

/// Gives an answer beside the screen, which goes on.
fn send(asked: AskedHere, reply: Reply, approver: String, tell: mpsc::Sender<News>) {
    let answer: Value = match reply {
        Reply::Approve => json!({ "decision": "approve" }),
        Reply::ApproveSession => json!({ "decision": "approve", "remember": "session" }),
        Reply::ApproveProject => json!({ "decision": "approve", "remember": "project" }),
        Reply::Deny => json!({ "decision": "deny" }),
    };
    thread::spawn(move || {
        let id = asked.id();
        let note = match post_answer(&asked.socket, id, &answer, &approver) {
            Ok(said) => match said["remembered"]["rule"].as_str() {
                Some(rule) => format!("{} {id}; remembered: allow {rule}", reply.done()),
                None => format!("{} {id}", reply.done()),
            },
            Err(fault) => format!("{id}: {fault}"),
        };
        let _ = tell.send(News::Note(note));
    });
}
