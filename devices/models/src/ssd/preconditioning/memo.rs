//! Histories that have been simulated already.
//!
//! Points of a curve, replications and the drives of an array mostly share one history. The end of
//! a tile depends on nothing but the fields of [`TileHistory`]. So a process simulates each history
//! once and stores the last ends.

use crate::memo::Memo;
use crate::ssd::map::layout::TileEnd;
use crate::ssd::preconditioning::tile::TileHistory;
use std::sync::Arc;

static ENDS: Memo<TileHistory, TileEnd> = Memo::new(128 << 20);

/// The tile at the end of `history`.
pub(super) fn end_of(history: &TileHistory) -> Arc<TileEnd> {
    ENDS.get(history, || history.end(), TileEnd::bytes)
}
