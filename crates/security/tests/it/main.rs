//! The three layers from outside: what an agent, a planted tree and a second process can try.

#![allow(clippy::disallowed_methods, reason = "the trees these tests attack are their own")]
#![allow(missing_docs, reason = "a test says what it does in its name")]

mod anchors;
mod attacker;
mod control;
mod hostile;
mod legal;
mod locks;
mod protected;
mod ruled;
mod scene;
mod special;
mod trees;
mod watch;
mod writes;
