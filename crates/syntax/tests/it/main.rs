//! The packs from outside: what each finds in its sample, that no text breaks any of them, and
//! that a language needs nothing but a pack.

#![expect(clippy::unwrap_used, reason = "a test that gets no answer ends there")]

mod cases;
#[cfg(feature = "lang-python")]
mod compile;
mod pathological;
mod ranges;
mod sample;
mod samples;
mod toy;
