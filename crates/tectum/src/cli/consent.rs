//! Questions of the rules, asked on the terminal. Without a terminal nobody is there to ask, and
//! the desk refuses by itself.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::Arc,
    thread,
};

use tectum::{
    Tectum,
    approval::{Answer, Desk, OpenQuestion, Preview, Surface},
};
use tokio::sync::{broadcast::error::RecvError, mpsc};

use super::{
    progress::one_line,
    screen::{Colour, Screen, agrees, counted},
};

/// Lines that were typed and not read yet.
const TYPED: usize = 16;
/// Characters of the arguments that are shown.
const MOST_SHOWN: usize = 400;

/// Answers the questions of the house from the terminal. False if there is none.
pub(crate) fn attach(house: &Tectum, screen: &Screen) -> bool {
    if screen.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return false;
    }
    let desk = Desk::of(house);
    tokio::spawn(answer(desk.attach(), desk, *screen));
    true
}

async fn answer(_surface: Surface, desk: Arc<Desk>, screen: Screen) {
    let (mut lines, mut events) = (typed(), desk.events());
    // After a question that ended by itself a short answer may still be meant for that one.
    let mut careful = false;
    loop {
        let waiting = desk.questions();
        let Some(question) = waiting.first() else {
            // Whoever fell behind looks at the list again.
            if matches!(events.recv().await, Err(RecvError::Closed)) {
                return;
            }
            continue;
        };
        // What was typed before the question was shown is no answer to it.
        while lines.try_recv().is_ok() {}
        show(question, waiting.len() - 1, careful, &screen);
        let _ = desk.shown(&question.id);
        let line = tokio::select! {
            biased;
            () = question.settled().cancelled() => {
                screen.tell("that question is no longer open: it timed out, the call was cancelled, or it was answered elsewhere");
                careful = true;
                continue;
            }
            line = lines.recv() => line,
        };
        let agreed = |line: &str| agrees(line) && (!careful || line.trim().len() > 1);
        let answer = match line {
            Some(line) if agreed(&line) => Answer::yes(),
            Some(_) => Answer::no("denied on the terminal"),
            None => Answer::no("no answer on the terminal"),
        };
        careful = desk.answer(&question.id, answer, "terminal").is_err();
        if careful {
            screen.tell("that answer came too late: the question was no longer open");
        }
    }
}

fn show(question: &OpenQuestion, behind: usize, careful: bool, screen: &Screen) {
    // What is not shown is counted: nobody should agree to a part and not know it.
    let more = match question.arguments.get().chars().count() {
        count if count > MOST_SHOWN => format!(" ({count} characters in all)"),
        _ => String::new(),
    };
    let about = match &question.preview {
        Preview::Text { text } if question.tool.is_empty() => text,
        _ if question.tool.is_empty() => &question.subject,
        _ => &question.tool,
    };
    let what = format!("{about} {}{more}", one_line(question.arguments.get(), MOST_SHOWN));
    let why = match one_line(&question.rule.text, MOST_SHOWN) {
        why if why.is_empty() => why,
        why => screen.paint_error(Colour::Dim, &why),
    };
    let ask = screen.paint_error(Colour::Yellow, "allow?");
    let behind = match behind {
        0 => String::new(),
        count => format!(" ({} more after this one)", counted(count as u64, "question")),
    };
    // Not every question comes from a rule.
    let second = if why.is_empty() { behind.trim_start().to_owned() } else { why + &behind };
    let second = if second.is_empty() { second } else { format!("  {second}\n") };
    let answers = if careful { "[yes/N]" } else { "[y/N]" };
    // Nobody is left to tell that standard error is closed.
    let _ = write!(io::stderr().lock(), "\n{ask} {what}\n{second}  {answers} ");
}

/// The lines that are typed. One thread reads them all: a read of a terminal cannot be taken back.
fn typed() -> mpsc::Receiver<String> {
    let (tell, lines) = mpsc::channel(TYPED);
    let read = move || {
        for line in io::stdin().lines() {
            let Ok(line) = line else { return };
            if tell.blocking_send(line).is_err() {
                return;
            }
        }
    };
    // Without the thread every question is refused, which is what silence means.
    let _ = thread::Builder::new().name("answers".into()).spawn(read);
    lines
}
