//! What a history's loads at random leave of the order of addresses.
//!
//! A load that wrote W bytes at random over an area of A has written each place of it at least once
//! with probability 1 - exp(-W / A). Of loads that run side by side, each was the last on its share
//! of the writes to a place.

use crate::ssd::map::log_order::{ALL, LARGEST_PIECE_BITS, Layer, LogOrder};
use crate::ssd::preconditioning::load::{HistoryAccess, HistoryLoad, groups};
use raidlab_kernel::Stream;

/// Shares that are left from before and that count: of less nothing would be seen.
const SEEN: f64 = 1.0 / 1024.0;

/// A layer whose area is still in units.
struct Written {
    first: u64,
    end: u64,
    piece_bits: u32,
    in_order: bool,
    share: f64,
}

impl Written {
    fn of(load: &HistoryLoad, units: u32, unit_bytes: u64) -> Written {
        let is_random = load.access == HistoryAccess::Random;
        let (area, stated) = (load.area_bytes, load.written_bytes);
        let (covered, share) = match (stated, is_random) {
            (0, _) => (area, 1.0),
            (_, true) => (area, 1.0 - libm::exp(-(stated as f64 / area.max(1) as f64))),
            (_, false) => (stated.min(area), 1.0),
        };
        let piece = (load.block_bytes / unit_bytes).max(1).ilog2();
        Written {
            first: load.start_bytes.div_ceil(unit_bytes),
            end: ((load.start_bytes + covered) / unit_bytes).min(u64::from(units)),
            piece_bits: piece.min(LARGEST_PIECE_BITS),
            in_order: !is_random,
            share,
        }
    }

    fn covers(&self, other: &Written) -> bool {
        self.share >= 1.0 - SEEN && self.first <= other.first && other.end <= self.end
    }

    /// True if this area ends within another one.
    fn crosses(&self, other: &Written) -> bool {
        let within = |at| other.first < at && at < other.end;
        within(self.first) || within(self.end)
    }

    fn meets(&self, other: &Written) -> bool {
        self.first < other.end && other.first < self.end
    }
}

/// The order of the data on a drive of `units` after a history; none if it is that of addresses.
pub(super) fn after(
    history: &[HistoryLoad],
    units: u32,
    unit_bytes: u64,
    seed: u64,
) -> Option<LogOrder> {
    let mut layers: Vec<Written> = Vec::new();
    for loads in groups(history) {
        for written in side_by_side(loads, units, unit_bytes) {
            layers.retain(|before| !written.covers(before));
            layers.push(written);
        }
    }
    // What was written in order hides pieces of any size, so its own are the largest.
    let largest = layers.iter().filter(|layer| !layer.in_order);
    let largest = largest.map(|layer| layer.piece_bits).max()?;
    // The stream names no drive: copies of a mirror were written in the same order.
    let mut draws = Stream::new(seed, "tile", "order of the log");
    let found = layers.iter().filter_map(|layer| {
        let piece_bits = if layer.in_order {
            largest
        } else {
            layer.piece_bits
        };
        let start = layer.first.div_ceil(1 << piece_bits);
        let pieces = (layer.end >> piece_bits).checked_sub(start)?;
        let whole = layer.share >= 1.0 - SEEN;
        (pieces > 0).then(|| Layer {
            piece_bits,
            start: start as u32,
            pieces: pieces as u32,
            in_order: layer.in_order,
            written: if whole {
                ALL
            } else {
                (layer.share * ALL as f64) as u64
            },
            crossed: layers.iter().any(|other| other.crosses(layer)),
            key: draws.bits(),
        })
    });
    let found: Vec<Layer> = found.collect();
    let scatters = found.iter().any(|layer| !layer.in_order);
    scatters.then(|| LogOrder::new(found))
}

/// Loads that run at the same time, as loads one after the other: those of the largest areas first,
/// and each has the share that it writes of what it and those before it write on its area.
fn side_by_side(loads: &[HistoryLoad], units: u32, unit_bytes: u64) -> Vec<Written> {
    let mut loads: Vec<&HistoryLoad> = loads.iter().collect();
    loads.sort_by_key(|load| std::cmp::Reverse(load.area_bytes));
    let density = |load: &HistoryLoad| f64::from(load.weight) / load.area_bytes.max(1) as f64;
    let mut found: Vec<Written> = Vec::new();
    for (at, load) in loads.iter().enumerate() {
        let mut written = Written::of(load, units, unit_bytes);
        let before = loads.iter().zip(&found).take(at);
        let others: f64 = before
            .filter(|(_, other)| other.meets(&written))
            .map(|(other, _)| density(other))
            .sum();
        written.share *= density(load) / (density(load) + others);
        found.push(written);
    }
    found
}

#[cfg(test)]
mod tests;
