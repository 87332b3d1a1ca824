//! Traces: read, and replayed on a system.

use crate::convert::{self, run_error};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use raidlab_engine::kernel::{Histogram, Nanos, Op};
use raidlab_engine::{Latency, RunError, Timing, TraceRequest, report};
use raidlab_traces::{
    Comparison, Description, Fault, Model, Options, Request, Requests, Scan, Unwritten,
};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

create_exception!(
    _engine,
    TraceError,
    PyValueError,
    "A trace has faults: `args[0]` is a JSON list of key, value, allowed, choices."
);

fn trace_error(faults: Vec<Fault>) -> PyErr {
    if faults.is_empty() {
        return PyKeyboardInterrupt::new_err(());
    }
    match serde_json::to_string(&faults) {
        Ok(text) => TraceError::new_err((text,)),
        Err(error) => run_error(convert::form(error)),
    }
}

fn options(json: &str) -> PyResult<Options> {
    serde_json::from_str(json).map_err(|error| run_error(convert::form(error)))
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| run_error(convert::form(error)))
}

/// Calls `watch` with the requests so far and their number; true from it stops the work.
fn watching(watch: Option<Py<PyAny>>, all: u64) -> impl FnMut(u64) -> bool + Send {
    convert::asking(watch, move |py, watch, so_far: u64| {
        watch.call1(py, (so_far.min(all), all))
    })
}

/// The format of a trace by its first lines.
#[pyfunction]
pub fn recognise_trace(py: Python<'_>, path: PathBuf) -> PyResult<&'static str> {
    let found = py.detach(|| raidlab_traces::recognise(&path));
    found.map_err(|fault| trace_error(vec![fault]))
}

/// What a trace holds (JSON): requests, disks, first and last time.
///
/// Raises TraceError with all lines that are at fault, up to twenty.
#[pyfunction]
#[pyo3(signature = (options, watch=None))]
pub fn scan_trace(py: Python<'_>, options: &str, watch: Option<Py<PyAny>>) -> PyResult<String> {
    let options = self::options(options)?;
    json(&scanned(py, &options, watch.as_ref())?)
}

fn scanned(py: Python<'_>, options: &Options, watch: Option<&Py<PyAny>>) -> PyResult<Scan> {
    let mut go_on = watching(watch.map(|watch| watch.clone_ref(py)), 0);
    let found = py.detach(|| raidlab_traces::scan(options, || go_on(0)));
    found.map_err(trace_error)
}

/// Reads a trace's requests; `watch` is asked now and then. No fault at all: it stopped the work.
fn for_each(
    options: &Options,
    scan: &Scan,
    watch: Option<Py<PyAny>>,
    mut take: impl FnMut(&Request),
) -> Result<(), Vec<Fault>> {
    let mut go_on = watching(watch, scan.requests);
    let requests = Requests::open(options, scan).map_err(|fault| vec![fault])?;
    for (number, request) in (0..).zip(requests) {
        take(&request.map_err(|fault| vec![fault])?);
        if number % 4096 == 0 && !go_on(number) {
            return Err(Vec::new());
        }
    }
    Ok(())
}

/// A trace's operations (u8), offsets, sizes, times, lines (u64) and response times (f64, NaN for
/// none), little-endian, behind what it holds (JSON).
type Columns<'py> = (String, [Bound<'py, PyBytes>; 6]);

/// All requests of a trace in memory.
#[pyfunction]
pub fn trace_columns<'py>(py: Python<'py>, options: &str) -> PyResult<Columns<'py>> {
    let options = self::options(options)?;
    let scan = scanned(py, &options, None)?;
    let mut columns: [Vec<u8>; 6] = Default::default();
    let requests = Requests::open(&options, &scan).map_err(|fault| trace_error(vec![fault]))?;
    for request in requests {
        let request = request.map_err(|fault| trace_error(vec![fault]))?;
        columns[0].push(request.op as u8);
        let numbers = [request.offset, request.bytes, request.time.0, request.line];
        for (column, number) in columns[1..5].iter_mut().zip(numbers) {
            column.extend(number.to_le_bytes());
        }
        columns[5].extend(request.response_us.to_le_bytes());
    }
    let columns = columns.map(|column| PyBytes::new(py, &column));
    Ok((json(&scan)?, columns))
}

/// Blocks that a description follows at most.
const BLOCKS: usize = 1 << 17;

/// What a trace is like.
#[derive(Serialize)]
struct Described {
    scan: Scan,
    #[serde(flatten)]
    described: raidlab_traces::Described,
    measured_latency_us: Option<Latency>,
}

/// What a trace is like (JSON): mix, sizes, order, arrivals, hot spots, reuse.
#[pyfunction]
#[pyo3(signature = (options, watch=None))]
pub fn describe_trace(py: Python<'_>, options: &str, watch: Option<Py<PyAny>>) -> PyResult<String> {
    let options = self::options(options)?;
    let scan = scanned(py, &options, watch.as_ref())?;
    let mut found = Description::new(BLOCKS);
    py.detach(|| for_each(&options, &scan, watch, |request| found.add(request)))
        .map_err(trace_error)?;
    json(&Described {
        described: found.described(scan.closed),
        scan,
        measured_latency_us: Latency::of(&found.measured),
    })
}

/// Writes a trace of the same statistics to a file, in the format `spc`; gives its number of requests.
#[pyfunction]
#[pyo3(signature = (options, out, seed, watch=None))]
pub fn synthesize_trace(
    py: Python<'_>,
    options: &str,
    out: PathBuf,
    seed: u64,
    watch: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let options = self::options(options)?;
    let scan = scanned(py, &options, watch.as_ref())?;
    let written = py.detach(|| {
        let mut model = Model::new(&scan, seed);
        for_each(&options, &scan, watch, |request| model.learn(request))?;
        let unwritable = |error: std::io::Error| vec![Fault::of_file(error.to_string())];
        let mut file = BufWriter::new(File::create(&out).map_err(unwritable)?);
        let mut count = 0;
        for request in model.requests() {
            let kind = match request.op {
                Op::Read => "R",
                Op::Write => "W",
                Op::Trim => "trim",
                Op::Flush => "flush",
            };
            let (sector, ns) = (request.offset / 512, request.time.0);
            let (s, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
            writeln!(file, "0,{sector},{},{kind},{s}.{rest:09}", request.bytes)
                .map_err(unwritable)?;
            count += 1;
        }
        file.flush().map_err(unwritable)?;
        Ok(count)
    });
    written.map_err(trace_error)
}

/// What a replay gives besides the result of a run.
#[derive(Serialize)]
struct Replayed {
    scan: Scan,
    run: report::RunResult,
    requests: u64,
    /// Sum of all simulated response times, in nanoseconds.
    simulated_sum_ns: u64,
    comparison: Option<Comparison>,
    /// Latencies that were measured.
    measured_latency_us: Option<Latency>,
    unwritten: Unwritten,
    /// Requests that were complete when the last one arrived.
    served_in_time: u64,
}

/// How a trace is replayed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplayOptions {
    trace: Options,
    /// The array of the plan.
    array: u32,
    /// Requests in flight of a closed loop; 0 for the trace's times.
    outstanding: u32,
    /// Whether the response time of every request is wanted.
    each: bool,
}

/// Replays a trace on an array of a plan; gives the result (JSON) and, if `each` is true, the
/// response time of every request in nanoseconds (little-endian u64).
#[pyfunction]
#[pyo3(signature = (plan, options, watch=None))]
pub fn replay<'py>(
    py: Python<'py>,
    plan: &str,
    options: &str,
    watch: Option<Py<PyAny>>,
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let plan = convert::plan(plan)?;
    let ReplayOptions {
        trace: options,
        array,
        outstanding,
        each,
    } = serde_json::from_str(options).map_err(|error| run_error(convert::form(error)))?;
    let scan = scanned(py, &options, watch.as_ref())?;
    let timing = match outstanding {
        0 => Timing::Timestamps,
        _ => Timing::Closed(outstanding),
    };
    let mut watch = watching(watch, scan.requests);
    let mut counts = Counts::new(&scan, &options, each);
    let run = py.detach(|| {
        let failed = |fault: Fault| RunError::Form(format!("{}: {}", fault.key, fault.allowed));
        let requests = Requests::open(&options, &scan).map_err(failed)?;
        let mut unwritten = Unwritten::default();
        let requests = requests.map(|request| {
            let request = request.map_err(failed)?;
            unwritten.look(&request);
            let asked = TraceRequest {
                op: request.op,
                offset: request.offset,
                bytes: request.bytes,
                time: request.time,
            };
            Ok((asked, request.response_us))
        });
        let done = |measured, number, back: &raidlab_engine::Outside| {
            counts.add(measured, number, back.at.0, back.at - back.issued);
        };
        let run = raidlab_engine::replay(&plan, array, requests, timing, done, &mut watch);
        run.map(|run| (run, unwritten))
    });
    let (run, unwritten) = run.map_err(run_error)?;
    let responses: Vec<u8> = counts
        .responses
        .iter()
        .flat_map(|ns| ns.to_le_bytes())
        .collect();
    let replayed = counts.replayed(scan, run, unwritten);
    Ok((json(&replayed)?, PyBytes::new(py, &responses)))
}

/// What is counted at completions.
struct Counts {
    comparison: Comparison,
    measured: Histogram,
    requests: u64,
    sum_ns: u64,
    last_arrival_ns: u64,
    served_in_time: u64,
    responses: Vec<u64>,
    each: bool,
}

impl Counts {
    fn new(scan: &Scan, options: &Options, each: bool) -> Counts {
        Counts {
            comparison: Comparison::default(),
            measured: Histogram::default(),
            requests: 0,
            sum_ns: 0,
            last_arrival_ns: (scan.length_ns as f64 * options.slower) as u64,
            served_in_time: 0,
            responses: Vec::new(),
            each,
        }
    }

    fn add(&mut self, measured_us: f64, number: u64, at_ns: u64, took: Nanos) {
        self.requests += 1;
        self.sum_ns += took.0;
        self.served_in_time += u64::from(at_ns <= self.last_arrival_ns);
        if !measured_us.is_nan() {
            self.comparison.add(took.0 as f64 / 1000.0, measured_us);
            self.measured.record(Nanos((measured_us * 1000.0) as u64));
        }
        if self.each {
            let at = number as usize;
            if at >= self.responses.len() {
                self.responses.resize(at + 1, 0);
            }
            self.responses[at] = took.0;
        }
    }

    fn replayed(self, scan: Scan, run: report::RunResult, unwritten: Unwritten) -> Replayed {
        let measured = self.comparison.requests > 0;
        Replayed {
            scan,
            run,
            requests: self.requests,
            simulated_sum_ns: self.sum_ns,
            comparison: measured.then_some(self.comparison),
            measured_latency_us: Latency::of(&self.measured),
            unwritten,
            served_in_time: self.served_in_time,
        }
    }
}
