//! Reads that nobody has asked for yet: prefetch, and the next page sets of a stream.

use crate::ssd::buffer::prefetch::Prefetch;
use crate::ssd::buffer::read_buffer::Arrival;
use crate::ssd::commands::gather::Spared;
use crate::ssd::firmware::streams::{Follows, Streams};
use crate::ssd::ids::{NandSlot, UnitId};
use crate::ssd::nand::Pages;
use crate::ssd::store::Store;
use raidlab_kernel::Time;

/// What reads have followed each other, and what is in memory for the next ones.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    pub(crate) prefetch: Option<Prefetch>,
    pub(crate) streams: Streams,
    /// Byte after the last read.
    pub(crate) next_byte: u64,
    /// Something was read ahead that was never written.
    pub(crate) unwritten: bool,
}

impl ReadAhead {
    /// Reads ahead of a sequential host once its last command is done, at `at`.
    #[inline]
    pub(crate) fn read_ahead(&mut self, store: &mut Store, unit_bytes: u32, at: Time) {
        let following = self.prefetch.as_ref().filter(|it| it.follows_a_stream());
        let Some(prefetch) = following else {
            return;
        };
        let units = u64::from(store.translation.map.units());
        let next = self.next_byte / u64::from(unit_bytes);
        let (mut from, to) = prefetch.wanted(next, units);
        let asked = store.read_units;
        let per_set = u64::from(store.translation.space.shape().units_per_set);
        while from < to {
            let count = (per_set - from % per_set).min(to - from);
            let read = store.gather(
                UnitId::new(from as u32),
                count as u32,
                Spared::default(),
                at,
            );
            if let Some(prefetch) = &mut self.prefetch {
                (from..from + count).for_each(|unit| prefetch.ahead.put(unit, read.last));
            }
            from += count;
        }
        // Nobody has asked for these yet.
        self.unwritten |= store.read_units != asked;
        store.read_units = asked;
    }

    /// Reads page sets of a stream of small reads, which goes on in unit `next`, until a set's
    /// worth of units beyond it is in memory. So the host reads one set while the next one comes.
    pub(crate) fn read_on(&mut self, store: &mut Store, stream: usize, next: u64, at: Time) {
        let per_set = store.translation.space.shape().units_per_set;
        let units = u64::from(store.translation.map.units());
        let to = (next + u64::from(per_set)).min(units);
        let mut unit = self.streams.pages(stream).range().1.max(next);
        if unit >= to {
            return;
        }
        while unit < to {
            let Some((set, die, within)) = store.in_nand(UnitId::new(unit as u32)) else {
                self.unwritten |= store.slot(unit) == NandSlot::NONE;
                self.streams.pages(stream).put(unit, at);
                unit += 1;
                continue;
            };
            let whole = Pages {
                die,
                set: within,
                whole_set: Some(set),
                planes: store.nand.all_planes(),
            };
            let times = store.nand.read(whole, 1, 0, at);
            let slots = store.translation.space.slots(set);
            let pages = self.streams.pages(stream);
            pages.put(unit, times.end);
            unit += 1;
            while unit < units && slots.contains(&store.slot(unit)) {
                pages.put(unit, store.nand.read_more(whole, times.sensed));
                unit += 1;
            }
        }
        self.streams.pages_changed(stream);
    }

    /// How many of a command's first units are in a read buffer, and when; and the stream whose
    /// next page sets are to be read, if the drive `keeps` the rest of a page set for it.
    #[inline(always)]
    pub(crate) fn take_buffered(
        &mut self,
        (first, count): (UnitId, u32),
        ready: Time,
        follows: Follows,
        keeps: bool,
    ) -> (Option<usize>, u32, Arrival) {
        let mut stream = follows.stream.filter(|_| keeps);
        let (mut ahead, mut buffered) = (0, Arrival::of_nothing(ready));
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.observe(follows);
            (ahead, buffered) = prefetch.ahead.take(first, count, ready);
            // The prefetch reads what the stream needs.
            stream = stream.filter(|_| !prefetch.follows_a_stream());
        }
        if let Some(stream) = stream.filter(|_| ahead == 0) {
            let pages = self.streams.pages(stream);
            (ahead, buffered) = pages.take(first, count, ready);
        }
        (stream, ahead, buffered)
    }
}
