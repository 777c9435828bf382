//! Bodies that came compressed: unpacked up to a cap, so that a bomb costs no more than a page.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// What is asked for.
pub(crate) const ACCEPTED: &str = "gzip, deflate, br";
/// The window of brotli's reader.
const BUFFER: usize = 64 * 1024;

/// How a body came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packed {
    Plain,
    Gzip,
    Deflate,
    Brotli,
}

impl Packed {
    /// By its name in `Content-Encoding`; the name of what is not known. Several in a row are not known: they
    /// are how a bomb gets deeper.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        match &*name.trim().to_ascii_lowercase() {
            "" | "identity" => Ok(Self::Plain),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "deflate" => Ok(Self::Deflate),
            "br" => Ok(Self::Brotli),
            other => Err(other.chars().filter(|c| c.is_ascii_graphic()).take(40).collect()),
        }
    }

    /// The bytes, at most so many of them, and whether there were more. `partial` bytes end anywhere.
    pub(crate) fn unpack(self, bytes: Vec<u8>, most: usize, partial: bool) -> io::Result<(Vec<u8>, bool)> {
        let packed = &*bytes;
        let reader: Box<dyn Read + '_> = match self {
            Self::Plain => return Ok((bytes, partial)),
            Self::Gzip => Box::new(MultiGzDecoder::new(packed)),
            // Some servers send it bare, as others than the standard once understood it.
            Self::Deflate if is_zlib(packed) => Box::new(ZlibDecoder::new(packed)),
            Self::Deflate => Box::new(DeflateDecoder::new(packed)),
            Self::Brotli => Box::new(brotli_decompressor::Decompressor::new(packed, BUFFER)),
        };
        let mut out = Vec::new();
        match reader.take(most as u64 + 1).read_to_end(&mut out) {
            Err(error) if !partial => return Err(error),
            _ => {}
        }
        let more = out.len() > most;
        out.truncate(most);
        Ok((out, more || partial))
    }
}

fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [first, second, ..] if first & 15 == 8 && u16::from_be_bytes([*first, *second]).is_multiple_of(31))
}
