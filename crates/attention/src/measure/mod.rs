//! How good attention is, measured on labelled streams. Pure: whoever measures reads the files.

pub mod hooks;
pub mod nab;
pub mod outages;
pub mod pace;
pub mod trace;
