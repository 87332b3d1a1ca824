//! Traces: read, described, made.

use crate::convert::{self, run_error};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use raidlab_engine::Latency;
use raidlab_engine::io::Op;
use raidlab_traces::{Description, Fault, Model, Options, Request, Requests, Scan};
use serde::Serialize;
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

/// The format of a trace by its first lines, and what its columns mean where their names say it.
#[pyfunction]
pub fn recognise_trace(py: Python<'_>, path: PathBuf) -> PyResult<(&'static str, String)> {
    let found = py.detach(|| raidlab_traces::recognise(&path));
    let found = found.map_err(|fault| trace_error(vec![fault]))?;
    let columns = found
        .columns
        .map_or(String::new(), |columns| columns.text());
    Ok((found.format, columns))
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
