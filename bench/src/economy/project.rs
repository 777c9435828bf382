//! The project of the tasks: click's source distribution, fresh for every conversation.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::tasks::Task;
use crate::code::corpora::source_distribution;

const NAME: &str = "click";
const VERSION: &str = "8.5.1";

pub(crate) struct Project {
    sources: PathBuf,
    /// The place of the copy for each conversation. Short, because some servers spell out whole paths.
    pub(crate) root: PathBuf,
}

impl Project {
    pub(crate) fn prepare(data: &Path) -> Result<Self> {
        let data = data.join("economy");
        fs::create_dir_all(&data)?;
        let sources = source_distribution(&data, NAME, VERSION)?;
        Ok(Self { sources, root: std::env::temp_dir().join("economy").join(NAME) })
    }

    pub(crate) fn renew(&self) -> Result<()> {
        self.remove()?;
        copy(&self.sources, &self.root)
    }

    pub(crate) fn remove(&self) -> Result<()> {
        let room = self.root.parent().context("the project stands in a directory")?;
        if room.exists() {
            fs::remove_dir_all(room)?;
        }
        Ok(())
    }

    /// Checks that the files are as the task must leave them.
    pub(crate) fn judge(&self, task: &Task) -> Result<()> {
        let Some((path, words)) = &task.leaves else { return Ok(()) };
        let text = fs::read_to_string(self.root.join(path)).unwrap_or_default();
        ensure!(text.contains(words), "`{}`: {path} lacks `{words}`", task.name);
        Ok(())
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
