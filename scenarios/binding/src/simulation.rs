//! A system that a Python clock drives: SimPy's.

use crate::convert;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use raidlab_engine::RunError;
use raidlab_engine::io::{ByteRange, DriveId, IoId};
use raidlab_engine::kernel::Time;

/// A system and its clock, for an outside caller.
#[pyclass]
pub struct Simulation(raidlab_engine::Simulation, raidlab_engine::Plan);

/// What comes back: (I/O, drive or None, op, offset, bytes, mark, at ns, issued ns, outcome).
type Back = (u32, Option<u32>, u8, u64, u64, u32, u64, u64, u8);

#[pymethods]
impl Simulation {
    /// The system of a plan (JSON) at time zero.
    #[new]
    fn new(py: Python<'_>, plan: &str) -> PyResult<Self> {
        let plan = convert::plan(plan)?;
        let mut builds_on = convert::asking(None, |py, _, ()| Ok(py.None()));
        let system = py.detach(|| {
            let build = || raidlab_engine::Simulation::recorded(&plan);
            raidlab_engine::patiently(Box::new(move || builds_on(())), build)
        });
        let system = system.ok_or_else(|| convert::run_error(RunError::Stopped))?;
        let system = system.map_err(convert::plan_error)?;
        Ok(Simulation(system, plan))
    }

    /// The result so far (JSON), as of a run; the caller's I/Os are the workloads `processes`, one
    /// for each array, behind those of the plan.
    fn report(&mut self) -> PyResult<String> {
        let report = self.0.report(&self.1);
        let text = report.map_or(Ok("null".into()), |report| report.to_json());
        text.map_err(|error| convert::run_error(convert::form(error)))
    }

    /// The clock in nanoseconds.
    #[getter]
    fn now(&self) -> u64 {
        self.0.now().0
    }

    /// When something is due next, in nanoseconds; None if nothing is.
    fn peek(&mut self) -> Option<u64> {
        let next = [self.0.next_time(), self.0.pending_outside()];
        next.into_iter().flatten().min().map(|time| time.0)
    }

    /// The index of an array by its name, or None.
    fn array(&self, name: &str) -> Option<u32> {
        self.0.array(name)
    }

    /// Bytes that an array offers.
    fn capacity(&self, array: u32) -> PyResult<u64> {
        let capacity = self.0.capacity(array);
        capacity.ok_or_else(|| PyValueError::new_err(format!("no array {array}")))
    }

    /// The erase blocks of a drive as they are now (JSON); None if it has none, or is not there.
    fn erase_blocks(&self, drive: u32) -> Option<String> {
        serde_json::to_string(&self.0.erase_blocks(drive)?).ok()
    }

    /// Submits an I/O now; `mark` comes back with its completion.
    fn submit(&mut self, array: u32, op: u8, offset: u64, size: u64, mark: u32) -> PyResult<u32> {
        let op = convert::op(op)?;
        self.0
            .submit(array, op, ByteRange::new(offset, size), mark)
            .map(IoId::number)
            .map_err(PyValueError::new_err)
    }

    /// Runs until a completion or a command for the caller, or until the clock reaches `limit` nanoseconds.
    ///
    /// The interpreter lock is released meanwhile. Raises PlanError if a drive or a load cannot continue.
    fn advance(&mut self, py: Python<'_>, limit: u64) -> PyResult<Option<Back>> {
        let Some(back) = py.detach(|| self.0.advance(Time(limit))) else {
            let failure = self.0.system().failure();
            return failure.map_or(Ok(None), |fault| Err(convert::plan_error(vec![fault])));
        };
        Ok(Some((
            back.io.number(),
            back.drive.map(DriveId::number),
            back.op as u8,
            back.offset,
            back.bytes,
            back.owner,
            back.at.0,
            back.issued.0,
            back.outcome as u8,
        )))
    }

    /// Executes an event of a plan (JSON, without its time) now.
    fn act(&mut self, action: &str) -> PyResult<()> {
        let action = convert::action(action)?;
        self.0.act(action).map_err(PyValueError::new_err)
    }

    /// The state of data integrity (JSON), or None if the system does not track it.
    fn data(&mut self) -> Option<String> {
        let data = self.0.data()?;
        serde_json::to_string(&data).ok()
    }

    /// The events so far, as a JSON list.
    fn log(&self) -> String {
        serde_json::to_string(self.0.log()).unwrap_or_default()
    }

    /// A device of the caller's own has served a command, now.
    fn served(&mut self, io: u32) -> PyResult<()> {
        self.0.served(IoId::new(io)).map_err(PyValueError::new_err)
    }
}
