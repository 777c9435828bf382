//! `tectum log verify`: every record and the chain of hashes.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tectum::FaultKind;
use tectum_journal::{Damage, verify};

use super::{
    super::{
        failure::Failure,
        screen::{Colour, Screen, counted},
    },
    record::RecordPlace,
};

/// Checks everything and says where something is wrong. A record that a crash cut off is none.
pub(super) fn run(record: &RecordPlace, screen: &Screen) -> Result<(), Failure> {
    let found = verify(&record.folder)?;
    let (damages, torn) = (&found.damages, &found.torn);
    let whole = damages.is_empty();
    if screen.json {
        screen.print_json(&json!({
            "ok": whole,
            "segments": found.segments,
            "records": found.records,
            "damages": damages.iter().map(data).collect::<Vec<Value>>(),
            "torn": torn.iter().map(data).collect::<Vec<Value>>(),
        }))?;
    } else {
        let mut text = String::new();
        for (path, damage) in damages {
            text.push_str(&format!("{} {}\n", screen.paint(Colour::Red, "damaged:"), told(path, damage)));
        }
        for (path, damage) in torn {
            text.push_str(&format!(
                "{} {}\n",
                screen.paint(Colour::Yellow, "unfinished:"),
                told(path, damage)
            ));
        }
        let (segments, records) = (counted(found.segments, "segment"), counted(found.records, "record"));
        if whole {
            text.push_str(&screen.ok(&format!("{records} in {segments}")));
        } else {
            let damages = counted(damages.len() as u64, "damaged place");
            text.push_str(&format!("{damages}; {records} in {segments} are whole"));
        }
        screen.print(&text)?;
    }
    if whole { Ok(()) } else { Err(Failure::Silent(FaultKind::Conflict.exit_code())) }
}

fn told(path: &Path, Damage { offset, length, why }: &Damage) -> String {
    format!("{}: {} at offset {offset}: {why}", path.display(), counted(*length, "byte"))
}

fn data((path, damage): &(PathBuf, Damage)) -> Value {
    let Damage { offset, length, why } = damage;
    json!({ "file": path.display().to_string(), "offset": offset, "length": length, "why": why })
}
