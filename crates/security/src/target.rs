//! Targets of symbolic links, for listings: told only where the same call could go there.

use std::{ffi::OsStr, path::Path};

use rustix::{fd::AsFd, fs::OFlags};

use crate::{
    Access, Links, SafePath,
    beneath::{self, Follow},
    platform,
};

impl SafePath {
    /// The target of a link of this directory, as other calls take it. `None` where it leads to
    /// nothing, out of the root, or to what is protected or hidden: its own words are not told then.
    pub fn link_target(&self, name: &OsStr) -> Option<String> {
        if self.policy.links == Links::Never || Path::new(name).components().count() != 1 {
            return None;
        }
        let link = self.place.real.join(name);
        let handle = beneath::open(self.root.dir.as_fd(), &link, OFlags::RDONLY, Follow::Inside).ok()?;
        let (root, full) = (platform::real_name(&self.root.dir).ok()?, platform::real_name(&handle).ok()?);
        let below = full.strip_prefix(&root).ok()?;
        let closed = |path: &Path| {
            self.policy.protects(&self.root, path, Access::Read).is_some() || self.ruled(path).is_some()
        };
        let open = below.ancestors().all(|path| path.as_os_str().is_empty() || !closed(path));
        open.then(|| self.spelled(below))
    }
}
