//! Shapes as a PNG: bars, lines and a small font of five by seven dots.

use std::io::{self, Write as _};

use flate2::{Compression, Crc, write::ZlibEncoder};

use super::chart::Shape;

/// Pixels of a unit.
const SCALE: f64 = 2.0;

struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// Draws the shapes.
pub(super) fn png(width: f64, height: f64, shapes: &[Shape]) -> io::Result<Vec<u8>> {
    let (width, height) = ((width * SCALE) as usize, (height * SCALE) as usize);
    let mut canvas = Canvas { width, height, pixels: vec![255; width * height * 3] };
    for shape in shapes {
        match shape {
            Shape::Bar { x, y, width, height, colour } => canvas.bar(*x, *y, *width, *height, *colour),
            Shape::Line { points, colour } => {
                points.windows(2).for_each(|pair| canvas.line(pair[0], pair[1], *colour));
            }
            Shape::Text { x, y, text, colour } => canvas.text(*x, *y, text, *colour),
        }
    }
    canvas.encode()
}

impl Canvas {
    fn dot(&mut self, x: f64, y: f64, colour: u32) {
        if x < 0.0 || y < 0.0 || x as usize >= self.width || y as usize >= self.height {
            return;
        }
        let at = (y as usize * self.width + x as usize) * 3;
        self.pixels[at..at + 3].copy_from_slice(&colour.to_be_bytes()[1..]);
    }

    fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, colour: u32) {
        for row in 0..(height * SCALE).ceil() as usize {
            for column in 0..(width * SCALE).ceil() as usize {
                self.dot(x * SCALE + column as f64, y * SCALE + row as f64, colour);
            }
        }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: u32) {
        let (dx, dy) = ((to.0 - from.0) * SCALE, (to.1 - from.1) * SCALE);
        let steps = dx.abs().max(dy.abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            let (x, y) = (from.0 * SCALE + dx * share, from.1 * SCALE + dy * share);
            self.dot(x, y, colour);
            self.dot(x, y + 1.0, colour);
        }
    }

    /// The text stands on `y`.
    fn text(&mut self, x: f64, y: f64, text: &str, colour: u32) {
        for (at, c) in text.chars().enumerate() {
            for (row, bits) in glyph(c).into_iter().enumerate() {
                for column in 0..5 {
                    if bits >> (4 - column) & 1 == 1 {
                        let left = x + 7.8 * at as f64 + 1.2 * f64::from(column);
                        self.bar(left, y - 9.0 + 1.3 * row as f64, 1.0, 1.0, colour);
                    }
                }
            }
        }
    }

    fn encode(&self) -> io::Result<Vec<u8>> {
        let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
        for row in self.pixels.chunks_exact(self.width * 3) {
            rows.write_all(&[0])?;
            rows.write_all(row)?;
        }
        let mut header = Vec::new();
        header.extend((self.width as u32).to_be_bytes());
        header.extend((self.height as u32).to_be_bytes());
        // Eight bits, three colours, the usual compression and filters, not interlaced.
        header.extend([8, 2, 0, 0, 0]);
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, data) in [(b"IHDR", header), (b"IDAT", rows.finish()?), (b"IEND", Vec::new())] {
            let mut crc = Crc::new();
            crc.update(kind);
            crc.update(&data);
            out.extend((data.len() as u32).to_be_bytes());
            out.extend(kind);
            out.extend(&data);
            out.extend(crc.sum().to_be_bytes());
        }
        Ok(out)
    }
}

/// Seven rows of five dots, from the top. Small letters are drawn as capitals; what has no picture is a box.
fn glyph(c: char) -> [u8; 7] {
    let rows = |hex: u64| std::array::from_fn(|row| (hex >> (5 * (6 - row)) & 31) as u8);
    let found = GLYPHS.iter().find(|(known, _)| *known == c.to_ascii_uppercase());
    rows(found.map_or(0b11111_10001_10001_10001_10001_10001_11111, |(_, hex)| *hex))
}

const GLYPHS: &[(char, u64)] = &[
    (' ', 0),
    ('A', 0b01110_10001_10001_11111_10001_10001_10001),
    ('B', 0b11110_10001_10001_11110_10001_10001_11110),
    ('C', 0b01110_10001_10000_10000_10000_10001_01110),
    ('D', 0b11110_10001_10001_10001_10001_10001_11110),
    ('E', 0b11111_10000_10000_11110_10000_10000_11111),
    ('F', 0b11111_10000_10000_11110_10000_10000_10000),
    ('G', 0b01110_10001_10000_10111_10001_10001_01111),
    ('H', 0b10001_10001_10001_11111_10001_10001_10001),
    ('I', 0b01110_00100_00100_00100_00100_00100_01110),
    ('J', 0b00111_00010_00010_00010_00010_10010_01100),
    ('K', 0b10001_10010_10100_11000_10100_10010_10001),
    ('L', 0b10000_10000_10000_10000_10000_10000_11111),
    ('M', 0b10001_11011_10101_10101_10001_10001_10001),
    ('N', 0b10001_11001_10101_10011_10001_10001_10001),
    ('O', 0b01110_10001_10001_10001_10001_10001_01110),
    ('P', 0b11110_10001_10001_11110_10000_10000_10000),
    ('Q', 0b01110_10001_10001_10001_10101_10010_01101),
    ('R', 0b11110_10001_10001_11110_10100_10010_10001),
    ('S', 0b01111_10000_10000_01110_00001_00001_11110),
    ('T', 0b11111_00100_00100_00100_00100_00100_00100),
    ('U', 0b10001_10001_10001_10001_10001_10001_01110),
    ('V', 0b10001_10001_10001_10001_10001_01010_00100),
    ('W', 0b10001_10001_10001_10101_10101_11011_10001),
    ('X', 0b10001_10001_01010_00100_01010_10001_10001),
    ('Y', 0b10001_10001_01010_00100_00100_00100_00100),
    ('Z', 0b11111_00001_00010_00100_01000_10000_11111),
    ('0', 0b01110_10001_10011_10101_11001_10001_01110),
    ('1', 0b00100_01100_00100_00100_00100_00100_01110),
    ('2', 0b01110_10001_00001_00110_01000_10000_11111),
    ('3', 0b11110_00001_00001_01110_00001_00001_11110),
    ('4', 0b00010_00110_01010_10010_11111_00010_00010),
    ('5', 0b11111_10000_11110_00001_00001_10001_01110),
    ('6', 0b00110_01000_10000_11110_10001_10001_01110),
    ('7', 0b11111_00001_00010_00100_01000_01000_01000),
    ('8', 0b01110_10001_10001_01110_10001_10001_01110),
    ('9', 0b01110_10001_10001_01111_00001_00010_01100),
    ('.', 0b00000_00000_00000_00000_00000_01100_01100),
    (',', 0b00000_00000_00000_00000_01100_00100_01000),
    (':', 0b00000_01100_01100_00000_01100_01100_00000),
    ('-', 0b00000_00000_00000_11111_00000_00000_00000),
    ('_', 0b00000_00000_00000_00000_00000_00000_11111),
    ('/', 0b00001_00010_00010_00100_01000_01000_10000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_a_png_that_holds_its_colours() {
        let shapes = [
            Shape::Bar { x: 0.0, y: 0.0, width: 40.0, height: 20.0, colour: 0x10_20_30 },
            Shape::Line { points: vec![(-5.0, 5.0), (99.0, 5.0)], colour: 0xff_00_00 },
            Shape::Text { x: 1.0, y: 15.0, text: "Aß".to_owned(), colour: 0xff_ff_ff },
        ];
        let png = png(40.0, 20.0, &shapes).expect("a picture");
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.ends_with(b"IEND\xae\x42\x60\x82"));
        assert_eq!(png[16..24], [0, 0, 0, 80, 0, 0, 0, 40]);
    }
}
