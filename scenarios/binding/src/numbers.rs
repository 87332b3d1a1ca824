//! Rows of numbers in blocks of text.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use raidlab_traces::numbers::{self, Table};

/// First byte, byte behind, columns, first row, rows, end of the prefix, keys.
type Run = (usize, usize, usize, usize, usize, usize, usize);

/// Bytes taken, runs, names, the name of each row (u32), numbers (f64) little-endian, keys.
type Rows<'py> = (
    usize,
    Vec<Run>,
    Vec<Bound<'py, PyBytes>>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Vec<Vec<String>>,
);

fn rows<'py>(py: Python<'py>, table: Table) -> PyResult<Rows<'py>> {
    let run = |run: &numbers::Run| {
        (
            run.from,
            run.to,
            run.columns,
            run.row,
            run.rows,
            run.prefix.1,
            run.keys,
        )
    };
    let name = PyBytes::new_with(py, table.name.len() * 4, |bytes| {
        for (bytes, name) in bytes.chunks_exact_mut(4).zip(&table.name) {
            bytes.copy_from_slice(&name.to_le_bytes());
        }
        Ok(())
    })?;
    let numbers = PyBytes::new_with(py, table.numbers.len() * 8, |bytes| {
        for (bytes, number) in bytes.chunks_exact_mut(8).zip(&table.numbers) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        Ok(())
    })?;
    let names = table
        .names
        .iter()
        .map(|name| PyBytes::new(py, name))
        .collect();
    let runs = table.runs.iter().map(run).collect();
    Ok((table.taken, runs, names, name, numbers, table.keys))
}

/// Rows of the whole lines of a block: words, and plain numbers behind them.
#[pyfunction]
pub fn rows_of_lines<'py>(py: Python<'py>, block: &[u8]) -> PyResult<Rows<'py>> {
    let table = py.detach(|| numbers::lines(block));
    rows(py, table)
}

/// Rows of flat objects that begin with a key. Raises ValueError if one is of another form.
#[pyfunction]
pub fn rows_of_objects<'py>(py: Python<'py>, block: &[u8], key: &[u8]) -> PyResult<Rows<'py>> {
    if key.is_empty() {
        return Err(PyValueError::new_err("the key is empty"));
    }
    let table = py.detach(|| numbers::objects(block, key));
    rows(
        py,
        table.map_err(|at| {
            PyValueError::new_err(format!("an object of another form at byte {at}"))
        })?,
    )
}
