//! Reads that nobody has asked for yet: prefetch, and the next page sets of a stream.

use crate::ssd::commands::gather::Spared;
use crate::ssd::drive::Ssd;
use crate::ssd::front::Front;
use crate::ssd::map::slot::NONE;
use crate::ssd::nand::Pages;
use raidlab_kernel::Time;

impl<F: Front> Ssd<F> {
    /// Reads ahead of a sequential host once its last command is done, at `at`.
    #[inline]
    pub(super) fn read_ahead(&mut self, at: Time) {
        let following = self.prefetch.as_ref().filter(|it| it.follows_a_stream());
        let Some(prefetch) = following else {
            return;
        };
        let units = u64::from(self.translation.map.units());
        let next = self.next_byte / u64::from(self.params.unit_bytes);
        let (mut from, to) = prefetch.wanted(next, units);
        let asked = self.read_units;
        let per_set = u64::from(self.translation.shape().units_per_set);
        while from < to {
            let count = (per_set - from % per_set).min(to - from);
            let read = self.gather(from as u32, count as u32, Spared::default(), at);
            if let Some(prefetch) = &mut self.prefetch {
                (from..from + count).for_each(|unit| prefetch.ahead.put(unit, read.last));
            }
            from += count;
        }
        // Nobody has asked for these yet.
        self.unwritten_ahead |= self.read_units != asked;
        self.read_units = asked;
    }

    /// Counts units that a command takes from a read buffer and that were never written.
    #[cold]
    pub(super) fn count_unwritten(&mut self, first: u32, count: u32) {
        let map = &self.translation.map;
        let units = first..(first + count).min(map.units());
        let unwritten = units.filter(|&unit| map.find(unit).slot == NONE).count();
        self.read_units.unwritten_units += unwritten as u64;
    }

    /// Reads page sets of a stream of small reads, which goes on in unit `next`, until a set's
    /// worth of units beyond it is in memory. So the host reads one set while the next one comes.
    pub(super) fn read_on(&mut self, stream: usize, next: u64, at: Time) {
        let per_set = self.translation.shape().units_per_set;
        let units = u64::from(self.translation.map.units());
        let to = (next + u64::from(per_set)).min(units);
        let mut unit = self.read_streams.pages(stream).range().1.max(next);
        if unit >= to {
            return;
        }
        while unit < to {
            let Some((set, die, within)) = self.in_nand(unit as u32) else {
                self.unwritten_ahead |= self.translation.map.find(unit as u32).slot == NONE;
                self.read_streams.pages(stream).put(unit, at);
                unit += 1;
                continue;
            };
            let whole = Pages {
                die,
                set: within,
                whole_set: Some(set),
                planes: self.nand.all_planes(),
            };
            let times = self.nand.read(whole, 1, 0, at);
            let slots = set * per_set..(set + 1) * per_set;
            let pages = self.read_streams.pages(stream);
            pages.put(unit, times.end);
            unit += 1;
            while unit < units && slots.contains(&self.translation.map.find(unit as u32).slot) {
                pages.put(unit, self.nand.read_more(whole, times.sensed));
                unit += 1;
            }
        }
        self.read_streams.pages_changed(stream);
    }
}
