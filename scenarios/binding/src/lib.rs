//! The engine as the Python module `raidlab.scenarios._engine`.
//!
//! Plans and results cross as JSON, traces as little-endian numbers. The interpreter lock is
//! released while the engine works. `_engine.pyi` beside the package states the interface.

#[cfg(feature = "extension-module")]
mod convert;
#[cfg(feature = "extension-module")]
mod simulation;

#[cfg(feature = "extension-module")]
#[pyo3::pymodule]
mod _engine {
    use crate::convert::{self, run_error, should_continue};
    use pyo3::prelude::*;
    use pyo3::types::PyBytes;

    #[pymodule_export]
    use crate::convert::PlanError;
    #[pymodule_export]
    use crate::simulation::Simulation;

    /// The version of the engine.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Runs a plan and gives its result, both as JSON.
    ///
    /// `should_stop` is asked about every tenth of a second whether to stop; then the call
    /// raises KeyboardInterrupt.
    #[pyfunction]
    #[pyo3(signature = (plan, should_stop=None))]
    fn run(py: Python<'_>, plan: &str, should_stop: Option<Py<PyAny>>) -> PyResult<String> {
        let plan = convert::plan(plan)?;
        let result = py.detach(|| raidlab_engine::run(&plan, should_continue(should_stop)));
        let result = result.map_err(run_error)?;
        serde_json::to_string(&result).map_err(|e| run_error(convert::form(e)))
    }

    /// The capacity in bytes of each drive of a plan, as a JSON list.
    #[pyfunction]
    fn capacities(plan: &str) -> PyResult<String> {
        let plan = convert::plan(plan)?;
        let sizes = raidlab_engine::capacities(&plan).map_err(convert::plan_error)?;
        serde_json::to_string(&sizes).map_err(|e| run_error(convert::form(e)))
    }

    /// The response time in nanoseconds of every request of a trace, as little-endian u64.
    ///
    /// `ops` has a byte for each request (0 read, 1 write, 2 trim, 3 flush); `offsets`, `sizes` (bytes)
    /// and `times` (ns) have a little-endian u64 for each request. With `timestamps` false a time is
    /// the pause between this request's completion and the next request.
    #[pyfunction]
    #[pyo3(signature = (plan, array, columns, timestamps, should_stop=None))]
    fn replay<'py>(
        py: Python<'py>,
        plan: &str,
        array: u32,
        columns: convert::Columns,
        timestamps: bool,
        should_stop: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let plan = convert::plan(plan)?;
        let requests = convert::requests(&columns)?;
        let pacing = if timestamps {
            raidlab_engine::Pacing::Timestamps
        } else {
            raidlab_engine::Pacing::AfterCompletion
        };
        let responses = py
            .detach(|| {
                raidlab_engine::replay(
                    &plan,
                    array,
                    &requests,
                    pacing,
                    should_continue(should_stop),
                )
            })
            .map_err(run_error)?;
        let bytes: Vec<u8> = responses.iter().flat_map(|r| r.0.to_le_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }
}
