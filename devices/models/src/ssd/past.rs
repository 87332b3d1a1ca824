//! Pasts that have been simulated already.
//!
//! Points of a curve, replications and the drives of an array mostly share one past, and its end
//! depends on nothing but the fields of [`Past`]. So a process simulates each past once and
//! keeps the latest ends; whether one was kept changes the time of a run and not its result.

use super::layout::TileEnd;
use super::state::Past;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Memory for ends that no drive uses at the moment.
const KEPT_BYTES: usize = 32 << 20;

type Cell = Arc<OnceLock<Arc<TileEnd>>>;

/// Pasts and their ends, the one that was asked for last at the end.
static KNOWN: Mutex<Vec<(Past, Cell)>> = Mutex::new(Vec::new());

/// The tile at the end of `past`.
pub(super) fn end_of(past: &Past) -> Arc<TileEnd> {
    let cell = {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().position(|(other, _)| other == past);
        let entry = match found {
            Some(at) => known.remove(at),
            None => (past.clone(), Cell::default()),
        };
        let cell = Arc::clone(&entry.1);
        known.push(entry);
        forget_the_oldest(&mut known);
        cell
    };
    // Whoever asks meanwhile waits for the one that simulates.
    Arc::clone(cell.get_or_init(|| Arc::new(past.end())))
}

fn forget_the_oldest(known: &mut Vec<(Past, Cell)>) {
    let bytes = |(_, cell): &(Past, Cell)| cell.get().map_or(0, |end| end.bytes());
    let mut total: usize = known.iter().map(bytes).sum();
    while total > KEPT_BYTES && known.len() > 1 {
        total -= bytes(&known.remove(0));
    }
}
