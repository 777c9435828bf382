use crate::files_rig::house;
use serde_json::json;
use std::{path::Path, time::Instant};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "timing by hand"]
async fn against_rg() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/bench-data/tree"));
    let house = house(root);
    for pattern in ["quixplenth", "vorbantic", "zq[0-9]{4}x"] {
        let mut best = f64::MAX;
        let mut all = Vec::new();
        for _ in 0..7 {
            let began = Instant::now();
            let (text, _) =
                crate::files_rig::call(&house, "search_content", json!({"path": ".", "pattern": pattern}))
                    .await
                    .unwrap();
            let ms = began.elapsed().as_secs_f64() * 1e3;
            all.push(ms);
            best = best.min(ms);
            if all.len() == 1 {
                println!("{}", text.lines().last().unwrap());
            }
        }
        all.sort_by(f64::total_cmp);
        println!("{pattern}: best {best:.0} ms, median {:.0} ms", all[3]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "timing by hand"]
async fn hot_paths() {
    let rig = crate::files_rig::Rig::new();
    rig.write("4k.txt", "some words on a line of text\n".repeat(141));
    rig.write("1m.txt", "some words on a line of text\n".repeat(36_000));
    for n in 0..100 { rig.write(&format!("d/file-{n:03}.txt"), "x"); }
    let house = &rig.house;
    for (tool, args) in [("read_file", json!({"path": "4k.txt"})), ("read_file", json!({"path": "1m.txt"})), ("list_directory", json!({"path": "d"})), ("search_files", json!({"path": "d", "pattern": "*.txt"}))] {
        let raw = serde_json::value::RawValue::from_string(args.to_string()).unwrap();
        let mut all = Vec::new();
        let rounds = std::env::var("ROUNDS").map_or(2000, |r| r.parse().unwrap());
        if let Ok(only) = std::env::var("ONLY") { if !args.to_string().contains(&only) { continue; } }
        for _ in 0..rounds {
            let call = tectum_core::Call::new(tectum_core::SessionId::new("t"), tool, raw.clone());
            let began = Instant::now();
            house.call(call).await.result.unwrap();
            all.push(began.elapsed().as_secs_f64() * 1e6);
        }
        all.sort_by(f64::total_cmp);
        println!("{tool} {args}: median {:.1} us", all[rounds / 2]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "timing by hand"]
async fn one_gigabyte() {
    let rig = crate::files_rig::Rig::new();
    {
        use std::io::Write;
        let mut f = std::io::BufWriter::new(std::fs::File::create(rig.root().join("g")).unwrap());
        for n in 0..14_000_000u32 { writeln!(f, "line {n:08} with some words to make it a usual length abcdefghijkl").unwrap(); }
    }
    let rss = || std::fs::read_to_string("/proc/self/status").unwrap().lines().find(|l| l.starts_with("VmHWM")).unwrap().to_owned();
    println!("before {}", rss());
    for args in [json!({"path": "g"}), json!({"path": "g", "start_line": 13_000_000, "end_line": 13_000_010})] {
        let began = Instant::now();
        let raw = serde_json::value::RawValue::from_string(args.to_string()).unwrap();
        let call = tectum_core::Call::new(tectum_core::SessionId::new("t"), "read_file", raw);
        rig.house.call(call).await.result.unwrap();
        println!("{args}: {:.0} ms, {}", began.elapsed().as_secs_f64() * 1e3, rss());
    }
    let began = Instant::now();
    let raw = serde_json::value::RawValue::from_string(json!({"path": "g", "pattern": "line 1299999"}).to_string()).unwrap();
    let call = tectum_core::Call::new(tectum_core::SessionId::new("t"), "search_content", raw);
    if let tectum_core::Payload::Native(r) = rig.house.call(call).await.result.unwrap() { println!("{}", r.text.lines().last().unwrap()); }
    println!("search: {:.0} ms, {}", began.elapsed().as_secs_f64() * 1e3, rss());
}
