//! Rows of numbers in what monitoring tools print, found in blocks of bytes.
//!
//! A day of seconds of many disks has millions of rows that are alike: a label and plain numbers.
//! [`lines`] and [`objects`] find those and leave all else, with its place, to the caller. They
//! keep no state: what a row means is the caller's.

mod json;
mod text;

pub use json::objects;
pub use text::lines;

use std::collections::HashMap;

/// Rows that follow each other, with as many numbers and the same text before the name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// The first byte of the rows in the block.
    pub from: usize,
    /// The first byte behind them.
    pub to: usize,
    /// Numbers in each row; 0 if it is no row but text of another form.
    pub columns: usize,
    /// Rows before it.
    pub row: usize,
    /// Its number of rows.
    pub rows: usize,
    /// The bytes of its first row that stand before the name.
    pub prefix: (usize, usize),
    /// Which of the keys of [`Table::keys`] its objects have.
    pub keys: usize,
}

/// What stands in a block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// In the order of the block, without holes up to [`Table::taken`].
    pub runs: Vec<Run>,
    /// Names of rows, each once.
    pub names: Vec<Vec<u8>>,
    /// The name of each row.
    pub name: Vec<u32>,
    /// The numbers of all rows, one row after the other.
    pub numbers: Vec<f64>,
    /// Keys of objects, each combination once.
    pub keys: Vec<Vec<String>>,
    /// Bytes of the block that were read.
    pub taken: usize,
    known: HashMap<Vec<u8>, u32>,
    last: u32,
}

impl Table {
    /// The number of a name; rows often repeat their order, so the next one is tried first.
    fn name(&mut self, name: &[u8]) -> u32 {
        let next = self.last as usize + 1;
        let next = if next < self.names.len() { next } else { 0 };
        self.last = if self.names.get(next).is_some_and(|known| known == name) {
            u32::try_from(next).unwrap_or(u32::MAX)
        } else if let Some(&known) = self.known.get(name) {
            known
        } else {
            let new = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            self.names.push(name.to_vec());
            self.known.insert(name.to_vec(), new);
            new
        };
        self.last
    }
}

/// Powers of ten that are exact.
const TENS: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// A plain number at the start of the text, and its length: digits with at most one sign of the
/// decimals, a point or (`comma`) a comma. At most 15 digits, so the division rounds rightly.
fn number(text: &[u8], comma: bool) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (mut whole, mut digits, mut decimals, mut at) = (0_u64, 0, None, start);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'0'..=b'9' => {
                whole = whole * 10 + u64::from(byte - b'0');
                digits += 1;
                if digits > 15 {
                    return None;
                }
            }
            b'.' if decimals.is_none() => decimals = Some(digits),
            b',' if comma && decimals.is_none() => decimals = Some(digits),
            _ => break,
        }
        at += 1;
    }
    let point = decimals.unwrap_or(digits);
    if digits == 0 || point == 0 || (decimals.is_some() && point == digits) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "at most 15 digits are exact")]
    let value = whole as f64 / TENS[digits - point];
    Some((if negative { -value } else { value }, at))
}

#[cfg(test)]
mod tests;
