//! Numbers, times and kinds of I/O in the fields of a line. What is none is said as what is
//! allowed instead.

use crate::dates::since_1970;
use raidlab_io::Op;

/// Bytes of a sector.
pub(crate) const SECTOR: u64 = 512;
/// Digits of a number of a trace; the largest that has a meaning has 20.
const DIGITS: usize = 40;

/// Whole numbers below are exact as floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A text without what is white at its ends. Most fields of a trace have nothing there.
#[inline]
pub(crate) fn trimmed(text: &str) -> &str {
    match text.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => text,
        _ => text.trim(),
    }
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeUnit {
    pub name: &'static str,
    /// Nanoseconds of one: a power of ten.
    pub ns: u64,
}

/// Seconds.
pub(crate) const S: TimeUnit = unit("s", 1_000_000_000);
/// Milliseconds.
pub(crate) const MS: TimeUnit = unit("ms", 1_000_000);
/// Microseconds.
pub(crate) const US: TimeUnit = unit("us", 1_000);
/// Nanoseconds.
pub(crate) const NS: TimeUnit = unit("ns", 1);
/// All units of time.
pub(crate) const TIME_UNITS: [TimeUnit; 5] = [S, MS, US, NS, unit("100ns", 100)];

const fn unit(name: &'static str, ns: u64) -> TimeUnit {
    TimeUnit { name, ns }
}

/// A whole number from 0; `what` it is for the message.
pub(crate) fn whole(text: &str, what: &str) -> Result<u64, String> {
    digits(trimmed(text)).ok_or_else(|| format!("{what}, a whole number from 0"))
}

/// Bytes in a column whose unit is `unit` bytes: a whole number, with 0x a hexadecimal one, or what
/// comes to whole bytes.
pub(crate) fn bytes(text: &str, unit: u64, what: &str) -> Result<u64, String> {
    let text = trimmed(text);
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let is_digit = |byte: u8| byte.is_ascii_hexdigit();
    let count = match hexadecimal {
        Some(digits) if digits.bytes().all(is_digit) => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => digits(text),
    };
    if let Some(count) = count {
        return Ok(count.saturating_mul(unit));
    }
    let exact = text.parse::<f64>().ok().map(|value| value * unit as f64);
    let exact = exact.filter(|value| (0.0..EXACT).contains(value) && value.fract() == 0.0);
    let allowed = || format!("{what}, a number from 0 that comes to whole bytes");
    exact.map(|value| value as u64).ok_or_else(allowed)
}

/// A date and time of day, in nanoseconds since 1970.
pub(crate) fn date(text: &str, what: &str) -> Result<u64, String> {
    let allowed = || format!("{what}, such as 2007-02-22 17:08:31.061629, from 1970 on");
    let (seconds, part) = since_1970(trimmed(text)).ok_or_else(allowed)?;
    let ns = seconds.checked_mul(S.ns);
    let ns = ns.and_then(|ns| ns.checked_add(fraction(part, S.ns)));
    ns.ok_or_else(|| format!("{what}, below 2^64 ns"))
}

fn digits(text: &str) -> Option<u64> {
    if text.is_empty() || text.len() > DIGITS {
        return None;
    }
    text.bytes().try_fold(0u64, |sum, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// A number from 0.
pub(crate) fn number(text: &str, what: &str) -> Result<f64, String> {
    let value = trimmed(text).parse::<f64>();
    let value = value.map_err(|_| format!("{what}, a number"))?;
    if !value.is_finite() || value < 0.0 {
        return Err(format!("{what}, a number from 0"));
    }
    Ok(value)
}

/// A time in nanoseconds, exact for decimals: seconds since 1970 do not fit a float.
pub(crate) fn time(text: &str, unit: TimeUnit, what: &str) -> Result<u64, String> {
    let text = trimmed(text);
    let late = || format!("{what}, below 2^64 ns");
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if let Some(whole) = digits(whole)
        && part.bytes().all(|byte| byte.is_ascii_digit())
    {
        let exact = whole.checked_mul(unit.ns).ok_or_else(late)?;
        return exact.checked_add(fraction(part, unit.ns)).ok_or_else(late);
    }
    let value = (number(text, what)? * unit.ns as f64).round_ties_even();
    // 2^64 as a float; what is below it fits.
    if value >= 18_446_744_073_709_551_616.0 {
        return Err(late());
    }
    Ok(value as u64)
}

/// Digits behind the point, times a power of ten.
fn fraction(part: &str, scale: u64) -> u64 {
    let places = scale.ilog10() as usize;
    if part.len() <= places {
        let ahead = 10u64.pow((places - part.len()) as u32);
        return digits(part).map_or(0, |value| value * ahead);
    }
    let value = format!("0.{part}").parse::<f64>().unwrap_or(0.0);
    (value * scale as f64).round_ties_even() as u64
}

/// The kind of I/O that a word says.
pub(crate) fn op(text: &str) -> Result<Op, String> {
    let words: [(Op, &[&str]); 4] = [
        (Op::Read, &["r", "read", "rs", "rd"]),
        (Op::Write, &["w", "write", "ws", "wr"]),
        (Op::Trim, &["trim", "discard", "d", "unmap"]),
        (Op::Flush, &["flush", "sync", "datasync", "f"]),
    ];
    let text = trimmed(text);
    let is = |word: &&str| text.eq_ignore_ascii_case(word);
    let found = words.iter().find(|(_, words)| words.iter().any(is));
    found
        .map(|(op, _)| *op)
        .ok_or_else(|| "a read or a write: R, W, read, write, trim, flush".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_white_goes_from_both_ends() {
        for text in [
            "",
            " ",
            "a",
            "ab",
            " a",
            "a\t",
            "a b",
            "\u{a0}ab",
            "ab\u{2003}",
            "\u{e9}a",
        ] {
            assert_eq!(trimmed(text), text.trim(), "{text:?}");
        }
    }

    #[test]
    fn times_are_exact_to_the_nanosecond() {
        assert_eq!(
            time("1455592529.038213", S, "t"),
            Ok(1_455_592_529_038_213_000)
        );
        assert_eq!(
            time("128166372003061629", TIME_UNITS[4], "t"),
            Ok(12_816_637_200_306_162_900)
        );
        assert_eq!(time("0.0000000015", S, "t"), Ok(2));
        assert_eq!(time("2.5e-3", S, "t"), Ok(2_500_000));
        assert_eq!(time(".5", MS, "t"), Ok(500_000));
    }

    #[test]
    fn what_is_no_time_is_said() {
        for (text, said) in [
            ("nan", "a number from 0"),
            ("-1", "a number from 0"),
            ("1e300", "below 2^64 ns"),
            ("18446744074", "below 2^64 ns"),
            ("", "a number"),
            ("soon", "a number"),
        ] {
            assert!(time(text, S, "t").unwrap_err().contains(said), "{text}");
        }
    }

    #[test]
    fn whole_numbers_have_digits_alone() {
        assert_eq!(whole(" 18446744073709551615 ", "n"), Ok(u64::MAX));
        for text in ["", "+1", "1.0", "18446744073709551616", "\u{0661}"] {
            assert!(whole(text, "n").is_err(), "{text}");
        }
    }
}
