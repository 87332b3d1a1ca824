//! Lines of a file: as it is, or compressed by gzip or Zstandard. One line is in memory at a time.

use crate::fault::{Fault, Value};
use crate::zstd::ZstdReader;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Error, Read};
use std::path::Path;

/// Bytes that are read from the file, and decompressed, at once.
const AT_ONCE: usize = 256 * 1024;
/// Bytes of a line: no format has longer ones.
const LONGEST: u64 = 64 * 1024;

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// The first of 16 magic numbers of frames to be skipped, without its first half byte.
const ZSTD_SKIPPED: &[u8] = b"\x2a\x4d\x18";
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The lines of a file.
pub(crate) struct Lines {
    reader: Box<dyn BufRead + Send>,
    packed: Option<&'static str>,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Lines, Fault> {
        let file = File::open(path).map_err(|error| unreadable(&error))?;
        Lines::of(file).map_err(|error| unreadable(&error))
    }

    fn of(file: impl Read + Send + 'static) -> Result<Lines, Error> {
        let mut raw = BufReader::with_capacity(AT_ONCE, file);
        let begins = raw.fill_buf()?;
        let skipped = begins.first().is_some_and(|first| first >> 4 == 5)
            && begins[1..].starts_with(ZSTD_SKIPPED);
        let (reader, packed): (Box<dyn BufRead + Send>, _) = if begins.starts_with(GZIP) {
            let unpacked = MultiGzDecoder::new(raw);
            (
                Box::new(BufReader::with_capacity(AT_ONCE, unpacked)),
                Some("gzip"),
            )
        } else if begins.starts_with(ZSTD) || skipped {
            let unpacked = ZstdReader::new(raw);
            (
                Box::new(BufReader::with_capacity(AT_ONCE, unpacked)),
                Some("Zstandard"),
            )
        } else {
            (Box::new(raw), None)
        };
        Ok(Lines {
            reader,
            packed,
            line: Vec::new(),
            number: 0,
        })
    }

    /// The next line and its number, from 1.
    ///
    /// # Errors
    /// The file breaks off, is no text, or has a line without end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &str)>, Fault> {
        self.line.clear();
        let taken = (&mut self.reader).take(LONGEST + 1);
        let read = { taken }.read_until(b'\n', &mut self.line);
        let packed = self.packed;
        let read = read.map_err(|error| match packed {
            Some(what) if error.to_string().contains("matching checksum") => Fault::of_file(
                format!("is damaged: the checksum of its {what} does not match"),
            ),
            Some(what) => Fault::of_file(format!("breaks off or is no {what}: {error}")),
            None => unreadable(&error),
        })?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if read as u64 > LONGEST {
            let allowed = format!("a line of at most {LONGEST} bytes");
            let key = format!("line {}", self.number);
            return Err(Fault::at(key, Value::None, allowed));
        }
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let end = self.line.iter().rposition(|byte| !is_end(byte));
        let line = &self.line[..end.map_or(0, |last| last + 1)];
        let text = std::str::from_utf8(line).map_err(|_| {
            let allowed = "not text, as it is or compressed by gzip or Zstandard";
            Fault::of_file(allowed)
        })?;
        let marked = self.number == 1;
        let text = if marked {
            text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
        } else {
            text
        };
        Ok(Some((self.number, text)))
    }
}

fn unreadable(error: &Error) -> Fault {
    let why = error.to_string();
    // What follows is a number.
    Fault::of_file(why.split(" (os error").next().unwrap_or(&why))
}
