//! The content of a drive: its medium, and a volatile cache that a power failure empties.
//!
//! Every sector has a token that stands for its content. A write in the volatile cache is visible
//! to reads at once. The medium has the older content until the drive has written back the newer
//! one.

use crate::integrity::sectors::sectors;
use crate::integrity::tokens::Tokens;
use crate::layout::Token;
use raidlab_io::ByteRange;
use raidlab_kernel::Time;
use std::collections::{HashMap, VecDeque};

/// Sectors that the drive writes back, each with its token, and when they are on the medium.
#[derive(Debug)]
struct WriteBack {
    at: Time,
    sectors: Vec<(u64, Token)>,
}

/// The content of a drive.
#[derive(Debug, Default)]
pub(crate) struct Medium {
    /// What a read gets, by sector.
    content: Tokens,
    /// What the medium has of sectors whose content is newer in the cache.
    on_medium: HashMap<u64, Token>,
    write_backs: VecDeque<WriteBack>,
}

impl Medium {
    /// What a read of a sector gets.
    pub fn read(&self, sector: u64) -> Token {
        self.content.get(sector).unwrap_or_default()
    }

    /// A sector is written to the medium.
    pub fn write(&mut self, sector: u64, token: Token) {
        if !self.on_medium.is_empty() {
            self.on_medium.remove(&sector);
        }
        if token == Token::UNWRITTEN {
            // As if it had never been written: an SSD cache copies many such sectors.
            self.content.remove(sector);
        } else {
            self.content.insert(sector, token);
        }
    }

    /// The cache takes new content of a sector.
    pub fn cache(&mut self, sector: u64, token: Token) {
        let before = self.content.insert(sector, token);
        self.on_medium
            .entry(sector)
            .or_insert(before.unwrap_or_default());
    }

    /// The cache's present content of a range is on the medium from `at` on.
    pub fn write_back(&mut self, range: ByteRange, at: Time, now: Time) {
        self.end_write_backs(now);
        let cached = |sector| {
            self.on_medium
                .contains_key(&sector)
                .then(|| self.read(sector))
        };
        let sectors: Vec<(u64, Token)> = sectors(range)
            .filter_map(|sector| cached(sector).map(|token| (sector, token)))
            .collect();
        if !sectors.is_empty() {
            let all = self.write_backs.iter().rev();
            let later = all.take_while(|write| write.at > at).count();
            let position = self.write_backs.len() - later;
            self.write_backs.insert(position, WriteBack { at, sectors });
        }
    }

    /// Write-backs that end by now have reached the medium.
    fn end_write_backs(&mut self, now: Time) {
        while self
            .write_backs
            .front()
            .is_some_and(|first| first.at <= now)
        {
            let ended = self.write_backs.pop_front();
            for (sector, token) in ended.into_iter().flat_map(|write| write.sectors) {
                if self.read(sector) == token {
                    self.on_medium.remove(&sector);
                } else if let Some(on_medium) = self.on_medium.get_mut(&sector) {
                    *on_medium = token;
                }
            }
        }
    }

    /// The power fails: what only the cache had is lost. Returns the sectors whose older content is
    /// back, in ascending order.
    pub fn lose_power(&mut self, now: Time) -> Vec<u64> {
        self.end_write_backs(now);
        self.write_backs.clear();
        let mut older: Vec<u64> = Vec::with_capacity(self.on_medium.len());
        for (sector, token) in self.on_medium.drain() {
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
    const OLD: Token = Token::new(1);
    const NEW: Token = Token::new(2);

    #[test]
    fn what_only_the_cache_had_is_lost() {
        let mut medium = Medium::default();
        medium.write(7, OLD);
        medium.cache(7, NEW);
        medium.cache(8, NEW);
        medium.write_back(ByteRange::new(8 * 512, 512), US(50), US(10));
        assert_eq!((medium.read(7), medium.read(8)), (NEW, NEW));
        assert_eq!(medium.lose_power(US(60)), [7]);
        assert_eq!((medium.read(7), medium.read(8)), (OLD, NEW));
    }

    #[test]
    fn a_sector_written_again_during_its_write_back_falls_back_to_what_was_written_back() {
        let mut medium = Medium::default();
        medium.cache(3, OLD);
        medium.write_back(ByteRange::new(3 * 512, 512), US(20), US(0));
        medium.cache(3, NEW);
        medium.write_back(ByteRange::new(3 * 512, 512), US(90), US(30));
        assert_eq!(medium.lose_power(US(60)), [3]);
        assert_eq!(medium.read(3), OLD);
    }
}
