//! A simulated stretch of many resources with known outages, for tests and demonstrations: sites that
//! flap, builds that fail, numbers with a daily wave, and texts that say nothing new.

use serde_json::{Value, json};

use crate::{
    input::Seconds,
    measure::{outages::Important, trace::Version},
    theory::vector::Random,
};

/// When the simulated time begins: a Monday, 00:00 UTC.
pub const START: Seconds = 1_704_067_200.0;

/// What was simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// All versions of all resources, in order.
    pub versions: Vec<Version>,
    /// What somebody should hear of.
    pub important: Vec<Important>,
}

/// Simulates so many resources for so long. Equal seeds give equal worlds.
pub fn world(seed: u64, resources: usize, hours: f64) -> Simulated {
    let mut random = Random::new(seed);
    let mut world = Simulated { versions: Vec::new(), important: Vec::new() };
    for number in 0..resources {
        match number % 20 {
            0..11 => site(&mut world, number, hours, &mut random),
            11..16 => metric(&mut world, number, hours, &mut random),
            16..19 => build(&mut world, number, hours, &mut random),
            _ => noise(&mut world, number, hours, &mut random),
        }
    }
    world.versions.sort_by(|a, b| a.at.total_cmp(&b.at).then_with(|| a.uri.cmp(&b.uri)));
    world.important.sort_by(|a, b| a.from.total_cmp(&b.from).then_with(|| a.uri.cmp(&b.uri)));
    world
}

impl Simulated {
    fn version(&mut self, at: Seconds, uri: &str, state: Value) {
        self.versions.push(Version { at: START + at, uri: uri.to_owned(), state: Some(state) });
    }
}

/// A site: mostly up, some go down once for long, and every eleventh flaps.
fn site(world: &mut Simulated, number: usize, hours: f64, random: &mut Random) {
    let uri = format!("mcp:sites:site-{number}");
    let state = |up: bool, millis: f64| {
        json!({
            "url": format!("https://site{number}.example"), "status": if up { "up" } else { "down" },
            "code": if up { 200 } else { 0 }, "responseTime": if up { millis.round() } else { 0.0 },
        })
    };
    world.version(0.0, &uri, state(true, 300.0));
    let end = hours * 3600.0;
    let flaps = number % 11 == 3;
    let mut at = 0.0;
    if flaps {
        while at < end {
            at += random.between(600.0, 3_000.0);
            world.version(at, &uri, state(false, 0.0));
            at += random.between(120.0, 500.0);
            world.version(at, &uri, state(true, random.between(200.0, 500.0)));
        }
        // The first outage of a site that never had one is important, whoever it is.
        return;
    }
    while at < end {
        at += random.between(3_000.0, 14_000.0);
        world.version(at, &uri, state(true, random.between(200.0, 500.0)));
    }
    if random.below(12) == 0 {
        let from = random.between(0.4, 0.8) * end;
        let to = from + random.between(2_400.0, 6_000.0);
        world
            .versions
            .retain(|version| version.uri != uri || version.at < START + from || version.at > START + to);
        world.version(from, &uri, state(false, 0.0));
        world.version(to, &uri, state(true, 350.0));
        world.important.push(Important { uri, from: START + from, to: START + to });
    }
}

/// A number with a daily wave and noise, every five minutes.
fn metric(world: &mut Simulated, number: usize, hours: f64, random: &mut Random) {
    let uri = format!("mcp:metrics:load-{number}");
    let level = random.between(10.0, 1_000.0);
    for step in 0..(hours * 12.0) as usize {
        let at = step as f64 * 300.0;
        let wave = (at / 86_400.0 * std::f64::consts::TAU).sin();
        let value = level * (1.0 + 0.3 * wave + 0.02 * random.normal());
        world.version(at, &uri, json!({ "value": (value * 100.0).round() / 100.0, "at": START + at }));
    }
}

/// A build: a new run now and then, green; one in eight resources turns red once.
fn build(world: &mut Simulated, number: usize, hours: f64, random: &mut Random) {
    let uri = format!("mcp:ci:repo-{number}");
    let state = |conclusion: &str, run: usize, at: f64| {
        json!({
            "check_run": {
                "id": 1_000_000 + run * 37, "status": "completed", "conclusion": conclusion,
                "started_at": format!("2024-01-01T{:02}:{:02}:00Z", (at / 3600.0) as u64 % 24, (at / 60.0) as u64 % 60),
                "head_sha": format!("{:040x}", run as u128 * 0x9e37_79b9_7f4a_7c15),
            },
            "repository": { "name": format!("repo-{number}"), "pushed_at": START + at },
        })
    };
    let end = hours * 3600.0;
    let red = (random.below(8) == 0).then(|| random.between(0.4, 0.8) * end);
    let (mut at, mut run, mut told) = (0.0, 0, false);
    while at < end {
        let fails = red.is_some_and(|red| at >= red && at < red + 5_400.0);
        world.version(at, &uri, state(if fails { "failure" } else { "success" }, run, at));
        if fails && !told {
            told = true;
            world.important.push(Important { uri: uri.clone(), from: START + at, to: START + at + 5_400.0 });
        }
        run += 1;
        at += random.between(600.0, 2_400.0);
    }
}

/// A feed whose texts only count on.
fn noise(world: &mut Simulated, number: usize, hours: f64, random: &mut Random) {
    let uri = format!("mcp:feeds:feed-{number}");
    let mut at = 0.0;
    while at < hours * 3600.0 {
        let id = random.bits();
        let title =
            format!("Nightly build {} of main finished in {:.1} s", id % 10_000, random.between(10.0, 99.0));
        world.version(
            at,
            &uri,
            json!({ "id": format!("{id:016x}"), "title": title, "seen": id % 1_000_000 }),
        );
        at += random.between(60.0, 900.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_worlds() {
        let world_of = |seed| world(seed, 40, 6.0);
        assert_eq!(world_of(1), world_of(1));
        assert_ne!(world_of(1), world_of(2));
        assert!(world_of(1).versions.windows(2).all(|pair| pair[0].at <= pair[1].at));
    }
}
