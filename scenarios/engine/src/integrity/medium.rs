//! What a drive holds: on its medium, and in a cache that forgets it when the power fails.
//!
//! Every sector has a token that stands for its content. A write that a drive's volatile cache
//! has taken shows in what is read at once; the medium keeps the older content until the drive
//! has written the newer one there.

use crate::integrity::sectors::lbas;
use crate::integrity::tokens::Tokens;
use raidlab_kernel::Time;
use std::collections::{HashMap, VecDeque};

/// Sectors in flight from the cache to the medium, and when they are there.
#[derive(Debug)]
struct Settling {
    at: Time,
    sectors: Vec<(u64, u64)>,
}

/// The content of a drive.
#[derive(Debug, Default)]
pub(crate) struct Medium {
    /// What a read gets, by sector.
    content: Tokens,
    /// What the medium has of sectors whose content is newer in the cache.
    beneath: HashMap<u64, u64>,
    settling: VecDeque<Settling>,
}

impl Medium {
    /// What a read of a sector gets.
    pub fn read(&self, sector: u64) -> u64 {
        self.content.get(sector).unwrap_or(0)
    }

    /// A sector is written to the medium.
    pub fn write(&mut self, sector: u64, token: u64) {
        if !self.beneath.is_empty() {
            self.beneath.remove(&sector);
        }
        if token == 0 {
            // As if it had never been written: an SSD cache copies much of that.
            self.content.remove(sector);
        } else {
            self.content.insert(sector, token);
        }
    }

    /// The cache takes new content of a sector.
    pub fn hold(&mut self, sector: u64, token: u64) {
        let before = self.content.insert(sector, token);
        self.beneath.entry(sector).or_insert(before.unwrap_or(0));
    }

    /// What the cache holds of a range now is on the medium from `at` on.
    pub fn settles(&mut self, offset: u64, bytes: u64, at: Time, now: Time) {
        self.settle(now);
        let content = |sector| {
            self.beneath
                .contains_key(&sector)
                .then(|| self.read(sector))
        };
        let sectors: Vec<(u64, u64)> = lbas(offset, bytes)
            .filter_map(|sector| content(sector).map(|token| (sector, token)))
            .collect();
        if !sectors.is_empty() {
            let behind = self.settling.iter().rev().take_while(|s| s.at > at).count();
            let position = self.settling.len() - behind;
            self.settling.insert(position, Settling { at, sectors });
        }
    }

    /// What was to be on the medium by now is there.
    fn settle(&mut self, now: Time) {
        while self.settling.front().is_some_and(|first| first.at <= now) {
            let settled = self.settling.pop_front();
            for (sector, token) in settled.into_iter().flat_map(|settled| settled.sectors) {
                if self.read(sector) == token {
                    self.beneath.remove(&sector);
                } else if let Some(beneath) = self.beneath.get_mut(&sector) {
                    *beneath = token;
                }
            }
        }
    }

    /// The power fails: what only the cache had is lost. Gives the sectors whose older content is
    /// back, in ascending order.
    pub fn cut_power(&mut self, now: Time) -> Vec<u64> {
        self.settle(now);
        self.settling.clear();
        let mut older: Vec<u64> = Vec::with_capacity(self.beneath.len());
        for (sector, token) in self.beneath.drain() {
            if self.content.insert(sector, token) != Some(token) {
                older.push(sector);
            }
        }
        older.sort_unstable();
        older
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Time = |us| Time(us * 1000);

    #[test]
    fn what_only_the_cache_had_is_lost() {
        let mut medium = Medium::default();
        medium.write(7, 70);
        medium.hold(7, 71);
        medium.hold(8, 80);
        medium.settles(8 * 512, 512, US(50), US(10));
        assert_eq!((medium.read(7), medium.read(8)), (71, 80));
        assert_eq!(medium.cut_power(US(60)), [7]);
        assert_eq!((medium.read(7), medium.read(8)), (70, 80));
    }

    #[test]
    fn a_sector_written_again_while_it_settles_falls_back_to_what_has_settled() {
        let mut medium = Medium::default();
        medium.hold(3, 1);
        medium.settles(3 * 512, 512, US(20), US(0));
        medium.hold(3, 2);
        medium.settles(3 * 512, 512, US(90), US(30));
        assert_eq!(medium.cut_power(US(60)), [3]);
        assert_eq!(medium.read(3), 1);
    }
}
