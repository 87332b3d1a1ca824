//! The engine as the Python module `raidlab.scenarios._engine`.
//!
//! Plans, results and what a trace is cross as JSON, a trace's columns as little-endian numbers. The interpreter lock is
//! released while the engine works. `_engine.pyi` beside the package states the interface.

#[cfg(feature = "extension-module")]
mod allocator;
#[cfg(feature = "extension-module")]
mod convert;
#[cfg(feature = "extension-module")]
mod jobs;
#[cfg(feature = "extension-module")]
mod memory;
#[cfg(feature = "extension-module")]
mod numbers;
#[cfg(feature = "extension-module")]
mod simulation;
#[cfg(feature = "extension-module")]
mod traces;

#[cfg(feature = "extension-module")]
#[pyo3::pymodule]
mod _engine {
    use crate::convert::{self, run_error};
    use crate::memory::{self, NoRoom, ROOM};
    use pyo3::prelude::*;
    use raidlab_engine::RunError;

    #[pymodule_export]
    use crate::convert::PlanError;
    #[pymodule_export]
    use crate::jobs::job_requests;
    #[pymodule_export]
    use crate::numbers::{rows_of_lines, rows_of_objects};
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::traces::{
        TraceError, describe_trace, recognise_trace, scan_trace, synthesize_trace, trace_columns,
    };

    #[pymodule_init]
    fn begin(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::allocator::keep_large_tables_apart();
        Ok(())
    }

    /// The version of the engine.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Runs a plan and gives its result, both as JSON.
    ///
    /// `watch` is called about every tenth of a second with the requests of recorded traces so far,
    /// and all of them; true from it stops the run, and the call raises KeyboardInterrupt.
    #[pyfunction]
    #[pyo3(signature = (plan, watch=None))]
    fn run(py: Python<'_>, plan: &str, watch: Option<Py<PyAny>>) -> PyResult<String> {
        let plan = convert::plan(plan)?;
        let while_built = watch.as_ref().map(|watch| watch.clone_ref(py));
        let while_waiting = watch.as_ref().map(|watch| watch.clone_ref(py));
        let call = |py: Python<'_>, watch: &Py<PyAny>, so_far: (u64, u64)| watch.call1(py, so_far);
        let mut go_on = convert::asking(watch, call);
        let mut builds_on = convert::asking(while_built, call);
        let mut waits_on = convert::asking(while_waiting, call);
        let result = py.detach(|| {
            let bytes = raidlab_engine::memory_of(&plan);
            let room = ROOM.take(bytes, plan.memory_bytes, memory::free, || waits_on((0, 0)));
            let _place = room.map_err(|why| match why {
                NoRoom::Stopped => RunError::Stopped,
                NoRoom::Taken => convert::no_room(bytes),
            })?;
            let patient = Box::new(move || builds_on((0, 0)));
            let run = || raidlab_engine::run_watched(&plan, |n, all| go_on((n, all)));
            raidlab_engine::patiently(patient, run).unwrap_or(Err(RunError::Stopped))
        });
        let result = result.map_err(run_error)?;
        result.to_json().map_err(|e| run_error(convert::form(e)))
    }

    /// JSON Schema of a plan, each type below `$defs`.
    #[pyfunction]
    fn plan_schema() -> String {
        raidlab_engine::plan_schema().to_string()
    }

    /// JSON Schema of what the engine gives, each type below `$defs`.
    #[pyfunction]
    fn result_schema() -> String {
        raidlab_engine::result_schema().to_string()
    }

    /// The capacity in bytes of each drive of a plan, as a JSON list.
    #[pyfunction]
    fn capacities(plan: &str) -> PyResult<String> {
        let plan = convert::plan(plan)?;
        let sizes = raidlab_engine::capacities(&plan).map_err(convert::plan_error)?;
        serde_json::to_string(&sizes).map_err(|e| run_error(convert::form(e)))
    }
}
