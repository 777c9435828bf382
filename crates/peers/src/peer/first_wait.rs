//! The decision to wait for a server that was never met: not again once it did not come in time, in
//! this run or the one before.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use tokio::time::Instant;

use crate::spec::ServerSpec;

/// The time a server was waited for.
#[derive(Debug, Default)]
pub(super) struct FirstWait {
    began: OnceLock<Instant>,
    /// It was waited for in an earlier run and did not come.
    in_vain: bool,
}

impl FirstWait {
    /// Reads the word that an earlier run left.
    pub(super) fn kept(state: &Path, spec: &ServerSpec) -> Self {
        let (file, word) = late_word(state, spec);
        let in_vain = tectum_state::read(&file).ok().flatten().is_some_and(|kept| kept == word.as_bytes());
        Self { in_vain, ..Self::default() }
    }

    /// True if nobody waited so long yet; the first who asks begins to wait.
    pub(super) fn is_left(&self, patience: Duration) -> bool {
        !self.in_vain && self.began.get_or_init(Instant::now).elapsed() < patience
    }
}

/// The file that remembers that a server did not come in time, and its content: a digest of the spec, so that
/// it does not hold for a server that was changed or restarted since.
pub(crate) fn late_word(state: &Path, spec: &ServerSpec) -> (PathBuf, String) {
    let digest = blake3::hash(format!("{:?} {}", spec.transport, spec.generation).as_bytes());
    (state.join(format!("{}.late", spec.name)), digest.to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Launch, ServerName, Transport};

    #[tokio::test(start_paused = true)]
    async fn it_is_waited_for_once_from_when_the_first_began() {
        let wait = FirstWait::default();
        assert!(wait.is_left(Duration::from_secs(1)));
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(!wait.is_left(Duration::from_secs(1)) && wait.is_left(Duration::from_secs(8)));
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert!(!wait.is_left(Duration::from_secs(8)));
    }

    #[test]
    fn one_that_did_not_come_is_not_waited_for_until_it_is_another() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let launch = Launch { command: "x".into(), args: Vec::new(), env: Default::default(), cwd: None };
        let spec = ServerSpec::new(ServerName::parse("s").expect("a name"), Transport::Stdio(launch));
        let is_left =
            |spec: &ServerSpec| FirstWait::kept(scratch.path(), spec).is_left(Duration::from_secs(1));
        assert!(is_left(&spec));
        let (file, word) = late_word(scratch.path(), &spec);
        tectum_state::replace(&file, word.as_bytes(), tectum_state::Lasts::Process).expect("kept");
        assert!(!is_left(&spec));
        assert!(is_left(&ServerSpec { generation: 1, ..spec }));
    }
}
