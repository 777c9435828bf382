//! The tools through the real house.

mod attacker;
mod catalog;
mod edit_bytes;
mod edit_disk;
mod edit_rig;
mod edit_undo;
mod files_ignore;
mod files_list;
mod files_read;
mod files_rig;
mod files_search;
mod rules;
mod scenarios;
mod snapshot;
