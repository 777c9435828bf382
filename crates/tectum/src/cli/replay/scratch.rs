//! Everything again in a copy of the project: from the state before the session, and with its files compared.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::json;
use tectum::{
    Call, Config, Fault, SessionId,
    core::Asker,
    replay::{self, Difference, Replayed, Session},
    state::canonical,
    tools::edit::UNDO_CALLS,
};
use tokio::runtime::Builder;

use super::super::{failure::Failure, given, options::Shared};

/// Copies the project, takes the session back there, makes its calls again, and compares what they touched.
pub(super) fn run(
    shared: &Shared,
    project: &Config,
    copy: &Path,
    session: &Session,
) -> Result<(Replayed, Vec<Difference>), Failure> {
    let recorded = canonical(&project.directory);
    let copy = copied(&recorded, copy)?;
    let mut sources = shared.sources(Vec::new());
    sources.directory.clone_from(&copy);
    let mut config = sources.load()?;
    config.journal.on = false;
    let (here, there) = (copy.display().to_string(), recorded.display().to_string());
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let replayed = runtime.block_on(async {
        take_back(&config, project, session, (there.clone(), here.clone())).await?;
        let house = tectum::build_to_replay(&config)?;
        Ok::<_, Failure>(replay::everything(&config, &house, session, (&here, &there)).await)
    });
    runtime.shutdown_background();
    let files =
        touched(session, &there).into_iter().filter_map(|path| compare(&recorded, &copy, &path, session));
    Ok((replayed?, files.collect()))
}

/// A copy that shares what the file system can share.
#[expect(
    clippy::disallowed_methods,
    reason = "the operator asks for a copy of the project; `cp` shares its blocks"
)]
fn copied(project: &Path, copy: &Path) -> Result<PathBuf, Failure> {
    let files =
        tectum_state::list(copy).map_err(|error| Fault::invalid(format!("{}: {error}", copy.display())))?;
    if !files.is_empty() {
        let fault = Fault::conflict(format!("{} is not empty", copy.display()));
        return Err(fault.hint("name a folder that is new or empty").into());
    }
    if canonical(copy).starts_with(project) {
        let fault = Fault::invalid(format!("{} is inside of the project", copy.display()));
        return Err(fault.hint("name a folder outside of it").into());
    }
    tectum_state::make_folder(&copy.join("x"))?;
    let done = Command::new("cp")
        .args(["-a", "--reflink=auto", "--"])
        .arg(project.join("."))
        .arg(copy)
        .stdin(Stdio::null())
        .output()?;
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        return Err(Fault::conflict(format!("the project could not be copied: {why}")).into());
    }
    Ok(canonical(copy))
}

/// Takes back in the copy what the session changed in the project.
async fn take_back(
    copy: &Config,
    project: &Config,
    session: &Session,
    moved: (String, String),
) -> Result<(), Failure> {
    let house = tectum::build_to_undo_in_copy(copy, project, moved)?;
    let mut entries: Vec<_> =
        session.entries.iter().filter(|entry| entry.effect.as_deref() != Some("read")).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.began + entry.took));
    let calls: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    let args = given::raw(json!({ "calls": calls }).as_object().cloned().unwrap_or_default())?;
    let asker = Asker::to(|_| Box::pin(async { Ok(()) }));
    let call = Call { asker, ..Call::new(SessionId::new("replay"), UNDO_CALLS, args) };
    house.call(call).await.result?;
    Ok(())
}

/// The files that the session may have changed, below the project.
fn touched(session: &Session, project: &str) -> BTreeSet<PathBuf> {
    let changes = session.entries.iter().filter(|entry| entry.effect.as_deref() != Some("read"));
    let paths = changes.flat_map(|entry| &entry.paths);
    paths.map(|path| Path::new(path).strip_prefix(project).unwrap_or(Path::new(path)).to_owned()).collect()
}

/// A file of the copy that is not what the project has.
fn compare(project: &Path, copy: &Path, path: &Path, session: &Session) -> Option<Difference> {
    let read = |root: &Path| match tectum_state::read(&root.join(path)) {
        Ok(Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
        Ok(None) => "[no file]\n".to_owned(),
        Err(_) => "[not readable]\n".to_owned(),
    };
    let entry = session.entries.first()?;
    let difference = Difference::of_texts(entry, &read(project), &read(copy))?;
    Some(Difference {
        call: String::new(),
        tool: path.display().to_string(),
        args: String::new(),
        ..difference
    })
}
