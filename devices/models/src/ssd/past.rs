//! Pasts that have been simulated already.
//!
//! Points of a curve, replications and the drives of an array mostly share one past, and its end
//! depends on nothing but the fields of [`Past`]. So a process simulates each past once and
//! keeps the latest ends.

use super::layout::TileEnd;
use super::state::Past;
use crate::memo::Memo;
use std::sync::Arc;

static KNOWN: Memo<Past, TileEnd> = Memo::new(32 << 20);

/// The tile at the end of `past`.
pub(super) fn end_of(past: &Past) -> Arc<TileEnd> {
    KNOWN.get(past, || past.end(), TileEnd::bytes)
}
