//! The reference copy: the versions that each sector of an array may have. A write makes one
//! version of all its sectors. A page of neighbouring sectors stores each version together with
//! the sectors that have it.

use crate::integrity::pages::{PAGE, Pages, has, sectors};
use crate::integrity::sectors::{TOKEN_BYTES, lbas, token};

/// Above this number of versions a page forgets those that were replaced before every read in
/// flight began.
const REMEMBERED: usize = 256;

/// A version that sectors of a page may have.
#[derive(Clone, Copy, Debug)]
struct Version {
    /// A bit for each sector that has it.
    sectors: u64,
    /// The write whose it is; 0 if it is none's.
    write: u64,
    /// The token of one that is no write's.
    token: u64,
    /// When it was acknowledged; none if not, or not yet.
    acknowledged: Option<u64>,
    /// When its write was over, acknowledged, refused or cut off; none if it is in flight.
    over: Option<u64>,
    /// When a later version replaced it; none if none has.
    replaced: Option<u64>,
}

impl Version {
    /// One that was there from the beginning.
    fn of_old(sectors: u64, token: u64) -> Version {
        Version {
            sectors,
            write: 0,
            token,
            acknowledged: Some(0),
            over: Some(0),
            replaced: None,
        }
    }

    fn token(&self, lba: u64) -> u64 {
        match self.write {
            0 => self.token,
            write => token(write, lba),
        }
    }

    /// True if a host was acknowledged that it is written.
    fn is_acknowledged(&self) -> bool {
        self.acknowledged.is_some_and(|at| at > 0)
    }
}

/// The versions of one array's sectors.
#[derive(Debug)]
pub(crate) struct ReferenceCopy(Pages<Vec<Version>>);

impl Default for ReferenceCopy {
    fn default() -> ReferenceCopy {
        ReferenceCopy(Pages::with_capacity(64))
    }
}

/// The pages of a range, each with a bit for each of its sectors in there.
fn cut(offset: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let sectors = lbas(offset, bytes);
    (sectors.start / PAGE..sectors.end.div_ceil(PAGE)).map(move |page| {
        let first = sectors.start.saturating_sub(page * PAGE);
        let count = (sectors.end - page * PAGE).min(PAGE) - first;
        (page, u64::MAX >> (PAGE - count) << first)
    })
}

impl ReferenceCopy {
    /// The versions of a sector.
    fn versions(&self, lba: u64) -> impl Iterator<Item = &Version> {
        let all = self.0.get(lba).into_iter().flatten();
        all.filter(move |version| has(version.sectors, lba))
    }

    /// Those that no later one has replaced.
    fn current(&self, lba: u64) -> impl Iterator<Item = &Version> {
        self.versions(lba).filter(|v| v.replaced.is_none())
    }

    /// A write begins; before the first one there were zeros.
    pub fn begin(&mut self, write: u64, offset: u64, bytes: u64) {
        for (page, sectors) in cut(offset, bytes) {
            let versions = self.0.at(page * PAGE);
            let unwritten = sectors & !written_sectors(versions);
            if unwritten != 0 {
                versions.push(Version::of_old(unwritten, 0));
            }
            versions.push(Version {
                sectors,
                write,
                token: 0,
                acknowledged: None,
                over: None,
                replaced: None,
            });
        }
    }

    /// A write is over at `now`; acknowledged, it replaces what was over before it began. Reads in
    /// flight began at `oldest` or later.
    pub fn end(
        &mut self,
        write: u64,
        (offset, bytes): (u64, u64),
        acknowledged: bool,
        (now, oldest): (u64, u64),
    ) {
        for (page, sectors) in cut(offset, bytes) {
            let versions = self.0.at(page * PAGE);
            if acknowledged {
                replace(versions, write, sectors, now);
            }
            if versions.len() > REMEMBERED {
                versions.retain(|v| v.replaced.is_none_or(|at| at > oldest));
            }
            for version in versions.iter_mut().filter(|v| v.write == write) {
                version.over = Some(now);
                version.acknowledged = acknowledged.then_some(now);
            }
        }
    }

    /// Whether a token was right at any time since `began`.
    pub fn was_right(&self, lba: u64, token: u64, began: u64) -> bool {
        let mut versions = self.versions(lba).peekable();
        if versions.peek().is_none() {
            return token == 0;
        }
        versions.any(|v| v.token(lba) == token && v.replaced.is_none_or(|at| at > began))
    }

    /// Whether a token is right now.
    pub fn is_right(&self, lba: u64, token: u64) -> bool {
        self.current(lba).any(|v| v.token(lba) == token)
    }

    /// Whether a token has been right at some time that is remembered.
    pub fn remembers(&self, lba: u64, token: u64) -> bool {
        self.versions(lba).any(|v| v.token(lba) == token)
    }

    /// A token is right from now on, too, whatever was lost.
    pub fn admit(&mut self, lba: u64, token: u64) {
        if !self.is_right(lba, token) {
            let version = Version::of_old(1 << (lba % PAGE), token);
            self.0.at(lba).push(version);
        }
    }

    /// The acknowledged writes that a sector should hold.
    pub fn acknowledged(&self, lba: u64) -> impl Iterator<Item = u64> + '_ {
        let acknowledged = self
            .current(lba)
            .filter(|version| version.is_acknowledged());
        acknowledged.map(|version| version.write)
    }

    /// Whether a sector was ever written.
    pub fn knows(&self, lba: u64) -> bool {
        self.versions(lba).next().is_some()
    }

    /// Offsets of every sector that was ever written.
    pub fn written(&self) -> impl Iterator<Item = u64> + '_ {
        let all = self.0.iter();
        all.flat_map(|(first, versions)| {
            sectors(first, written_sectors(versions)).map(|lba| lba * TOKEN_BYTES)
        })
    }
}

/// A bit for each sector of a page that has a version.
fn written_sectors(versions: &[Version]) -> u64 {
    versions.iter().fold(0, |all, v| all | v.sectors)
}

/// Versions that were over before a write began are replaced by it in its sectors.
fn replace(versions: &mut Vec<Version>, write: u64, sectors: u64, now: u64) {
    for at in 0..versions.len() {
        let version = &mut versions[at];
        let over = version.over.is_some_and(|at| at <= write) && version.replaced.is_none();
        let here = version.sectors & sectors;
        if !over || here == 0 {
            continue;
        }
        let mut replaced = *version;
        (replaced.sectors, replaced.replaced) = (here, Some(now));
        version.sectors &= !sectors;
        if version.sectors == 0 {
            *version = replaced;
        } else {
            versions.push(replaced);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_at_pages() {
        let sector = |n: u64| n * TOKEN_BYTES;
        let found: Vec<_> = cut(sector(62), sector(67)).collect();
        assert_eq!(found, [(0, 0b11 << 62), (1, u64::MAX), (2, 1)]);
        assert_eq!(cut(0, sector(64)).collect::<Vec<_>>(), [(0, u64::MAX)]);
    }

    /// Of sectors 0 to 3 the last two are written again: a reader that began in between may get
    /// either version there, a later one the newer.
    #[test]
    fn a_write_replaces_what_it_covers() {
        let mut reference = ReferenceCopy::default();
        reference.begin(1, 0, 4 * TOKEN_BYTES);
        reference.end(1, (0, 4 * TOKEN_BYTES), true, (2, 2));
        reference.begin(3, 2 * TOKEN_BYTES, 2 * TOKEN_BYTES);
        reference.end(3, (2 * TOKEN_BYTES, 2 * TOKEN_BYTES), true, (5, 4));
        assert!(reference.is_right(1, token(1, 1)) && !reference.is_right(2, token(1, 2)));
        assert!(reference.was_right(2, token(1, 2), 4) && !reference.was_right(2, token(1, 2), 5));
        assert_eq!(reference.acknowledged(3).collect::<Vec<_>>(), [3]);
        assert_eq!(reference.written().collect::<Vec<_>>().len(), 4);
        assert!(reference.was_right(9, 0, 1) && !reference.knows(9));
    }
}
