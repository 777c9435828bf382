//! The files that `all` means: those that were asked about or edited.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;

/// Files that are remembered; the one that was noted longest ago is forgotten first.
const MOST: usize = 200;

/// The known files, by their true names, the last noted at the end.
#[derive(Debug, Default)]
pub struct Known(Mutex<VecDeque<PathBuf>>);

impl Known {
    /// Remembers a file.
    pub fn note(&self, path: PathBuf) {
        let mut held = self.0.lock();
        held.retain(|one| *one != path);
        held.push_back(path);
        while held.len() > MOST {
            held.pop_front();
        }
    }

    /// Forgets a file.
    pub fn forget(&self, path: &Path) {
        self.0.lock().retain(|one| one != path);
    }

    /// All of them, in the order of their names.
    pub fn all(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = self.0.lock().iter().cloned().collect();
        all.sort();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let known = Known::default();
        for number in 0..=MOST {
            known.note(format!("/{number:04}").into());
            known.note("/again".into());
        }
        let all = known.all();
        assert_eq!(all.len(), MOST);
        assert!(all.contains(&"/again".into()) && !all.contains(&"/0000".into()));
        known.forget(Path::new("/again"));
        assert_eq!(known.all().len(), MOST - 1);
    }
}
