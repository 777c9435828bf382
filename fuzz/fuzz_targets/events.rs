//! Any bytes as an event stream: the events are the same however the stream is cut, and none is
//! over its bound.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: (u8, &[u8])| tectum_peers::fuzzing::events(input.0, input.1));
