//! Why a run gave no result.

use raidlab_models::Fault;

/// Why a run gave no result.
#[derive(Debug)]
pub enum RunError {
    /// The plan has faults.
    Plan(Vec<Fault>),
    /// The plan is not in the plan's form.
    Form(String),
    /// The caller asked to stop.
    Stopped,
}
