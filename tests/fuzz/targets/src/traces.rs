//! Changed traces of every format: each must give its requests, or name its faults.

use crate::driver::Target;
use raidlab_io::Op;
use raidlab_kernel::Stream;
use raidlab_traces::{Beyond, Options, Requests, recognise, scan};
use std::path::{Path, PathBuf};

/// Bytes of the device, for those that are to lie on one.
const CAPACITY: u64 = 1 << 30;
/// Each format that is read without further options, and lines of a trace.
const SOUND: [(&str, &str); 11] = [
    (
        "disksim-validate",
        "R Miss 12345 8 5021.3 1000.0\nW Hit 99 16 21.3 10.0\n",
    ),
    ("disksim-ascii", "2.5 0 12345 8 1\n3.5 1 12 16 0\n"),
    ("mqsim", "4851300 1 524288 16 0\n4864300 1 524304 16 1\n"),
    (
        "msr",
        "128166372003061629,usr,0,Read,7014609920,24576,41286\n128166372003061700,u,1,Write,0,512,9\n",
    ),
    ("spc", "0,20941264,8192,W,0.551706\n1,20,512,r,0.6\n"),
    (
        "systor17",
        "Timestamp,Response,IOType,LUN,Offset,Size\n1455592529.03,0.000243,R,1,9216,4096\n",
    ),
    (
        "alibaba",
        "419,W,8792731648,16384,1577808144360767\n420,R,4096,512,1577808144360768\n",
    ),
    (
        "tencent",
        "1538323200,12910952,128,0,1063\n1538323201,8,8,1,7\n",
    ),
    (
        "vscsi",
        "2147483692,4096,1,write,24048792,2756778716647\n9,512,1,40,1,2756778716648\n",
    ),
    (
        "blkparse",
        "8,0 1 1 0.000010 697 D R 1000 + 8 [fio]\n8,0 1 2 0.000112 697 C R 1000 + 8 [0]\n",
    ),
    (
        "fio-iolog",
        "fio version 3 iolog\n1 /dev/sda add\n2 /dev/sda open\n3 /dev/sda read 4096 512\n",
    ),
];
/// What is put in the place of a field.
const PIECES: [&str; 18] = [
    "",
    "0",
    "1",
    "-1",
    "nan",
    "inf",
    "1e400",
    "-0.0",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "1e-320",
    "0x",
    "R",
    "Write",
    "\u{202e}",
    "\0",
];

/// Traces.
pub struct Traces {
    seed: u64,
    path: PathBuf,
}

impl Traces {
    /// Traces that are written into a file of `folder`, one after the other.
    pub fn new(seed: u64, folder: &Path) -> Traces {
        Traces {
            seed,
            path: folder.join("changed.trace"),
        }
    }
}

impl Target for Traces {
    type Input = (Vec<u8>, Options);

    fn input(&self, number: u64) -> (Vec<u8>, Options) {
        input(&self.path, self.seed, number)
    }

    fn show(&self, (bytes, options): &(Vec<u8>, Options)) -> String {
        format!("{options:?}\n{}", String::from_utf8_lossy(bytes))
    }

    fn judge(&self, (bytes, options): &(Vec<u8>, Options)) -> Result<&'static str, String> {
        judge(bytes, options)
    }
}

/// What came of a trace: its requests, or faults.
fn judge(bytes: &[u8], options: &Options) -> Result<&'static str, String> {
    std::fs::write(&options.path, bytes).map_err(|error| error.to_string())?;
    // Whether it is recognised does not matter, but it must say so.
    if recognise(&options.path).is_err_and(|fault| fault.allowed.is_empty()) {
        return Err("not recognised without a word".into());
    }
    let known = match scan(options, || true) {
        Ok(known) => known,
        Err(faults) if faults.is_empty() => return Err("refused without a word".into()),
        Err(faults) if faults.iter().any(|fault| fault.allowed.is_empty()) => {
            return Err("a fault without what is allowed".into());
        }
        Err(_) => return Ok("faults named"),
    };
    let requests = Requests::open(options, &known).map_err(|fault| fault.allowed)?;
    let mut count = 0;
    for request in requests {
        let Ok(request) = request else {
            // Requests that stand too late, or too many that wait for their completion.
            return Ok("faults named at the second reading");
        };
        count += 1;
        let device = if options.capacity == 0 {
            u64::MAX
        } else {
            options.capacity
        };
        if request.op != Op::Flush && request.offset.saturating_add(request.bytes) > device {
            return Err(format!("beyond the device: {request:?}"));
        }
    }
    let left_out = if options.beyond == Beyond::Skip {
        known.outside
    } else {
        0
    };
    if count + left_out < known.requests || count > known.requests {
        return Err(format!("{count} requests, but {} at first", known.requests));
    }
    Ok("read")
}

/// Input number `number`: one to four changes of a sound trace, and how it is to be read.
fn input(path: &Path, seed: u64, number: u64) -> (Vec<u8>, Options) {
    let mut draws = Stream::new(seed, &number.to_string(), "traces");
    let mut pick = |most: usize| draws.below(most as u64) as usize;
    let (own, lines) = SOUND[pick(SOUND.len())];
    let mut bytes = lines.repeat(1 + pick(3)).into_bytes();
    for _ in 0..=pick(4) {
        change(&mut bytes, &mut pick);
    }
    let other = SOUND[pick(SOUND.len())].0;
    let format = if pick(8) == 0 { other } else { own };
    let mut options = Options::new(path, format);
    options.capacity = if pick(2) == 0 { 0 } else { CAPACITY };
    options.beyond = [Beyond::Refuse, Beyond::Wrap, Beyond::Skip, Beyond::Scale][pick(4)];
    options.pauses = pick(4) == 0;
    options.slower = [1.0, 1.0, 0.001, 1e6][pick(4)];
    (bytes, options)
}

fn change(bytes: &mut Vec<u8>, pick: &mut impl FnMut(usize) -> usize) {
    let is_between = |byte: u8| matches!(byte, b',' | b' ' | b'\n' | b'\t');
    let at = pick(bytes.len() + 1);
    match pick(8) {
        0..=3 => {
            let begin = bytes[..at].iter().rposition(|&byte| is_between(byte));
            let begin = begin.map_or(0, |before| before + 1);
            let end = bytes[at..].iter().position(|&byte| is_between(byte));
            let end = end.map_or(bytes.len(), |after| at + after);
            let number = format!("{}", 1_u128 << pick(70));
            let piece = if pick(2) == 0 {
                number.as_str()
            } else {
                PIECES[pick(PIECES.len())]
            };
            bytes.splice(begin..end, piece.bytes());
        }
        4 => bytes.truncate(at),
        5 => {
            let lines: Vec<_> = bytes
                .split(|&byte| byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect();
            let line = lines[pick(lines.len())].clone();
            bytes.extend(line);
            bytes.push(b'\n');
        }
        6 => bytes.insert(at, pick(256) as u8),
        _ if at < bytes.len() => bytes[at] = pick(256) as u8,
        _ => {}
    }
}
