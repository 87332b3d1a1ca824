//! fio's jobs, without a system.

use crate::convert::{form, run_error};
use pyo3::prelude::*;
use raidlab_engine::io::Op;
use raidlab_engine::jobs::{Generator, JobPlan, Next};

/// The first `count` I/Os that a thread of a job (JSON) asks for: operation, first byte, bytes.
#[pyfunction]
pub fn job_requests(thread: &str, count: usize) -> PyResult<Vec<(&'static str, u64, u64)>> {
    let plan = JobPlan::from_json(thread).map_err(|error| run_error(form(error)))?;
    let mut generator = Generator::new(&plan);
    let mut found = Vec::new();
    while found.len() < count {
        found.push(match generator.draw() {
            Next::Nothing | Next::Later(_) => break,
            Next::Sync => {
                generator.completed(Op::Flush);
                ("sync", 0, 0)
            }
            Next::Io(request) => {
                let name = match request.op {
                    Op::Read => "read",
                    Op::Write => "write",
                    Op::Trim => "trim",
                    Op::Flush => "flush",
                };
                generator.completed(request.op);
                (name, request.offset, request.bytes)
            }
        });
    }
    Ok(found)
}
