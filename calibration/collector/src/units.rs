//! Quantities as people write them, and as fio writes them.

use std::time::Duration;

const BYTE_UNITS: [(&str, f64); 9] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
    ("TiB", 1099511627776.0),
];

/// Bytes in one mebibyte, to which areas and file sizes are rounded down.
pub const MIB: u64 = 1 << 20;

/// Bytes of `"32 GB"`, `"1.5 GiB"`; a bare number is an error.
pub fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .ok_or_else(|| format!("`{text}` has no unit; write for example `{text} MiB`"))?;
    let (number, unit) = (&text[..split], text[split..].trim());
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is not a size; write for example `4 GiB`"))?;
    let factor = BYTE_UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(|| {
            let units: Vec<&str> = BYTE_UNITS.iter().map(|(name, _)| *name).collect();
            format!(
                "`{text}`: unknown unit `{unit}`; allowed: {}",
                units.join(", ")
            )
        })?
        .1;
    Ok((number * factor).round() as u64)
}

/// A duration such as `"90 s"`, `"2 min"`, `"1h 30m"`; a bare number is an error.
pub fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text.trim())
        .map_err(|error| format!("`{text}` is not a duration ({error}); write for example `30 s`"))
}

/// Bytes of a size option of fio (`4k`, `1g`, `50%` of `whole`): suffixes are binary.
pub fn fio_bytes(text: &str, whole: u64) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(percent) = text.strip_suffix('%') {
        let percent: f64 = percent.parse().ok()?;
        return Some((whole as f64 * percent / 100.0) as u64);
    }
    let text = text.trim_end_matches("ib").trim_end_matches('b');
    let shift = match text.chars().last()? {
        'k' => 10,
        'm' => 20,
        'g' => 30,
        't' => 40,
        'p' => 50,
        _ => return text.parse().ok(),
    };
    let number: u64 = text[..text.len() - 1].parse().ok()?;
    number.checked_mul(1 << shift)
}

/// Seconds of a time option of fio (`60`, `60s`, `2m`, `500ms`).
pub fn fio_seconds(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..split].parse().ok()?;
    let factor = match &text[split..] {
        "" | "s" => 1.0,
        "us" => 1e-6,
        "ms" => 1e-3,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return None,
    };
    Some(number * factor)
}

/// A size for people: `1.50 GiB`.
pub fn show_bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return if unit == "B" {
                format!("{value:.0} B")
            } else {
                format!("{value:.2} {unit}")
            };
        }
        value /= 1024.0;
    }
    format!("{value:.2} TiB")
}

/// A duration for people: `1h 02m 03s`.
pub fn show_seconds(seconds: f64) -> String {
    let total = seconds.max(0.0).round() as u64;
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m {seconds:02}s"),
        _ => format!("{hours}h {minutes:02}m {seconds:02}s"),
    }
}

/// The present instant, UTC, as RFC 3339.
pub fn timestamp() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_mean_what_they_say() {
        assert_eq!(bytes("32 GB"), Ok(32_000_000_000));
        assert_eq!(bytes("1.5GiB"), Ok(1_610_612_736));
        assert!(bytes("64").unwrap_err().contains("no unit"));
        assert!(bytes("64 gib").unwrap_err().contains("GiB"));
        assert!(bytes("many GiB").is_err());
    }

    #[test]
    fn durations_need_units() {
        assert_eq!(duration("90 s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert!(duration("90").is_err());
    }

    #[test]
    fn fio_words_are_fios() {
        assert_eq!(fio_bytes("4k", 0), Some(4096));
        assert_eq!(fio_bytes("4KiB", 0), Some(4096));
        assert_eq!(fio_bytes("512", 0), Some(512));
        assert_eq!(fio_bytes("50%", 1000), Some(500));
        assert_eq!(fio_bytes("four", 0), None);
        assert_eq!(fio_seconds("60"), Some(60.0));
        assert_eq!(fio_seconds("2m"), Some(120.0));
        assert_eq!(fio_seconds("500ms"), Some(0.5));
        assert_eq!(fio_seconds("soon"), None);
    }

    #[test]
    fn people_read_these() {
        assert_eq!(show_bytes(512), "512 B");
        assert_eq!(show_bytes(3 << 29), "1.50 GiB");
        assert_eq!(show_seconds(3723.0), "1h 02m 03s");
        assert_eq!(show_seconds(59.6), "1m 00s");
    }
}
