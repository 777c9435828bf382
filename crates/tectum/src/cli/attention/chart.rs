//! A picture of attention, as shapes that both formats draw: salience of each organ over time, what was
//! told, and the time in which an organ is not heard again.

use std::collections::BTreeMap;

/// Organs that get a row; the others are counted.
const ROWS: usize = 16;
const WIDTH: f64 = 1_000.0;
const ROW: f64 = 34.0;
const LEFT: f64 = 240.0;
const TOP: f64 = 56.0;
const RIGHT: f64 = 24.0;

/// What is drawn.
#[derive(Debug, Default)]
pub(super) struct Chart {
    pub(super) title: String,
    /// From when to when, and how that is said.
    pub(super) span: (f64, f64),
    pub(super) axis: (String, String),
    /// Of each organ: time and total.
    pub(super) totals: BTreeMap<String, Vec<(f64, f64)>>,
    /// When each organ was told.
    pub(super) told: Vec<(f64, String)>,
    /// How long an organ is not heard again.
    pub(super) refractory: f64,
}

/// A shape with its colour.
#[derive(Debug)]
pub(super) enum Shape {
    Bar { x: f64, y: f64, width: f64, height: f64, colour: u32 },
    Line { points: Vec<(f64, f64)>, colour: u32 },
    Text { x: f64, y: f64, text: String, colour: u32 },
}

const PAPER: u32 = 0xff_ff_ff;
const INK: u32 = 0x22_2a_35;
const FAINT: u32 = 0xe3_e8_ee;
const SHADE: u32 = 0xfb_e3_c4;
const CURVE: u32 = 0x2a_6f_b5;
const TOLD: u32 = 0xc2_3b_22;

impl Chart {
    /// Width, height and shapes, in the order of drawing.
    pub(super) fn shapes(&self) -> (f64, f64, Vec<Shape>) {
        let rows = self.rows();
        let height = TOP + ROW * (rows.len() as f64 + 1.0) + 40.0;
        let text = |x, y, text: &str| Shape::Text { x, y, text: text.to_owned(), colour: INK };
        let mut shapes = vec![
            Shape::Bar { x: 0.0, y: 0.0, width: WIDTH, height, colour: PAPER },
            text(16.0, 28.0, &self.title),
        ];
        for (row, organ) in rows.iter().enumerate() {
            let y = TOP + ROW * row as f64;
            self.row(organ, y, &mut shapes);
        }
        let y = TOP + ROW * rows.len() as f64;
        shapes.push(text(16.0, y + 22.0, "told"));
        shapes.push(Shape::Bar {
            x: LEFT,
            y: y + 8.0,
            width: WIDTH - LEFT - RIGHT,
            height: 18.0,
            colour: FAINT,
        });
        for (at, _) in &self.told {
            shapes.push(Shape::Bar {
                x: self.x(*at) - 1.5,
                y: y + 8.0,
                width: 3.0,
                height: 18.0,
                colour: TOLD,
            });
        }
        shapes.push(text(LEFT, y + 50.0, &self.axis.0));
        shapes.push(text(WIDTH - RIGHT - 8.0 * self.axis.1.chars().count() as f64, y + 50.0, &self.axis.1));
        let hidden = self.totals.len() - rows.len();
        if hidden > 0 {
            shapes.push(text(16.0, y + 50.0, &format!("and {hidden} more")));
        }
        (WIDTH, height, shapes)
    }

    /// Those who were told come first, then who had most to say.
    fn rows(&self) -> Vec<&String> {
        let mut rows: Vec<&String> = self.totals.keys().collect();
        let most = |organ: &String| self.totals[organ].iter().map(|(_, total)| *total).fold(0.0, f64::max);
        let told = |organ: &String| self.told.iter().filter(|(_, name)| name == organ).count();
        rows.sort_by(|a, b| told(b).cmp(&told(a)).then(most(b).total_cmp(&most(a))).then(a.cmp(b)));
        rows.truncate(ROWS);
        rows
    }

    fn row(&self, organ: &str, y: f64, shapes: &mut Vec<Shape>) {
        let shown: String = organ.chars().rev().take(28).collect::<Vec<_>>().into_iter().rev().collect();
        let base = y + ROW - 6.0;
        for (at, _) in self.told.iter().filter(|(_, name)| name == organ) {
            let width = (self.x(at + self.refractory) - self.x(*at)).max(2.0);
            shapes.push(Shape::Bar { x: self.x(*at), y: y + 2.0, width, height: ROW - 8.0, colour: SHADE });
        }
        shapes.push(Shape::Text { x: 16.0, y: y + 22.0, text: shown, colour: INK });
        shapes.push(Shape::Line { points: vec![(LEFT, base), (WIDTH - RIGHT, base)], colour: FAINT });
        let totals = &self.totals[organ];
        let point = |(at, total): &(f64, f64)| (self.x(*at), base - total.clamp(0.0, 1.0) * (ROW - 10.0));
        for part in parts(totals, (self.span.1 - self.span.0) / 200.0) {
            let mut points = vec![(self.x(part[0].0), base)];
            points.extend(part.iter().map(point));
            points.push((self.x(part[part.len() - 1].0), base));
            shapes.push(Shape::Line { points, colour: CURVE });
        }
        for (at, _) in self.told.iter().filter(|(_, name)| name == organ) {
            shapes.push(Shape::Bar {
                x: self.x(*at) - 2.0,
                y: y + 2.0,
                width: 4.0,
                height: 6.0,
                colour: TOLD,
            });
        }
    }

    fn x(&self, at: f64) -> f64 {
        let share = (at - self.span.0) / (self.span.1 - self.span.0).max(1e-9);
        LEFT + share.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    pub(super) fn svg(&self) -> String {
        let (width, height, shapes) = self.shapes();
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"13\">\n"
        );
        for shape in &shapes {
            out.push_str(&match shape {
                Shape::Bar { x, y, width, height, colour } => format!(
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"#{colour:06x}\"/>\n"
                ),
                Shape::Line { points, colour } => {
                    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                    format!("<polyline points=\"{}\" fill=\"none\" stroke=\"#{colour:06x}\"/>\n", points.join(" "))
                }
                Shape::Text { x, y, text, colour } => {
                    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"#{colour:06x}\">{}</text>\n", escaped(text))
                }
            });
        }
        out.push_str("</svg>\n");
        out
    }
}

/// Runs without a gap, so that silence is no line.
fn parts(totals: &[(f64, f64)], gap: f64) -> Vec<&[(f64, f64)]> {
    totals.chunk_by(|a, b| b.0 - a.0 <= gap.max(1.0)).filter(|part| !part.is_empty()).collect()
}

fn escaped(text: &str) -> String {
    let visible = text.chars().filter(|c| !c.is_control());
    visible.collect::<String>().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
