//! Arithmetic of the second parity: bytes as polynomials over GF(2), modulo
//! x^8 + x^4 + x^3 + x^2 + 1 (H. P. Anvin, "The mathematics of RAID-6"). Eight bytes at once.

use crate::layout::Token;
use std::ops::BitXor;

const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const ONES: u64 = 0x0101_0101_0101_0101;

/// Every byte times x.
fn double(bytes: u64) -> u64 {
    ((bytes & LOW) << 1) ^ (((bytes >> 7) & ONES) * 0x1d)
}

/// Every byte of a token times the polynomial `factor`.
pub fn times(token: Token, factor: u8) -> Token {
    Token::new(product(token.bytes(), factor))
}

/// Every byte of a word times the polynomial `factor`.
fn product(bytes: u64, factor: u8) -> u64 {
    let (mut power, mut sum) = (bytes, 0);
    for bit in 0..8 {
        if factor >> bit & 1 == 1 {
            sum ^= power;
        }
        power = double(power);
    }
    sum
}

/// x to the power of a data column's number: its weight in the second parity.
pub fn weight(column: u32) -> u8 {
    (0..column).fold(1, |weight, _| double(u64::from(weight)) as u8)
}

/// The factor that undoes `factor`, which is not 0.
fn inverse(factor: u8) -> u8 {
    (0..253).fold(factor, |power, _| product(u64::from(power), factor) as u8)
}

/// What a stripe's readable units say of its lost data.
///
/// `data` and `parity` hold what was read, None for what was not. Fills in the data that are
/// missing; false if the parities do not suffice.
pub fn recover(data: &mut [Option<Token>], parity: [Option<Token>; 2]) -> bool {
    let lost: Vec<usize> = (0..data.len()).filter(|&c| data[c].is_none()).collect();
    let sum = |weighted: bool| {
        let known = data.iter().enumerate().filter_map(|(c, value)| {
            let factor = if weighted { weight(c as u32) } else { 1 };
            value.map(|value| times(value, factor))
        });
        known.fold(Token::UNWRITTEN, BitXor::bitxor)
    };
    match (&lost[..], parity) {
        ([], _) => true,
        (&[a], [Some(p), _]) => {
            data[a] = Some(p ^ sum(false));
            true
        }
        (&[a], [None, Some(q)]) => {
            data[a] = Some(times(q ^ sum(true), inverse(weight(a as u32))));
            true
        }
        (&[a, b], [Some(p), Some(q)]) => {
            let (p, q) = (p ^ sum(false), q ^ sum(true));
            let (wa, wb) = (weight(a as u32), weight(b as u32));
            let first = times(q ^ times(p, wb), inverse(wa ^ wb));
            data[a] = Some(first);
            data[b] = Some(p ^ first);
            true
        }
        _ => false,
    }
}

/// Both parities of a stripe's data.
pub fn parities(data: impl Iterator<Item = Token>) -> [Token; 2] {
    data.enumerate()
        .fold([Token::UNWRITTEN; 2], |[p, q], (column, value)| {
            [p ^ value, q ^ times(value, weight(column as u32))]
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_field_is_a_field() {
        assert_eq!(product(0x80, 2), 0x1d);
        for factor in 1..=255 {
            assert_eq!(product(u64::from(factor), inverse(factor)), 1);
        }
    }

    proptest! {
        #[test]
        fn any_two_lost_units_come_back(
            data in prop::collection::vec(any::<u64>().prop_map(Token::new), 2..30),
            lost in (0usize..32, 0usize..32),
        ) {
            let [p, q] = parities(data.iter().copied());
            let units = data.len() + 2;
            let lost = [lost.0 % units, lost.1 % units];
            let mut read: Vec<Option<Token>> = data.iter().copied().map(Some).collect();
            let mut parity = [Some(p), Some(q)];
            for at in lost {
                match at.checked_sub(data.len()) {
                    None => read[at] = None,
                    Some(which) => parity[which] = None,
                }
            }
            prop_assert!(recover(&mut read, parity));
            prop_assert_eq!(read, data.into_iter().map(Some).collect::<Vec<_>>());
        }
    }
}
