//! Every format as it is, compressed, with lines that are none, and changed at random.

use proptest::prelude::*;
use raidlab_traces::{Beyond, Columns, FORMATS, Fault, Options, Request, Requests, Scan};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::NamedTempFile;

/// Two or three requests of each format.
const SAMPLES: [(&str, &str); 12] = [
    (
        "disksim-validate",
        "R Miss 16 8 5000.0 1000.0\nW Hit 1000 16 800.0 0.0\n",
    ),
    ("disksim-ascii", "0.000 0 16 8 1\n2.500 0 1000 16 0\n"),
    ("mqsim", "4851300 1 16 8 1\n7351300 1 1000 16 0\n"),
    (
        "blkparse",
        "  8,0 1 1 0.000010000 697 D R 16 + 8 [fio]\n\
         \x20 8,0 1 2 0.002510000 697 D WS 1000 + 16 [fio]\n\
         \x20 8,0 0 1 0.003310000 0 C WS 1000 + 16 [0]\nCPU0 (8,0):\n",
    ),
    (
        "fio-iolog",
        "fio version 2 iolog\nf add\nf open\nf read 0 4096\nf wait 250\nf trim 4096 8192\nf sync 0 0\n",
    ),
    (
        "msr",
        "128166372003061629,usr,0,Read,8192,4096,50000\n\
         128166372003086629,usr,1,Write,512000,8192,8000\n",
    ),
    ("spc", "0,16,4096,r,0.551706\n1,1000,8192,W,0.554206\n"),
    (
        "systor17",
        "Timestamp,Response,IOType,LUN,Offset,Size\n\
         1455592529.038213000,0.005,R,1,8192,4096\n1455592529.040713000,,W,1,512000,8192\n",
    ),
    (
        "alibaba",
        "419,R,8192,4096,1577808144360767\n419,W,512000,8192,1577808144363267\n",
    ),
    (
        "tencent",
        "1538323200,16,8,0,1063\n1538323201,1000,16,1,1063\n",
    ),
    (
        "vscsi",
        "#Vscsi Cmd Trace. (Trace Format Version 1)\n\
         2147483692,4096,1,read,16,2756778716647\n2147483769,8192,1,0x2a,1000,2756778719147\n",
    ),
    (
        "csv",
        "# by hand\nts,kind,lba,bytes,took\n1.5,read,16,4096,5.0\n\n1.5025,\"W\",1000,8192,\n",
    ),
];

fn file(content: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(content).expect("space for it");
    file
}

fn options(path: &Path, format: &str) -> Options {
    let columns = r#"{"time": {"name": "ts", "unit": "s"}, "op": {"name": "kind"},
        "offset": {"name": "lba", "unit": "sector"}, "size": {"name": "bytes", "unit": "B"},
        "response": {"name": "took", "unit": "ms"}}"#;
    let columns: Columns = serde_json::from_str(columns).expect("columns");
    Options {
        columns: (format == "csv").then_some(columns),
        ..Options::new(path, format)
    }
}

fn read(options: &Options) -> Result<(Scan, Vec<Request>), Vec<Fault>> {
    let scan = raidlab_traces::scan(options, || true)?;
    let requests = Requests::open(options, &scan).map_err(|fault| vec![fault])?;
    let requests: Result<Vec<Request>, Fault> = requests.collect();
    Ok((scan, requests.expect("what the scan has read")))
}

/// NaN is not equal to itself.
fn shown(requests: &[Request]) -> String {
    format!("{requests:?}")
}

#[test]
fn every_format_has_a_sample_and_is_recognised() {
    assert_eq!(SAMPLES.map(|(format, _)| format), FORMATS);
    for (format, text) in SAMPLES.iter().filter(|sample| sample.0 != "csv") {
        let file = file(text.as_bytes());
        let found = raidlab_traces::recognise(file.path());
        assert_eq!(found.map(|found| found.format), Ok(*format));
    }
}

#[test]
fn a_packed_trace_is_the_same_trace() {
    for (format, text) in SAMPLES {
        let plain = file(text.as_bytes());
        let expected = read(&options(plain.path(), format)).expect("a trace").1;
        let frame = |text: &str| compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
        let (first, second) = text.split_at(text.len() / 2);
        // A frame to be skipped stands between two others.
        let skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc";
        let packed = [&frame(first)[..], skipped, &frame(second)].concat();
        let packed_file = file(&packed);
        let found = read(&options(packed_file.path(), format))
            .expect("a trace")
            .1;
        assert_eq!(shown(&found), shown(&expected), "{format}");
        let cut = file(&packed[..packed.len() - 3]);
        let faults = read(&options(cut.path(), format)).expect_err("cut off");
        assert!(faults[0].allowed.contains("breaks off"), "{faults:?}");
    }
}

#[test]
fn windows_line_ends_comments_and_a_byte_order_mark_change_nothing() {
    for (format, text) in SAMPLES {
        let expected = read(&options(file(text.as_bytes()).path(), format))
            .expect("a trace")
            .1;
        let other = format!("\u{feff}# made by hand\n\n{text}").replace('\n', "\r\n");
        let found = read(&options(file(other.as_bytes()).path(), format))
            .expect("a trace")
            .1;
        let times = |requests: &[Request]| {
            let each = requests
                .iter()
                .map(|request| (request.time, request.offset));
            each.collect::<Vec<_>>()
        };
        assert_eq!(times(&found), times(&expected), "{format}");
    }
}

#[test]
fn lines_that_cannot_be_are_refused_with_line_and_reason() {
    let cases = [
        ("spc", "0,16,0,R,1", "1 to below 2^40"),
        ("spc", "0,2305843009213693952,4096,R,1", "0 to below 2^60"),
        ("spc", "0,16,4096,R", "5 columns"),
        ("spc", "0,16,40", "5 columns"),
        ("spc", "0,16,4096,R,-1", "time in s"),
        (
            "tencent",
            "1538323200,16,8,2,1063",
            "0 for a read or 1 for a write",
        ),
        ("vscsi", "1,4096,1,inquiry,16,1", "operation code"),
        (
            "alibaba",
            "419,R,8192,4096,99999999999999999999",
            "below 2^64 ns",
        ),
        (
            "msr",
            "1,usr,0,Read,8192,4096,99999999999999999999",
            "below 2^64 ns",
        ),
        ("disksim-ascii", "2.5 0 16 0 1", "1 to below 2^40"),
    ];
    for (format, line, reason) in cases {
        let (_, sample) = SAMPLES
            .iter()
            .find(|sample| sample.0 == format)
            .expect("a sample");
        let text = format!("{sample}{line}\n");
        let file = file(text.as_bytes());
        let faults = read(&options(file.path(), format)).expect_err(line);
        assert_eq!(faults.len(), 1, "{faults:?}");
        let named = format!("line {}", text.lines().count());
        assert_eq!(faults[0].key.split(": ").next(), Some(named.as_str()));
        assert!(faults[0].allowed.contains(reason), "{faults:?}");
    }
}

/// For each format a request of no bytes, one far behind the end of a small device, and a line that
/// breaks off. Lines of blkparse that are none of its events are left out without a word, so that
/// one breaks off in the middle of its numbers.
const HAND_MADE: [(&str, &str, &str, &str); 12] = [
    (
        "disksim-validate",
        "R Miss 16 0 5000.0 10.0",
        "W Miss 4000000 8 10.0 10.0",
        "R Miss 16",
    ),
    (
        "disksim-ascii",
        "3.0 0 16 0 1",
        "3.0 0 4000000 8 0",
        "3.0 0 16",
    ),
    (
        "mqsim",
        "7361300 1 16 0 1",
        "7361300 1 4000000 8 0",
        "7361300 1 16",
    ),
    (
        "blkparse",
        "8,0 1 3 0.004 697 D R 16 + 0 [fio]",
        "8,0 1 3 0.004 697 D W 4000000 + 8 [fio]",
        "8,0 1 3 0.004 697 D R 16 + x",
    ),
    (
        "fio-iolog",
        "f read 4096 0",
        "f write 2000000000 4096",
        "f read 4096",
    ),
    (
        "msr",
        "128166372003096629,usr,0,Read,8192,0,50000",
        "128166372003096629,usr,1,Write,2000000000,4096,50000",
        "128166372003096629,usr,0,Read,81",
    ),
    ("spc", "0,16,0,r,0.6", "1,4000000,4096,w,0.6", "0,16,4096"),
    (
        "systor17",
        "1455592529.1,0.005,R,1,8192,0",
        "1455592529.1,0.005,W,1,2000000000,4096",
        "1455592529.1,0.005,R,1",
    ),
    (
        "alibaba",
        "419,R,8192,0,1577808144460767",
        "419,W,2000000000,4096,1577808144460767",
        "419,R,8192,4096",
    ),
    (
        "tencent",
        "1538323202,16,0,0,1063",
        "1538323202,4000000,8,1,1063",
        "1538323202,16,8",
    ),
    (
        "vscsi",
        "2147483692,0,1,read,16,2756779716647",
        "2147483692,4096,1,write,4000000,2756779716647",
        "2147483692,4096,1,re",
    ),
    (
        "csv",
        "1.6,read,16,0,5.0",
        "1.6,write,4000000,4096,5.0",
        "1.6,read,16",
    ),
];

#[test]
fn no_bytes_and_lines_that_break_off_are_refused_with_their_line() {
    for ((format, zero, _, cut), (_, sample)) in HAND_MADE.iter().zip(SAMPLES) {
        for line in [zero, cut] {
            let file = file(format!("{sample}# by hand\n\n{line}").as_bytes());
            let found = read(&options(file.path(), format));
            if *format == "blkparse" && line == zero {
                // It moves no data: a barrier, a flush.
                assert!(found.is_ok(), "{found:?}");
                continue;
            }
            let faults = found.expect_err(line);
            let number = sample.lines().count() + 3;
            assert_eq!(faults.len(), 1, "{format}: {faults:?}");
            assert!(
                faults[0].key.starts_with(&format!("line {number}")),
                "{faults:?}"
            );
            assert!(!faults[0].allowed.is_empty());
        }
    }
}

#[test]
fn requests_past_the_end_are_refused_with_their_line_or_go_elsewhere() {
    for ((format, _, far, _), (_, sample)) in HAND_MADE.iter().zip(SAMPLES) {
        let file = file(format!("{sample}{far}\n").as_bytes());
        let on = |beyond| Options {
            capacity: 1 << 24,
            beyond,
            ..options(file.path(), format)
        };
        let faults = read(&on(Beyond::Refuse)).expect_err(far);
        let number = sample.lines().count() + 1;
        assert!(
            faults[0].key.starts_with(&format!("line {number}")),
            "{format}: {faults:?}"
        );
        assert!(
            faults[0].allowed.contains("within the 16777216 bytes"),
            "{faults:?}"
        );
        let all = read(&on(Beyond::Wrap)).expect("wrapped").1.len();
        assert_eq!(read(&on(Beyond::Scale)).expect("scaled").1.len(), all);
        let left = read(&on(Beyond::Skip)).expect("the others").1.len();
        assert!(left < all, "{format}: {left} of {all}");
    }
}

#[test]
fn a_time_that_goes_back_is_put_in_order() {
    for (format, sample) in SAMPLES {
        if ["disksim-validate", "fio-iolog"].contains(&format) {
            // They have pauses, which cannot go back.
            continue;
        }
        let first = |line: &&str| !line.starts_with('#') && line.contains(|c| "RrW".contains(c));
        let lines: Vec<&str> = sample.lines().collect();
        let requests = read(&options(file(sample.as_bytes()).path(), format))
            .expect("a trace")
            .1;
        let early = match format {
            "csv" => lines[2],
            "disksim-ascii" | "mqsim" | "tencent" => lines[0],
            _ => lines
                .iter()
                .copied()
                .find(|line| first(line) && !line.contains("Time"))
                .expect(format),
        };
        let again = file(format!("{sample}{early}\n").as_bytes());
        let found = read(&options(again.path(), format)).expect("a trace").1;
        assert_eq!(found.len(), requests.len() + 1, "{format}");
        assert!(
            found.is_sorted_by_key(|request| request.time),
            "{format}: {found:?}"
        );
        assert_eq!(found[1].offset, found[0].offset, "{format}: {found:?}");
    }
}

#[test]
fn a_table_has_its_own_names_units_and_words() {
    let text = "\"Start Time\";\"Rsp, ms\";Kind;\"Byte Offset\";\"Len KB\";Disk\n\
                2007-02-22 17:08:31.5;1.5;Rd;0x2000;4;vol 1\n\
                2007-02-22 17:08:31.5025;;Wr;512000;0.5;vol 2\n";
    let column = |name: &str, unit: &str| serde_json::json!({"name": name, "unit": unit});
    let table = |op: &str| {
        serde_json::json!({"time": column("Start Time", "date"), "op": column("Kind", op),
            "offset": column("Byte Offset", "B"), "size": column("Len KB", "KiB"),
            "response": column("Rsp, ms", "ms"), "unit": column("Disk", "")})
    };
    let options_of = |path: &Path, op: &str| Options {
        columns: Some(serde_json::from_value(table(op)).expect("columns")),
        ..Options::new(path, "csv")
    };
    let words = file(text.as_bytes());
    let (scan, requests) = read(&options_of(words.path(), "")).expect("a table");
    assert_eq!(scan.first_ns, 1_172_164_111_500_000_000);
    let names: Vec<&str> = scan.units.iter().map(|unit| unit.name.as_str()).collect();
    assert_eq!(names, ["vol 1", "vol 2"]);
    let sizes: Vec<u64> = requests.iter().map(|request| request.bytes).collect();
    assert_eq!((requests[0].offset, sizes), (8192, vec![4096, 512]));
    assert_eq!(requests[0].response_us, 1500.0);
    for (op, (read_word, write_word)) in [("digit", ("0", "1")), ("scsi", ("0x28", "42"))] {
        let coded = text.replace("Rd", read_word).replace("Wr", write_word);
        let coded = file(coded.as_bytes());
        let found = read(&options_of(coded.path(), op)).expect("a table").1;
        assert_eq!(shown(&found), shown(&requests));
    }
    for (before, after, reason) in [
        (";4;", ";0.3;", "whole bytes"),
        ("0x2000", "0xzz", "whole bytes"),
        (
            "2007-02-22 17:08:31.5;",
            "22.02.2007;",
            "such as 2007-02-22",
        ),
        ("Rd", "Erase", "a read or a write"),
    ] {
        let other = file(text.replace(before, after).as_bytes());
        let faults = read(&options_of(other.path(), "")).expect_err(after);
        assert!(faults[0].key.starts_with("line 2"), "{faults:?}");
        assert!(faults[0].allowed.contains(reason), "{faults:?}");
    }
}

#[test]
fn a_quantity_that_cannot_be_is_named() {
    for (line, named) in [
        ("0,16,0,R,1", "line 1: size"),
        ("0,2305843009213693952,4096,R,1", "line 1: offset"),
    ] {
        let file = file(format!("{line}\n").as_bytes());
        let faults = read(&options(file.path(), "spc")).expect_err(line);
        assert_eq!(faults[0].key, named);
    }
}

#[test]
fn semicolons_and_tabs_separate_fields_where_the_first_line_has_no_comma() {
    let (_, sample) = SAMPLES[11];
    let commas = file(sample.as_bytes());
    let expected = read(&options(commas.path(), "csv")).expect("a table");
    for separator in [";", "\t"] {
        let other = file(sample.replace(',', separator).as_bytes());
        let found = read(&options(other.path(), "csv")).expect("the same table");
        assert_eq!(shown(&found.1), shown(&expected.1), "{separator:?}");
    }
}

#[test]
fn trims_are_left_out_and_counted_where_the_device_has_none() {
    let (_, sample) = SAMPLES[4];
    let file = file(sample.as_bytes());
    let options = options(file.path(), "fio-iolog");
    let (all, requests) = read(&options).expect("a log");
    assert_eq!((all.trims, all.requests, requests.len()), (1, 3, 3));
    let without = Options {
        without_trims: true,
        ..options
    };
    let (scan, requests) = read(&without).expect("a log");
    assert_eq!((scan.trims, scan.requests, requests.len()), (1, 2, 2));
}

#[test]
fn a_line_without_end_is_no_line() {
    let file = file(&vec![b'1'; 1 << 20]);
    let faults = read(&options(file.path(), "spc")).expect_err("one long line");
    assert!(faults[0].allowed.contains("65536 bytes"), "{faults:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever the bytes are, a trace is read, or refused by line; what was checked can be read.
    #[test]
    fn changed_traces_are_read_or_refused(
        which in 0..SAMPLES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
        beyond in 0..3usize,
    ) {
        let (format, text) = SAMPLES[which];
        let mut bytes = text.as_bytes().to_vec();
        for (place, byte, how) in changes {
            let at = place.index(bytes.len());
            let likely = b",.-+ \n\"019eExRW#:"[usize::from(byte) % 17];
            match how {
                0 => bytes[at] = byte,
                1 => bytes[at] = likely,
                2 => bytes.insert(at, likely),
                _ => drop(bytes.splice(at.., text.bytes().take(at))),
            }
            if bytes.is_empty() {
                bytes.push(likely);
            }
        }
        let file = file(&bytes);
        let options = Options {
            capacity: 1 << 20,
            beyond: [Beyond::Wrap, Beyond::Skip, Beyond::Scale][beyond],
            ..options(file.path(), format)
        };
        match read(&options) {
            Ok((scan, requests)) => {
                let left_out = if beyond == 1 { scan.outside } else { 0 };
                prop_assert_eq!(requests.len() as u64, scan.requests - left_out);
                for request in &requests {
                    prop_assert!(request.offset + request.bytes <= 1 << 20);
                }
                if !scan.closed {
                    prop_assert!(requests.is_sorted_by_key(|request| request.time));
                }
            }
            Err(faults) => {
                prop_assert!(!faults.is_empty() && faults.len() <= 21);
                prop_assert!(faults.iter().all(|fault| !fault.allowed.is_empty()));
            }
        }
    }
}

/// By its path, size and time a file is known: one that is changed without a trace in these is not
/// read through again, one with another time is.
#[test]
fn a_file_that_stays_as_it_is_is_read_through_once() {
    let file = NamedTempFile::new().expect("a file");
    let long_ago = SystemTime::now() - Duration::from_secs(60);
    let write = |text: &str, changed: SystemTime| {
        std::fs::write(file.path(), text).expect("a trace");
        file.as_file().set_modified(changed).expect("a time");
    };
    let options = Options::new(file.path(), "spc");
    let reads = || {
        raidlab_traces::scan(&options, || true)
            .expect("a trace")
            .reads
    };
    write("0,16,4096,r,0.5\n", long_ago);
    assert_eq!(reads(), 1);
    write("0,16,4096,w,0.5\n", long_ago);
    assert_eq!(reads(), 1);
    write("0,16,4096,w,0.5\n", long_ago + Duration::from_secs(1));
    assert_eq!(reads(), 0);
    // Another change within the same moment could not be seen: it is read again.
    let now = SystemTime::now();
    write("0,16,4096,r,0.5\n", now);
    assert_eq!(reads(), 1);
    write("0,16,4096,w,0.5\n", now);
    assert_eq!(reads(), 0);
}

/// A lost time, zero among those since 1970, is the earliest: its line is named too.
#[test]
fn times_that_lie_too_far_apart_name_both_lines() {
    let file = NamedTempFile::new().expect("a file");
    let text = "1,R,8192,4096,1577808144360767\n1,W,8192,4096,0\n1,R,0,4096,1577808144364267\n";
    std::fs::write(file.path(), text).expect("a trace");
    let faults = raidlab_traces::scan(&Options::new(file.path(), "alibaba"), || true);
    let faults = faults.expect_err("50 years");
    assert_eq!(faults[0].key, "line 3");
    assert!(
        faults[0].allowed.ends_with("of line 2"),
        "{}",
        faults[0].allowed
    );
}

#[test]
fn an_offset_that_does_not_fit_is_not_said_as_another_number() {
    let file = NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "0,9223372036854775808,4096,R,0.1\n").expect("a trace");
    let faults = raidlab_traces::scan(&Options::new(file.path(), "spc"), || true);
    let value = format!("{:?}", faults.expect_err("2^72 bytes")[0].value);
    assert!(value.contains("2^64 bytes or more"), "{value}");
}
