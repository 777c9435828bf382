//! The real binary, by its real protocols.
#![allow(clippy::disallowed_methods, reason = "a test works on its own files and starts its own processes")]

mod cli_call;
mod cli_help;
mod cli_policy;
mod cli_said;
mod cli_tools;
mod cli_up;
mod config_check;
mod config_show;
mod diagnostics;
mod federated;
mod federation_children;
mod federation_config;
mod federation_conformance;
mod federation_hostile;
mod federation_life;
mod federation_limits;
mod federation_live;
mod federation_names;
mod federation_passing;
mod federation_real;
mod federation_results;
mod federation_search;
mod federation_trust;
mod fuzz;
mod kill;
mod outside_clients;
mod rig;
mod serve_http;
mod serve_stdio;
