//! The workspace from outside: the seed's tests, the old defects, and promises over many worlds.

mod common;
mod defects;
mod promises;
mod seed;
