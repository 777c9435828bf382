//! Searching content: ripgrep's matching over our own walk by handles.
//!
//! [`request`] compiles what is asked, [`run`] walks and looks into files on several threads,
//! [`decoded`] makes UTF-8 of what is not, [`found`] keeps the first matches in order, [`render`] writes the reply.

mod decoded;
mod ends;
mod found;
mod look;
mod render;
mod request;
mod run;

pub(super) use render::render;
pub(super) use request::{Mode, Request};
pub(super) use run::run;
