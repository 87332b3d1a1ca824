//! The reference copy: which versions each sector of an array may hold. A write makes one version
//! of all its sectors. Versions are stored by pages of neighbours, each with its sectors there.

use crate::integrity::pages::{PAGE, Pages, has, marked};
use crate::integrity::sectors::sectors;
use crate::layout::Token;
use raidlab_io::ByteRange;
use raidlab_models::SECTOR;

/// A page with more versions drops those that were replaced before every read under way began.
const MOST_VERSIONS: usize = 256;

/// A version that sectors of a page may have.
#[derive(Clone, Copy, Debug)]
struct Version {
    /// A bit for each sector that has it.
    sectors: u64,
    /// The write that made it; 0 if none did.
    write: u64,
    /// The token of a version that no write made.
    token: Token,
    /// When it was acknowledged; none if not, or not yet.
    acknowledged: Option<u64>,
    /// When its write was over, acknowledged, refused or cut off; none if it is in flight.
    over: Option<u64>,
    /// When a later version replaced it; none if none has.
    replaced: Option<u64>,
}

impl Version {
    /// A version from before the run.
    fn initial(sectors: u64, token: Token) -> Version {
        Version {
            sectors,
            write: 0,
            token,
            acknowledged: Some(0),
            over: Some(0),
            replaced: None,
        }
    }

    fn token(&self, sector: u64) -> Token {
        match self.write {
            0 => self.token,
            write => Token::written(write, sector),
        }
    }

    /// True if a host's write made it and was acknowledged.
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
fn cut(range: ByteRange) -> impl Iterator<Item = (u64, u64)> {
    let sectors = sectors(range);
    (sectors.start / PAGE..sectors.end.div_ceil(PAGE)).map(move |page| {
        let first = sectors.start.saturating_sub(page * PAGE);
        let count = (sectors.end - page * PAGE).min(PAGE) - first;
        (page, u64::MAX >> (PAGE - count) << first)
    })
}

impl ReferenceCopy {
    /// The versions of a sector.
    fn versions(&self, sector: u64) -> impl Iterator<Item = &Version> {
        let all = self.0.get(sector).into_iter().flatten();
        all.filter(move |version| has(version.sectors, sector))
    }

    /// Those that no later one has replaced.
    fn current(&self, sector: u64) -> impl Iterator<Item = &Version> {
        self.versions(sector).filter(|v| v.replaced.is_none())
    }

    /// A write begins; before the first one there were zeros.
    pub fn begin(&mut self, write: u64, range: ByteRange) {
        for (page, sectors) in cut(range) {
            let versions = self.0.at(page * PAGE);
            let new = sectors & !written(versions);
            if new != 0 {
                versions.push(Version::initial(new, Token::UNWRITTEN));
            }
            versions.push(Version {
                sectors,
                write,
                token: Token::UNWRITTEN,
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
        range: ByteRange,
        acknowledged: bool,
        (now, oldest): (u64, u64),
    ) {
        for (page, sectors) in cut(range) {
            let versions = self.0.at(page * PAGE);
            if acknowledged {
                replace(versions, write, sectors, now);
            }
            if versions.len() > MOST_VERSIONS {
                versions.retain(|v| v.replaced.is_none_or(|at| at > oldest));
            }
            for version in versions.iter_mut().filter(|v| v.write == write) {
                version.over = Some(now);
                version.acknowledged = acknowledged.then_some(now);
            }
        }
    }

    /// Whether a token was right at any time since `began`.
    pub fn was_right(&self, sector: u64, token: Token, began: u64) -> bool {
        let mut versions = self.versions(sector).peekable();
        if versions.peek().is_none() {
            return token == Token::UNWRITTEN;
        }
        versions.any(|v| v.token(sector) == token && v.replaced.is_none_or(|at| at > began))
    }

    /// Whether a token is right now.
    pub fn is_right(&self, sector: u64, token: Token) -> bool {
        self.current(sector).any(|v| v.token(sector) == token)
    }

    /// Whether a token is that of any version that has not been dropped.
    pub fn has_version(&self, sector: u64, token: Token) -> bool {
        self.versions(sector).any(|v| v.token(sector) == token)
    }

    /// A token is right from now on, too, though it is not what was last acknowledged.
    pub fn accept(&mut self, sector: u64, token: Token) {
        if !self.is_right(sector, token) {
            let version = Version::initial(1 << (sector % PAGE), token);
            self.0.at(sector).push(version);
        }
    }

    /// The acknowledged writes that a sector should hold.
    pub fn acknowledged(&self, sector: u64) -> impl Iterator<Item = u64> + '_ {
        let current = self.current(sector);
        let acknowledged = current.filter(|version| version.is_acknowledged());
        acknowledged.map(|version| version.write)
    }

    /// Whether a sector was ever written.
    pub fn is_written(&self, sector: u64) -> bool {
        self.versions(sector).next().is_some()
    }

    /// Offsets of every sector that was ever written.
    pub fn written(&self) -> impl Iterator<Item = u64> + '_ {
        let all = self.0.iter();
        all.flat_map(|(first, versions)| {
            marked(first, written(versions)).map(|sector| sector * SECTOR)
        })
    }
}

/// A bit for each sector of a page that has a version.
fn written(versions: &[Version]) -> u64 {
    versions.iter().fold(0, |written, v| written | v.sectors)
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
        let sector = |n: u64| n * SECTOR;
        let found: Vec<_> = cut(ByteRange::new(sector(62), sector(67))).collect();
        assert_eq!(found, [(0, 0b11 << 62), (1, u64::MAX), (2, 1)]);
        assert_eq!(
            cut(ByteRange::new(0, sector(64))).collect::<Vec<_>>(),
            [(0, u64::MAX)]
        );
    }

    /// Of sectors 0 to 3 the last two are written again: a reader that began in between may get
    /// either version there, a later one the newer.
    #[test]
    fn a_write_replaces_what_it_covers() {
        let mut reference = ReferenceCopy::default();
        reference.begin(1, ByteRange::new(0, 4 * SECTOR));
        reference.end(1, ByteRange::new(0, 4 * SECTOR), true, (2, 2));
        reference.begin(3, ByteRange::new(2 * SECTOR, 2 * SECTOR));
        reference.end(3, ByteRange::new(2 * SECTOR, 2 * SECTOR), true, (5, 4));
        assert!(
            reference.is_right(1, Token::written(1, 1))
                && !reference.is_right(2, Token::written(1, 2))
        );
        assert!(
            reference.was_right(2, Token::written(1, 2), 4)
                && !reference.was_right(2, Token::written(1, 2), 5)
        );
        assert_eq!(reference.acknowledged(3).collect::<Vec<_>>(), [3]);
        assert_eq!(reference.written().collect::<Vec<_>>().len(), 4);
        assert!(reference.was_right(9, Token::UNWRITTEN, 1) && !reference.is_written(9));
    }
}
