//! The plans that were shown, so that the id of one is enough to do it.

use parking_lot::Mutex;
use tectum_core::security::RawPath;

/// The plans that were shown lately: their ids and files. A call that gives an id is judged by the
/// files behind it, as if it had named them.
#[derive(Debug, Default)]
pub(crate) struct ShownPlans(Mutex<Vec<(String, Vec<RawPath>)>>);

impl ShownPlans {
    /// Plans kept at a time.
    const MOST: usize = 32;

    pub(super) fn put(&self, plan: &str, files: Vec<RawPath>) {
        let mut shown = self.0.lock();
        shown.retain(|(id, _)| id != plan);
        if shown.len() == Self::MOST {
            shown.remove(0);
        }
        shown.push((plan.to_owned(), files));
    }

    pub(super) fn get(&self, plan: &str) -> Option<Vec<RawPath>> {
        let shown = self.0.lock();
        shown.iter().find(|(id, _)| id == plan).map(|(_, files)| files.clone())
    }
}
