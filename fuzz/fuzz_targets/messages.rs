//! Any bytes as a message: read without a panic, and never taken for one that they are not.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tectum_peers::fuzzing::message(bytes));
