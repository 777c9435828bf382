//! Everything again in a copy of the project: from the state before the session, and with its files compared.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tectum::{
    Config, Fault,
    replay::{self, Replayed, Session},
    servers::Household,
    state::canonical,
};
use tokio::runtime::Builder;

use super::{
    super::{failure::Failure, options::Shared, undo},
    files::{self, FilesFound},
};

/// Copies the project, takes the session back there, makes its calls again, and compares the files.
pub(super) fn run(
    shared: &Shared,
    project: &Config,
    copy: &Path,
    session: &Session,
) -> Result<(Replayed, FilesFound), Failure> {
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
        let household = Household::for_one_call(&config, sources).await?;
        let replayed = replay::everything(&config, &household, session, (&here, &there)).await;
        household.stop().await;
        Ok::<_, Failure>(replayed)
    });
    runtime.shutdown_background();
    let replayed = replayed?;
    Ok((replayed, files::compare(&recorded, &copy, session)?))
}

/// A copy that shares what the file system can share.
#[expect(
    clippy::disallowed_methods,
    reason = "the operator asks for a copy of the project; `cp` shares its blocks"
)]
fn copied(project: &Path, copy: &Path) -> Result<PathBuf, Failure> {
    let is_empty = match std::fs::read_dir(copy) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => return Err(Fault::invalid(format!("{}: {error}", copy.display())).into()),
    };
    if !is_empty {
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
    let calls: Vec<String> = entries.iter().map(|entry| entry.id.clone()).collect();
    undo::take_back(&house, &calls, false).await?;
    Ok(())
}
