//! Questions of the rules, asked on the terminal. Without a terminal nobody is there to ask, and
//! the desk refuses by itself.

use std::{
    io::{self, IsTerminal as _, Write as _},
    thread,
    time::Duration,
};

use tectum::{
    Tectum,
    core::{AskId, Decision, Question},
};
use tokio::sync::mpsc;

use super::{
    progress::one_line,
    screen::{Colour, Screen, agrees},
};

/// Questions that wait behind the one that is shown; further ones are refused.
const WAITING: usize = 16;
/// How long a question is shown. The desk gives up at the same time.
const PATIENCE: Duration = Duration::from_secs(60);
/// Characters of the arguments that are shown.
const MOST_SHOWN: usize = 400;

/// Answers the questions of the house from the terminal, if there is one.
pub(crate) fn attach(house: &Tectum, screen: &Screen) {
    if screen.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return;
    }
    let (asker, questions) = mpsc::channel(WAITING);
    house.desk().attach(asker);
    tokio::spawn(answer(house.clone(), questions, *screen));
}

async fn answer(house: Tectum, mut questions: mpsc::Receiver<(AskId, Question)>, screen: Screen) {
    let mut lines = typed();
    while let Some((id, question)) = questions.recv().await {
        // What was typed before the question was shown is no answer to it.
        while lines.try_recv().is_ok() {}
        show(&question, &screen);
        let line = tokio::time::timeout(PATIENCE, lines.recv()).await;
        let decision = match line {
            Ok(Some(line)) if agrees(&line) => Decision::Approve,
            Ok(Some(_)) => Decision::Deny("the answer on the terminal was no".into()),
            Ok(None) | Err(_) => Decision::Deny("nobody answered on the terminal".into()),
        };
        if house.desk().answer(id, decision).is_err() {
            screen.tell("that answer came too late: the call was refused");
        }
    }
}

fn show(question: &Question, screen: &Screen) {
    // What is not shown is counted: nobody should agree to a part and not know it.
    let more = match question.args.chars().count() {
        count if count > MOST_SHOWN => format!(" ({count} characters in all)"),
        _ => String::new(),
    };
    let what = format!("{} {}{more}", question.tool, one_line(&question.args, MOST_SHOWN));
    let why = screen.paint_error(Colour::Dim, &one_line(&question.rule, MOST_SHOWN));
    let ask = screen.paint_error(Colour::Yellow, "allow?");
    // Nobody is left to tell that standard error is closed.
    let _ = write!(io::stderr().lock(), "\n{ask} {what}\n  {why}\n  [y/N] ");
}

/// The lines that are typed. One thread reads them all: a read of a terminal cannot be taken back.
fn typed() -> mpsc::Receiver<String> {
    let (tell, lines) = mpsc::channel(WAITING);
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
