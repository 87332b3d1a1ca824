//! The engine as the Python module `raidlab.scenarios._engine`.

#[cfg(feature = "extension-module")]
#[pyo3::pymodule]
mod _engine {
    use pyo3::prelude::*;

    /// The version of the engine.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
