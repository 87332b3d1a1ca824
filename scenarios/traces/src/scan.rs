//! The first reading of a trace: every line is checked, and what the second one must know is
//! found.

use crate::beyond::{Beyond, Placement};
use crate::fault::{Fault, Value};
use crate::fields::SECTOR;
use crate::formats::CLOSED;
use crate::memo::{Key, Memo};
use crate::reader::Records;
use crate::record::{Options, Record};
use crate::requests::Requests;
use raidlab_io::Op;
use schemars::JsonSchema;
use serde::Serialize;

/// Faults that are listed.
const SHOWN: usize = 20;
const LONGEST_NS: u64 = 1 << 59;
/// Disks of a trace begin at multiples of this.
const ALIGNED: u64 = 1 << 20;

/// A disk of a trace.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// Where its addresses begin on the device, in bytes.
    pub start: u64,
    /// Where its last request ends, in bytes of its own.
    pub end: u64,
    /// Requests for it.
    pub requests: u64,
}

/// What a trace holds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Scan {
    /// Its format.
    pub format: String,
    /// Requests.
    pub requests: u64,
    /// Reads among them.
    pub reads: u64,
    /// Trims: among them, or left out of them where [`Options::without_trims`].
    pub trims: u64,
    /// Requests with a response time.
    pub measured: u64,
    /// Their disks, by name.
    pub units: Vec<Unit>,
    /// Where the last request ends, all disks one after the other.
    pub extent: u64,
    /// Time of the first request, in nanoseconds of the trace's own clock.
    pub first_ns: u64,
    /// Time from the first to the last request in nanoseconds; in a closed trace all pauses.
    pub length_ns: u64,
    /// Whether requests stand in the order of their times.
    pub sorted: bool,
    /// Whether a time is the pause after a request.
    pub closed: bool,
    /// Requests that end beyond the device.
    pub outside: u64,
    /// Bytes of all requests.
    pub bytes: u64,
    /// Requests whose size is no multiple of 512 bytes.
    pub odd_sizes: u64,
    /// Lines of commands that move no data, which are left out.
    pub others: u64,
}

/// Files that were read through.
static KNOWN: Memo<Content> = Memo::new();

/// What a trace holds. A file that stays as it is is read through once.
///
/// # Errors
/// All lines that are at fault, up to twenty; or that there is no request.
pub fn scan(options: &Options, go_on: impl FnMut() -> bool) -> Result<Scan, Vec<Fault>> {
    let alone = |fault| vec![fault];
    let content = KNOWN.get(Key::of(options), || read_through(options, go_on))?;
    let scan = content.scan(options).map_err(alone)?;
    check(options, scan).map_err(alone)
}

/// Reads a trace through.
fn read_through(options: &Options, mut go_on: impl FnMut() -> bool) -> Result<Content, Vec<Fault>> {
    let mut records = Records::open(options).map_err(|fault| vec![fault])?;
    let mut found = Content::default();
    let (mut faults, mut at_fault) = (Vec::new(), 0u64);
    let mut steps = 0u64;
    while let Some(next) = records.next() {
        match next {
            Ok(record) => {
                let name = records.units.name(record.unit);
                found.add(&record, options, name);
            }
            Err(fault) => {
                at_fault += 1;
                if faults.len() < SHOWN {
                    faults.push(fault);
                }
            }
        }
        steps += 1;
        if steps % 4096 == 0 && !go_on() {
            return Err(Vec::new());
        }
    }
    found.others = records.others();
    if at_fault > SHOWN as u64 {
        let more = at_fault - SHOWN as u64;
        faults.push(Fault::of_file(format!(
            "and {more} lines more are at fault"
        )));
    }
    if faults.is_empty() && found.of_unit.iter().all(|unit| unit.requests == 0) {
        faults.push(Fault::of_file("at least one request"));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(found)
}

/// Sums over the requests that are wanted, and the reach of each disk.
#[derive(Default)]
struct Content {
    requests: u64,
    reads: u64,
    trims: u64,
    measured: u64,
    earliest: Option<(u64, u64)>,
    latest: (u64, u64),
    pauses: u64,
    last: u64,
    unsorted: bool,
    bytes: u64,
    odd_sizes: u64,
    others: u64,
    /// By disk, in the order of the file.
    of_unit: Vec<Unit>,
}

impl Content {
    fn add(&mut self, record: &Record, options: &Options, name: &str) {
        let is_wanted = options.unit.as_deref().is_none_or(|wanted| wanted == name);
        self.trims += u64::from(is_wanted && record.op == Op::Trim);
        if options.without_trims && record.op == Op::Trim {
            return;
        }
        let unit = record.unit as usize;
        if unit >= self.of_unit.len() {
            self.of_unit.resize(unit + 1, Unit::default());
        }
        let own = &mut self.of_unit[unit];
        if own.requests == 0 {
            own.name = name.to_owned();
        }
        own.end = own.end.max(record.offset + record.bytes);
        own.requests += 1;
        if !is_wanted {
            return;
        }
        self.requests += 1;
        self.reads += u64::from(record.op == Op::Read);
        self.bytes = self.bytes.saturating_add(record.bytes);
        self.odd_sizes += u64::from(record.bytes % SECTOR != 0);
        self.measured += u64::from(!record.response_us.is_nan());
        let time = record.time_ns;
        if self.earliest.is_none_or(|(earliest, _)| time < earliest) {
            self.earliest = Some((time, record.line));
        }
        if time >= self.latest.0 {
            self.latest = (time, record.line);
        }
        self.pauses = self.pauses.saturating_add(time);
        self.unsorted |= time < self.last;
        self.last = time;
    }

    fn scan(&self, options: &Options) -> Result<Scan, Fault> {
        let mut units = self.of_unit.clone();
        // A disk may have had nothing but trims.
        units.retain(|unit| unit.requests > 0);
        units.sort_by(|one, other| one.name.cmp(&other.name));
        if let Some(wanted) = &options.unit {
            let names: Vec<String> = units.iter().map(|unit| unit.name.clone()).collect();
            units.retain(|unit| unit.name == *wanted);
            if units.is_empty() {
                let shown = names[..names.len().min(SHOWN)].join(", ");
                let fault = Fault::at(
                    "--unit",
                    Value::Text(wanted.clone()),
                    format!("one of {shown}"),
                );
                return Err(fault.among(names));
            }
        }
        let mut end = 0u64;
        for unit in &mut units {
            unit.start = end.div_ceil(ALIGNED) * ALIGNED;
            end = unit.start.saturating_add(unit.end);
        }
        let closed = options.format == CLOSED;
        let first_ns = if closed {
            0
        } else {
            self.earliest.map_or(0, |(earliest, _)| earliest)
        };
        let length = if closed {
            self.pauses
        } else {
            self.latest.0 - first_ns
        };
        let slowed = length as f64 * options.slower;
        if slowed >= LONGEST_NS as f64 || length >= LONGEST_NS {
            let allowed = match self.earliest {
                Some((_, line)) if !closed => {
                    format!("at most 2^59 ns, 18 years, after the earliest request, of line {line}")
                }
                _ => "pauses of at most 2^59 ns, 18 years, in all".to_owned(),
            };
            let value = Value::Text(format!("{slowed:.0} ns"));
            return Err(Fault::at(format!("line {}", self.latest.1), value, allowed));
        }
        Ok(Scan {
            format: options.format.clone(),
            requests: self.requests,
            reads: self.reads,
            trims: self.trims,
            measured: self.measured,
            units,
            extent: end,
            first_ns,
            length_ns: length,
            sorted: closed || !self.unsorted,
            closed,
            outside: 0,
            bytes: self.bytes,
            odd_sizes: self.odd_sizes,
            others: self.others,
        })
    }
}

/// Order and places, where a second look is needed for them.
fn check(options: &Options, mut scan: Scan) -> Result<Scan, Fault> {
    let on = Placement {
        capacity: options.capacity,
        extent: scan.extent,
        beyond: options.beyond,
    };
    if scan.sorted && !on.is_beyond(0, scan.extent) {
        return Ok(scan);
    }
    let anywhere = Options {
        capacity: 0,
        ..options.clone()
    };
    let (mut first, mut large) = (None, None);
    for request in Requests::open(&anywhere, &scan)? {
        let request = request?;
        if request.op != Op::Flush && on.is_beyond(request.offset, request.bytes) {
            scan.outside += 1;
            first.get_or_insert(request);
            if request.bytes > on.capacity {
                large.get_or_insert(request);
            }
        }
    }
    let at = |request: crate::Request, value, allowed| {
        Fault::at(
            format!("line {}", request.line),
            Value::Number(value),
            allowed,
        )
    };
    match (options.beyond, first, large) {
        (Beyond::Refuse, Some(first), _) => {
            let mut allowed = format!("a request within the {} bytes of the device", on.capacity);
            if scan.outside > 1 {
                allowed += &format!("; {} requests more lie beyond them", scan.outside - 1);
            }
            allowed += "; --beyond wrap, skip or scale goes on without them there";
            Err(at(first, first.offset, allowed))
        }
        (Beyond::Wrap | Beyond::Scale, _, Some(large)) => {
            let allowed = format!("at most the {} bytes of the device", on.capacity);
            Err(at(large, large.bytes, allowed))
        }
        (Beyond::Skip, ..) if scan.outside == scan.requests => {
            Err(Fault::of_file("at least one request on the device"))
        }
        _ => Ok(scan),
    }
}
