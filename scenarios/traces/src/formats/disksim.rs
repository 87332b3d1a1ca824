//! DiskSim's two, the traces of its validation and its ASCII format; and MQSim's, which has the
//! columns of the latter in other units.

use crate::fields::{MS, NS, SECTOR, time, whole};
use crate::record::{Record, Units};
use raidlab_io::Op;

const LABELS: [&str; 4] = ["hit", "miss", "doub", "trip"];
const LATEST_US: f64 = 1e12;

/// `R|W label sector sectors measured_us gap_us`, a closed loop.
pub(super) fn validate(line: &str, number: u64, units: &mut Units) -> Result<Record, String> {
    let parts: Vec<&str> = line.split_whitespace().collect();
    let &[kind, label, sector, count, measured, gap] = parts.as_slice() else {
        let count = parts.len();
        return Err(format!(
            "six words: R|W label sector sectors measured_us gap_us; here are {count}"
        ));
    };
    let op = match kind {
        "R" => Op::Read,
        "W" => Op::Write,
        _ => return Err("R or W first".into()),
    };
    if !LABELS.iter().any(|known| label.eq_ignore_ascii_case(known)) {
        return Err(format!("one of {} second", LABELS.join(", ")));
    }
    let sector = whole(sector, "a sector third")?;
    let count = whole(count, "sectors fourth")?;
    if sector >= 1 << 50 {
        return Err("a sector and a number of sectors, whole numbers below 2^50".into());
    }
    if !(1..1 << 24).contains(&count) {
        return Err("a number of sectors from 1 to below 2^24".into());
    }
    let (Ok(measured), Ok(gap)) = (measured.parse::<f64>(), gap.parse::<f64>()) else {
        return Err("two times in microseconds at the end".into());
    };
    let possible = 0.0..LATEST_US;
    if !possible.contains(&measured) || !possible.contains(&gap) {
        return Err("times from 0 to below 1e12 us".into());
    }
    Ok(Record {
        op,
        offset: sector * SECTOR,
        bytes: count * SECTOR,
        time_ns: (gap * 1000.0).round_ties_even() as u64,
        response_us: measured,
        line: number,
        unit: units.find("")?,
    })
}

/// `arrival_ms device sector sectors flags`; bit 0 of the flags (hexadecimal) is a read.
pub(super) fn ascii(line: &str, number: u64, units: &mut Units) -> Result<Record, String> {
    let [arrival, device, sector, count, flags] =
        five(line, "arrival_ms device sector sectors flags")?;
    let digits = flags.strip_prefix("0x").unwrap_or(flags);
    let flags = u64::from_str_radix(digits, 16);
    let flags = flags.map_err(|_| "flags in hexadecimal last; bit 0 set for a read")?;
    let time_ns = time(arrival, MS, "the arrival in milliseconds first")?;
    let op = if flags & 1 == 1 { Op::Read } else { Op::Write };
    on_sectors([device, sector, count], op, time_ns, number, units)
}

/// `arrival_ns device sector sectors type`, 1 for a read and 0 for a write; times are whole.
pub(super) fn mqsim(line: &str, number: u64, units: &mut Units) -> Result<Record, String> {
    let [arrival, device, sector, count, kind] =
        five(line, "arrival_ns device sector sectors type")?;
    let op = match kind {
        "1" => Op::Read,
        "0" => Op::Write,
        _ => return Err("1 for a read or 0 for a write last".into()),
    };
    let what = "the arrival in nanoseconds first";
    whole(arrival, what)?;
    on_sectors(
        [device, sector, count],
        op,
        time(arrival, NS, what)?,
        number,
        units,
    )
}

fn five<'a>(line: &'a str, names: &str) -> Result<[&'a str; 5], String> {
    let parts: Vec<&str> = line.split_whitespace().collect();
    let count = parts.len();
    parts
        .try_into()
        .map_err(|_| format!("five words: {names}; here are {count}"))
}

fn on_sectors(
    [device, sector, count]: [&str; 3],
    op: Op,
    time_ns: u64,
    number: u64,
    units: &mut Units,
) -> Result<Record, String> {
    let sectors = |text, what| Ok::<u64, String>(whole(text, what)?.saturating_mul(SECTOR));
    Ok(Record {
        op,
        offset: sectors(sector, "a sector third")?,
        bytes: sectors(count, "a number of sectors fourth")?,
        time_ns,
        response_us: f64::NAN,
        line: number,
        unit: units.find(&format!("device {device}"))?,
    })
}
