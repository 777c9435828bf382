//! Rules and reach are replaced as a whole: a call sees the old ones or the new, never a mixture.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde_json::json;
use tectum_core::{Call, FaultKind, Gate, Payload, Rules, SessionId, Snapshot, Tectum, security::Allowlist};
use tectum_native::NativeSet;
use tectum_tools::{Settings, catalog};

#[test]
#[expect(clippy::disallowed_methods, reason = "the test makes the trees it reads")]
fn parallel_calls_never_see_half_of_a_new_allowlist() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let sides = ["left", "right"].map(|name| scratch.path().canonicalize().expect("there").join(name));
    for side in &sides {
        std::fs::create_dir(side).expect("made");
        std::fs::write(side.join("x"), side.to_str().expect("text")).expect("written");
    }
    let gate = |side: usize| {
        let allowlist = Allowlist::builder().base(&sides[side]).build().expect("opens");
        Gate::new(Rules::default(), Arc::new(allowlist))
    };
    let tools = NativeSet::new(catalog(&Settings::default()));
    let house = Tectum::new(Snapshot::of(&[Arc::new(tools)]), gate(0));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0..400 {
                house.replace_gate(gate(turn % 2));
            }
            done.store(true, Ordering::SeqCst);
        });
        for side in 0..2 {
            let (house, sides, done) = (&house, &sides, &done);
            scope.spawn(move || {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("starts");
                let (mut opened, mut refused) = (0, 0);
                while !done.load(Ordering::SeqCst) || opened + refused < 100 {
                    let args = json!({"path": sides[side].join("x")}).to_string();
                    let args = serde_json::value::RawValue::from_string(args).expect("JSON");
                    let call = Call::new(SessionId::new("test"), "read_file", args);
                    match runtime.block_on(house.call(call)).result {
                        Ok(Payload::Native(reply)) => {
                            assert_eq!(reply.text, sides[side].to_str().expect("text"));
                            opened += 1;
                        }
                        Ok(other) => panic!("{other:?}"),
                        Err(fault) => {
                            assert_eq!(fault.kind, FaultKind::Permission, "{fault}");
                            // The refusal lists the reach it was judged by: the other side, whole and alone.
                            let bases = format!("Allowed base directories: {}", sides[1 - side].display());
                            assert!(fault.message.ends_with(&bases), "{fault}");
                            refused += 1;
                        }
                    }
                }
            });
        }
    });
}
