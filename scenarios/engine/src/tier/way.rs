//! Reads and writes of an array with a tier: each line from or to where it is.

use super::ArrayTier;
use crate::raid::Extent;
use crate::system::System;
use raidlab_kernel::{IoId, Op, Time};

/// Where a line of an array lies on its tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TierPlace {
    /// The array of the SSDs.
    pub array: u32,
    /// Its stripe.
    pub stripe: u64,
    column: u32,
    unit: Option<u64>,
}

impl TierPlace {
    /// Where bytes of a group of the array lie in the line's one unit.
    pub fn extent(&self, of: Extent) -> Extent {
        let before = self.unit.map_or(0, |unit| of.column * unit as u32);
        Extent {
            column: self.column,
            start: before + of.start,
            end: before + of.end,
        }
    }
}

impl ArrayTier {
    /// Whether new data for a line would go to the SSDs now.
    pub fn would_take(&self, line: u64) -> bool {
        self.decisions.write_back && self.tier.slot(line).is_some()
    }

    /// New data for a line: where on the SSDs they go, if they do.
    fn takes(&mut self, line: u64) -> Option<u32> {
        let slot = if self.decisions.write_back {
            self.tier.write(line)
        } else {
            None
        };
        if slot.is_none() {
            self.tier.written_past(line);
        }
        slot
    }
}

impl System {
    /// What leaves the controller's cache for a line goes to the tier, if that has the line and
    /// takes writes; else what it has of the line is out of date.
    pub(crate) fn tier_takes(&mut self, array: u32, line: u64) -> Option<TierPlace> {
        let tier = self.raid.tiers[array as usize].as_mut()?;
        let slot = u64::from(tier.takes(line)?);
        Some(TierPlace {
            array: tier.array,
            stripe: slot / tier.columns,
            column: (slot % tier.columns) as u32,
            unit: tier.unit,
        })
    }

    /// A range of the array was written past the controller's cache: what was copied to the tier
    /// meanwhile may be older.
    pub(crate) fn tier_forgets(&mut self, array: u32, (offset, bytes): (u64, u64)) {
        if let Some(tier) = self.raid.tiers[array as usize].as_mut() {
            for line in tier.lines(offset, bytes) {
                tier.tier.written_past(line);
            }
        }
    }

    /// Reads or writes a range of an array below `parent`, each line where it is.
    pub(crate) fn go_by_line(
        &mut self,
        parent: IoId,
        op: Op,
        array: u32,
        (offset, bytes): (u64, u64),
        now: Time,
    ) {
        let (mut at, end) = (offset, offset + bytes);
        // What is not on the tier goes on in one piece, across lines.
        let mut past = offset;
        self.hold(parent);
        while at < end {
            let Some(tier) = self.raid.tiers[array as usize].as_mut() else {
                break;
            };
            let (line, within) = (at / tier.line_bytes(), at % tier.line_bytes());
            let piece = (tier.line_bytes() - within).min(end - at);
            let slot = match op {
                Op::Write => tier.takes(line),
                _ => tier.tier.slot(line),
            };
            if let Some(slot) = slot {
                let (fast, start) = (tier.array, u64::from(slot) * tier.line_bytes() + within);
                if past < at {
                    self.move_array(parent, op, array, past, at - past, now);
                }
                past = at + piece;
                self.move_array(parent, op, fast, start, piece, now);
            }
            at += piece;
        }
        if past < end {
            self.move_array(parent, op, array, past, end - past, now);
        }
        self.let_go(parent, now);
    }
}
