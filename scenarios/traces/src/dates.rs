//! Dates and times of day as ISO 8601 writes them: `2007-02-22 17:08:31.061629`.

/// Days of the months before each, and before the year's first of March.
const BEFORE: [i64; 12] = [306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275];
/// Days from the first of March of year 0 to the first day of 1970.
const TO_1970: i64 = 719_468;
const SECONDS_A_DAY: i64 = 86_400;

/// Whole seconds since 1970 of a date and time, and the digits behind its point; none if it is no
/// such time. Without `Z` or an offset it is UTC.
pub(crate) fn since_1970(text: &str) -> Option<(u64, &str)> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        are_digits.then(|| digits.parse().ok()).flatten()
    };
    let is = |at: usize, allowed: &[u8]| {
        let found = text.as_bytes().get(at);
        found.is_some_and(|byte| allowed.contains(byte))
    };
    let parted = is(4, b"-/") && is(7, b"-/") && is(10, b"T ") && is(13, b":") && is(16, b":");
    if !parted {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_time = hour < 24 && minute < 60 && second <= 60;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !is_time {
        return None;
    }
    let rest = text.get(19..)?;
    let rest_of = rest.strip_prefix(['.', ',']).unwrap_or(rest);
    let behind = rest_of.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let part = &rest_of[..rest_of.len() - behind.len()];
    if rest_of.len() < rest.len() && part.is_empty()
        || rest_of.len() == rest.len() && !part.is_empty()
    {
        return None;
    }
    // Years begin in March, so that a leap day is the last one.
    let years = year - i64::from(month < 3);
    let days = years * 365 + years / 4 - years / 100 + years / 400;
    let days = days + BEFORE[month as usize - 1] + day - 1 - TO_1970;
    let of_day = hour * 3600 + minute * 60 + second - zone(behind)?;
    let seconds = u64::try_from(days * SECONDS_A_DAY + of_day).ok()?;
    Some((seconds, part))
}

/// Seconds that a zone is ahead of UTC.
fn zone(text: &str) -> Option<i64> {
    let sign = match text.bytes().next() {
        None => return Some(0),
        Some(b'Z' | b'z') if text.len() == 1 => return Some(0),
        Some(b'+') => 1,
        Some(b'-') => -1,
        Some(_) => return None,
    };
    let digits: String = text[1..].split(':').collect();
    let is_zone = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = is_zone.then(|| digits.parse().ok()).flatten()?;
    Some(sign * (number / 100 * 3600 + number % 100 * 60))
}

#[cfg(test)]
mod tests {
    use super::since_1970;

    #[test]
    fn dates_are_seconds_since_1970() {
        for (text, seconds, part) in [
            ("1970-01-01 00:00:00", 0, ""),
            ("2000-02-29T12:00:00.5", 951_825_600, "5"),
            ("2000-03-01 00:00:00Z", 951_868_800, ""),
            ("2007-02-22 17:08:31.061629", 1_172_164_111, "061629"),
            ("2007/02/22 18:08:31,061+01:00", 1_172_164_111, "061"),
            ("2007-02-22T11:08:31-0600", 1_172_164_111, ""),
            ("2100-12-31 23:59:59", 4_133_980_799, ""),
        ] {
            assert_eq!(since_1970(text), Some((seconds, part)), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "1.5",
            "2007-02-22",
            "2007-13-22 17:08:31",
            "2007-02-22 24:08:31",
            "2007-02-22 17:08:31.",
            "2007-02-22 17:08:3161",
            "2007-02-22 17:08:31 UTC",
            "2007-02-22 17:08:31+1:0",
            "1969-12-31 23:59:59",
            "2007-02-22 17:08:\u{663}1",
        ] {
            assert_eq!(since_1970(text), None, "{text}");
        }
    }
}
