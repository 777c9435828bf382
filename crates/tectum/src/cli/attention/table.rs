//! The table of what is watched, with the salience of each over time, and the last news.

use serde_json::Value;

use super::{
    super::{
        failure::Failure,
        options::Shared,
        screen::{Colour, Screen, harmless},
    },
    house,
};

/// News that are shown.
const MOST_NEWS: usize = 10;
/// Columns of a line of salience.
const COLUMNS: usize = 24;
/// Its heights.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(super) fn run(shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let shown = house::get(shared, "/api/attention")?;
    if screen.json {
        return screen.print_json(&shown);
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |name: &str| shown[name].as_array().cloned().unwrap_or_default();
    let organs = list("organs");
    let width = organs.iter().map(|organ| text(&organ["name"]).chars().count()).max().unwrap_or(0).max(5);
    let head = format!(
        "{:<width$}  {:<COLUMNS$}  {:>6}  {:>5}  {:<8}  LAST",
        "ORGAN", "SALIENCE", "NOW", "WINS", "STATE"
    );
    let mut out = format!("{}\n", screen.paint(Colour::Bold, &head));
    for organ in &organs {
        let series: Vec<f64> =
            organ["salience"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        let reading = &organ["readings"][0];
        let last = if reading.is_null() {
            String::new()
        } else {
            format!("{} {} → {}", text(&reading["path"]), known(&reading["old"]), known(&reading["value"]))
        };
        out.push_str(&format!(
            "{:<width$}  {:<COLUMNS$}  {:>6.2}  {:>5}  {:<8}  {}\n",
            text(&organ["name"]),
            sparkline(&series),
            organ["salience_now"].as_f64().unwrap_or_default(),
            organ["wins"].as_u64().unwrap_or_default(),
            text(&organ["state"]),
            last.chars().take(60).collect::<String>(),
        ));
    }
    let news = list("news");
    if news.is_empty() {
        out.push_str("\nNo news yet.\n");
    }
    for piece in news.iter().take(MOST_NEWS) {
        let id = screen.paint(Colour::Cyan, &text(&piece["id"]));
        out.push_str(&format!("\n{id} {} {}\n", text(&piece["at"]), text(&piece["sentence"])));
        out.push_str(&format!("   {}\n", won(&piece["why"])));
        let tellings = piece["told"].as_array().cloned().unwrap_or_default();
        let told: Vec<String> = tellings
            .iter()
            .map(|telling| {
                let seen = if telling["seen"].is_null() { "not seen yet" } else { "seen" };
                format!("{} by {} ({seen})", text(&telling["client"]), text(&telling["how"]))
            })
            .collect();
        let told = if told.is_empty() { "nobody yet".to_owned() } else { told.join(", ") };
        out.push_str(&format!("   told: {told}\n"));
    }
    screen.print(&harmless(&out))
}

/// The numbers that decided, in one line.
fn won(why: &Value) -> String {
    let number = |name: &str| why[name].as_f64().unwrap_or_default();
    let rival = &why["rivals"][0];
    let rival = rival["organ"]
        .as_str()
        .map(|organ| format!(", before {organ} with {:.2}", rival["total"].as_f64().unwrap_or_default()));
    format!(
        "won with {:.2}: salience {:.2}, gate {:.2}, relevance {:.2}, trust {:.2}{}",
        number("total"),
        number("salience"),
        why["gate"]["value"].as_f64().unwrap_or_default(),
        number("relevance"),
        number("trust"),
        rival.unwrap_or_default(),
    )
}

fn known(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

/// The last values of a series as heights between 0 and 1, or its largest value if that is more.
fn sparkline(series: &[f64]) -> String {
    let shown = &series[series.len().saturating_sub(COLUMNS)..];
    let most = shown.iter().copied().fold(1.0, f64::max);
    let height = |value: &f64| {
        let at = (value.clamp(0.0, most) / most * (HEIGHTS.len() - 1) as f64).round() as usize;
        HEIGHTS.get(at).copied().unwrap_or(' ')
    };
    shown.iter().map(height).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_a_line_of_heights() {
        for (series, expect) in
            [(&[][..], ""), (&[0.0, 0.5, 1.0], "▁▅█"), (&[-1.0, 2.0, 4.0], "▁▅█"), (&[f64::NAN], "▁")]
        {
            assert_eq!(sparkline(series), expect, "{series:?}");
        }
        assert_eq!(sparkline(&vec![0.0; 1000]).chars().count(), COLUMNS);
    }
}
