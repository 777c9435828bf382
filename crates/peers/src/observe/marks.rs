//! The metadata of a copy: which call it is of, and where that came from.

use super::observation::Observation;
use crate::{
    lineage::{self, Lineage},
    link::{Link, modern_meta},
    wire::{era::Era, object::Object},
};

/// The metadata of a copy beside the copy itself.
#[derive(Clone, Copy)]
pub(super) struct Marks<'m> {
    pub(super) run: &'m str,
    pub(super) lineage: &'m Lineage,
}

/// The parameters of a request, with the metadata of a copy and of every request of the newer era.
pub(super) fn with_meta(params: &mut Object, link: &Link, of: Option<(&Observation, Marks<'_>)>) -> String {
    let mut meta = Object::new();
    if let Some((copy, Marks { run, lineage })) = of {
        meta.text("tectum/call", &copy.call.to_string())
            .raw("tectum/sequence", &copy.sequence.to_string())
            .text("tectum/phase", if copy.is_after() { "after" } else { "before" })
            .text("tectum/run", run)
            .raw(lineage::KEY, &lineage.copied(copy.call));
    }
    if link.hello().era == Era::Modern {
        modern_meta(&mut meta, "{}");
    }
    let meta = meta.end();
    if meta != "{}" {
        params.raw("_meta", &meta);
    }
    params.end()
}
