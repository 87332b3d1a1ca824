//! Plans and errors between Python's forms and the engine's.

use crate::memory;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use raidlab_engine::io::Op;
use raidlab_engine::plan::Action;
use raidlab_engine::{About, Fault, Plan, RunError};
use std::time::{Duration, Instant};

create_exception!(
    _engine,
    PlanError,
    PyValueError,
    "A plan has faults: `args[0]` is a list of (key, value, what is allowed)."
);

/// A plan from its JSON, which may take half of the machine's memory, whatever others use of it, and
/// half of the addresses that are free.
pub fn plan(json: &str) -> PyResult<Plan> {
    let mut plan = Plan::from_json(json).map_err(|e| run_error(form(e)))?;
    let limits = memory::limits();
    // 0 would be no limit.
    let half = |bytes: Option<u64>| bytes.map_or(0, |bytes| (bytes / 2).max(1));
    if plan.memory_bytes == 0 {
        plan.memory_bytes = half(limits.memory);
    }
    if plan.address_bytes == 0 {
        plan.address_bytes = half(limits.addresses);
    }
    Ok(plan)
}

/// An event of a plan, from its JSON.
pub fn action(json: &str) -> PyResult<Action> {
    Action::from_json(json).map_err(|e| run_error(form(e)))
}

/// The error for a document that is not in the plan's form.
pub fn form(error: serde_json::Error) -> RunError {
    RunError::Form(error.to_string())
}

/// The Python exception for the plan's faults.
pub fn plan_error(faults: Vec<Fault>) -> PyErr {
    let faults: Vec<(String, String, String, &str)> = faults
        .into_iter()
        .map(|fault| (fault.key, fault.value, fault.allowed, fault.about.name()))
        .collect();
    PlanError::new_err((faults,))
}

/// The Python exception for a run that gave no result.
pub fn run_error(error: RunError) -> PyErr {
    match error {
        RunError::Plan(faults) => plan_error(faults),
        RunError::Form(why) => plan_error(vec![Fault::new("plan", "", why)]),
        RunError::Stopped => PyKeyboardInterrupt::new_err(()),
    }
}

/// The error for a run that gets no memory, as other processes use it.
pub fn no_room(bytes: u64) -> RunError {
    let needs = format!("{:.3} GB", bytes as f64 / 1e9);
    let allowed = "what the machine has free: other programs use the rest; end some, or try later";
    RunError::Plan(vec![
        Fault::new("memory", needs, allowed).about(About::Memory),
    ])
}

/// Asks a callback of Python's whether to continue, at most ten times a second, with what has been
/// done so far.
///
/// An exception raised by it, or by a signal's handler, stops the work.
pub fn asking<T>(
    callback: Option<Py<PyAny>>,
    ask: impl Fn(Python<'_>, &Py<PyAny>, T) -> PyResult<Py<PyAny>> + Send,
) -> impl FnMut(T) -> bool + Send {
    let mut asked = Instant::now();
    move |so_far| {
        if asked.elapsed() < Duration::from_millis(100) {
            return true;
        }
        asked = Instant::now();
        Python::attach(|py| {
            if py.check_signals().is_err() {
                return false;
            }
            let Some(callback) = &callback else {
                return true;
            };
            let answer = ask(py, callback, so_far).and_then(|stop| stop.is_truthy(py));
            matches!(answer, Ok(false))
        })
    }
}

/// What an operation's code or name asks for.
pub fn op(code: u8) -> PyResult<Op> {
    match code {
        0 => Ok(Op::Read),
        1 => Ok(Op::Write),
        2 => Ok(Op::Trim),
        3 => Ok(Op::Flush),
        _ => Err(PyValueError::new_err(format!(
            "operation {code}; allowed: 0 read, 1 write, 2 trim, 3 flush"
        ))),
    }
}
