//! Questions of the rules, asked on the terminal. Without a terminal nobody is there to ask, and
//! the desk refuses by itself.

use std::{
    io::{self, IsTerminal as _, Write as _},
    thread,
};

use tectum::{
    Tectum,
    core::{Decision, Inquiry, Question},
};
use tokio::sync::mpsc;

use super::{
    progress::one_line,
    screen::{Colour, Screen, agrees, counted},
};

/// Questions that wait behind the one that is shown; further ones are refused.
const WAITING: usize = 16;
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

async fn answer(house: Tectum, mut questions: mpsc::Receiver<Inquiry>, screen: Screen) {
    let mut lines = typed();
    // After a question that ended by itself a short answer may still be meant for that one.
    let mut careful = false;
    while let Some(inquiry) = questions.recv().await {
        if inquiry.settled().is_cancelled() {
            continue;
        }
        // What was typed before the question was shown is no answer to it.
        while lines.try_recv().is_ok() {}
        show(&inquiry.question, questions.len(), careful, &screen);
        inquiry.shown();
        let line = tokio::select! {
            biased;
            () = inquiry.settled().cancelled() => {
                screen.tell("that question is no longer open: it timed out, the call was cancelled, or it was answered elsewhere");
                careful = true;
                continue;
            }
            line = lines.recv() => line,
        };
        let agreed = |line: &str| agrees(line) && (!careful || line.trim().len() > 1);
        let decision = match line {
            Some(line) if agreed(&line) => Decision::Approve,
            Some(_) => Decision::Deny("denied on the terminal".into()),
            None => Decision::Deny("no answer on the terminal".into()),
        };
        careful = house.desk().answer(inquiry.id, decision).is_err();
        if careful {
            screen.tell("that answer came too late: the question was no longer open");
        }
    }
}

fn show(question: &Question, behind: usize, careful: bool, screen: &Screen) {
    // What is not shown is counted: nobody should agree to a part and not know it.
    let more = match question.args.chars().count() {
        count if count > MOST_SHOWN => format!(" ({count} characters in all)"),
        _ => String::new(),
    };
    let what = format!("{} {}{more}", question.tool, one_line(&question.args, MOST_SHOWN));
    let why = screen.paint_error(Colour::Dim, &one_line(&question.rule, MOST_SHOWN));
    let ask = screen.paint_error(Colour::Yellow, "allow?");
    let behind = match behind {
        0 => String::new(),
        count => format!(" ({} more after this one)", counted(count as u64, "question")),
    };
    let answers = if careful { "[yes/N]" } else { "[y/N]" };
    // Nobody is left to tell that standard error is closed.
    let _ = write!(io::stderr().lock(), "\n{ask} {what}\n  {why}{behind}\n  {answers} ");
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
