//! How much collection has to do from one time to the next, and so how far drives with other
//! histories of the same kind differ.
//!
//! All dies of a drive begin as the simulated tile ended. For a while they meet the same victims, so
//! the write amplification of a run that is short against the drive is that of one moment of the
//! tile's life. How such moments differ the history itself shows: it goes on for some rounds after
//! nothing changes any more.

use crate::ssd::translation::shape::Counts;
use std::collections::VecDeque;

/// Pieces into which a round of a load is divided.
const PIECES: u64 = 128;
/// Pieces that are kept: the last two rounds.
const KEPT: usize = 2 * PIECES as usize;
/// Pieces that the shortest window has. Within a sixtieth of a round a tile's victims vary by chance
/// in each die, and the mean of many dies does not show that.
const SHORTEST: usize = 2;
/// Pieces after which the pace is another one: a twentieth of a round (measured).
const CORRELATED: usize = 7;
/// Windows that a scatter is of, at the least.
const WINDOWS: usize = 16;
/// Independent ends that a scatter is of, at the least.
const LEAST_ENDS: f64 = 8.0;

/// The host's units, and those that were moved for them.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    host: u64,
    moved: u64,
}

/// Write amplification over the last rounds of a load that has settled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    /// Units of the host in a piece; 0 before a load that settles.
    each: u64,
    pieces: VecDeque<Piece>,
    /// Searches for an end, one from the end of each piece on: blocks of the host's that each has
    /// tried. The oldest is the first.
    searches: VecDeque<u32>,
    /// What the next 1, 2, 4 ... victims free where these searches end.
    ends: VecDeque<End>,
    open: Piece,
    before: Piece,
}

/// A place where the history could have ended.
#[derive(Clone, Debug)]
struct End {
    /// Units that the next 1, 2, 4 ... victims free.
    freed: Box<[u32]>,
    /// Searches that end here.
    found: usize,
}

/// How far write amplification differs between histories.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PastScatter {
    /// Standard deviation of its logarithm.
    pub deviation: f64,
    /// Degrees of freedom with which that is known.
    pub degrees: f64,
}

impl PastScatter {
    /// Of logarithms and how many pieces each stands for, of which successive ones are alike over
    /// `alike` pieces; at most `most` are independent, and a run has `followers` of them.
    ///
    /// Where few of them make most of the variance it is known with fewer degrees: those of a sum of
    /// squares of unequal parts (Satterthwaite, 1946), `3 (Σ v)² / Σ v² - 2` where each part `v` has
    /// one degree itself, as the mean of `v²` is then three times its variance's square.
    fn of(logarithms: &[(f64, f64)], alike: usize, most: f64, followers: f64) -> PastScatter {
        let count: f64 = logarithms.iter().map(|(_, pieces)| pieces).sum();
        let mean = logarithms.iter().map(|(x, pieces)| x * pieces).sum::<f64>() / count;
        let independent = (count / alike as f64).min(most);
        let (mut squares, mut of_parts, mut part, mut long) = (0.0, 0.0, 0.0, 0.0);
        for (x, pieces) in logarithms {
            part += (x - mean) * (x - mean) * pieces;
            long += pieces;
            if long >= alike as f64 {
                squares += part;
                of_parts += part * part;
                (part, long) = (0.0, 0.0);
            }
        }
        let unequal = 3.0 * squares * squares / of_parts.max(f64::MIN_POSITIVE) - 2.0;
        let variance = (squares + part) / count * independent / (independent - 1.0);
        PastScatter {
            deviation: (variance / followers).sqrt(),
            degrees: unequal.clamp(1.0, independent - 1.0),
        }
    }
}

impl Pace {
    /// Nothing yet, of a load whose rounds have `units` units.
    pub(super) fn of_rounds(units: u64) -> Pace {
        Pace {
            each: (units / PIECES).max(1),
            ..Pace::default()
        }
    }

    /// Units of the host in a piece; 0 if none are kept.
    pub(super) fn piece_units(&self) -> u64 {
        self.each
    }

    /// Counts go on from here: they may have begun anew.
    pub(super) fn resume(&mut self, counts: Counts) {
        self.before = Piece {
            host: counts.host,
            moved: counts.moved,
        };
    }

    /// Units of the host until the piece is over; none are kept of a load that does not settle.
    pub(super) fn left_of_piece(&self) -> Option<u64> {
        (self.each > 0).then(|| self.each.saturating_sub(self.open.host).max(1))
    }

    /// Counts have come so far.
    pub(super) fn look(&mut self, counts: Counts) {
        if self.each == 0 {
            return;
        }
        self.open.host += counts.host - self.before.host;
        self.open.moved += counts.moved - self.before.moved;
        self.resume(counts);
        if self.open.host >= self.each {
            if self.pieces.len() == KEPT {
                self.pieces.pop_front();
            }
            self.pieces.push_back(std::mem::take(&mut self.open));
            self.searches.push_back(0);
        }
    }

    /// A block of the host's is full: searches for which that is the end are over. `ends` says so of
    /// one that has tried this number of blocks, `freed` what the next 1, 2, 4 ... victims free.
    pub(super) fn block_is_full(
        &mut self,
        ends: impl Fn(u32) -> bool,
        freed: impl FnOnce() -> Box<[u32]>,
    ) {
        self.searches.iter_mut().for_each(|tried| *tried += 1);
        let found = self.searches.iter().filter(|&&tried| ends(tried)).count();
        if found == 0 {
            return;
        }
        self.searches.drain(..found);
        let freed = freed();
        self.ends.push_back(End { freed, found });
        let kept: usize = self.ends.iter().map(|end| end.found).sum();
        if let Some(oldest) = self.ends.front_mut().filter(|_| kept > KEPT) {
            oldest.found = oldest.found.saturating_sub(kept - KEPT);
            if oldest.found == 0 {
                self.ends.pop_front();
            }
        }
    }

    /// How far write amplification over `units` of the host on a tile, from the begin of a run on,
    /// differs between histories; none if nothing was moved or too little is known.
    ///
    /// The first victims decide it for a short run, as all tiles meet the same ones; where in a
    /// block's life the run begins does as well, which windows of the history show. The wider counts.
    pub(crate) fn scatter(&self, units: f64) -> Option<PastScatter> {
        if self.pieces.len() < KEPT || self.pieces.iter().all(|piece| piece.moved == 0) {
            return None;
        }
        let windows = self.scatter_of_windows(units);
        let ahead = self.scatter_ahead(units);
        Some(
            ahead
                .filter(|it| it.deviation > windows.deviation)
                .unwrap_or(windows),
        )
    }

    /// The scatter of windows of this length. Beyond a sixteenth of what is known windows follow each
    /// other independently (measured: their correlation is gone after a twentieth of a round), so
    /// the variance falls with their number.
    fn scatter_of_windows(&self, units: f64) -> PastScatter {
        let wanted = units / self.each as f64;
        let longest = KEPT / WINDOWS;
        let length = (wanted.ceil() as usize).clamp(SHORTEST, longest);
        let pieces: Vec<Piece> = self.pieces.iter().copied().collect();
        let each = KEPT as f64 / (KEPT + 1 - length) as f64;
        let windows = pieces.windows(length).map(|window| {
            let host: u64 = window.iter().map(|piece| piece.host).sum();
            let moved: u64 = window.iter().map(|piece| piece.moved).sum();
            ((1.0 + moved as f64 / host as f64).ln(), each)
        });
        let windows: Vec<(f64, f64)> = windows.collect();
        let followers = (wanted / longest as f64).max(1.0);
        PastScatter::of(&windows, length.max(CORRELATED), f64::INFINITY, followers)
    }

    /// The scatter of the victims that make room for `units`; none beyond those that were looked at.
    ///
    /// k victims of n units make room for the f that are no longer valid: `ln(k n / f)` differs as
    /// `ln f` does. A history does not end anywhere, but where the host's and collection's blocks are
    /// full, and there victims differ more than on average; so only such places count.
    fn scatter_ahead(&self, units: f64) -> Option<PastScatter> {
        let lengths = self.ends.iter().map(|end| end.freed.len()).min()?;
        let count: f64 = self.ends.iter().map(|end| end.found as f64).sum();
        let mean = |at: usize| {
            let freed = |end: &End| f64::from(end.freed[at]) * end.found as f64;
            self.ends.iter().map(freed).sum::<f64>() / count
        };
        let at = (0..lengths).find(|&at| mean(at) >= units)?;
        let before = at.saturating_sub(1);
        let part = (units - mean(before)) / (mean(at) - mean(before)).max(1.0);
        let logarithms = self.ends.iter().map(|end| {
            let [less, more] = [before, at].map(|at| f64::from(end.freed[at]));
            let freed = less + part.max(0.0) * (more - less);
            (freed.max(1.0).ln(), end.found as f64)
        });
        let logarithms: Vec<(f64, f64)> = logarithms.collect();
        let most = logarithms.len() as f64;
        (most >= LEAST_ENDS).then(|| PastScatter::of(&logarithms, CORRELATED, most, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rounds of 1280 units; of each piece of ten the drive moves ten, twice as much in every
    /// second run of sixteen pieces.
    fn alternating() -> Pace {
        let mut pace = Pace::of_rounds(1280);
        let mut counts = Counts::default();
        for piece in 0..256 {
            counts.host += 10;
            counts.moved += if piece / 16 % 2 == 0 { 10 } else { 20 };
            pace.look(counts);
        }
        pace
    }

    /// By hand: write amplification is 2 or 3. Windows of two pieces are one or the other, but for
    /// one of sixteen in which it changes: `ln 3 - ln 2` apart, so the deviation is near 0.2027.
    /// Of 256 pieces, of which seven are alike, 35.57 degrees are left.
    #[test]
    fn the_scatter_is_that_of_windows() {
        let found = alternating().scatter(1.0).unwrap();
        assert!((found.deviation - 0.2027).abs() < 0.012, "{found:?}");
        assert!((found.degrees - 35.57).abs() < 0.01, "{found:?}");
        assert_eq!(alternating().scatter(20.0), alternating().scatter(5.0));
    }

    /// By hand: around a mean of 0 the squares are 15 times 1 and once 225. Their sum is 240, so the
    /// variance is 240 / 15; 3 * 240² / (225² + 15) - 2 = 1.41 degrees, where 16 alike have 15.
    #[test]
    fn few_that_make_most_of_the_variance_are_few_degrees() {
        let unequal: Vec<_> = (0..16)
            .map(|at| (if at == 4 { 15.0 } else { -1.0 }, 1.0))
            .collect();
        let found = PastScatter::of(&unequal, 1, f64::INFINITY, 1.0);
        assert!((found.deviation - 4.0).abs() < 1e-12, "{found:?}");
        assert!((found.degrees - 1.412).abs() < 0.001, "{found:?}");
        let alike: Vec<_> = (0..16).map(|at| (f64::from(at % 2), 1.0)).collect();
        let found = PastScatter::of(&alike, 1, f64::INFINITY, 1.0);
        assert!((found.degrees - 15.0).abs() < 1e-12, "{found:?}");
    }

    /// Two pieces end a block apart, and each search takes three blocks: the first ends with block 2,
    /// the second with block 3.
    #[test]
    fn each_piece_searches_for_an_end_of_its_own() {
        let mut pace = Pace::of_rounds(1280);
        let mut counts = Counts::default();
        for block in 0..4 {
            if block < 2 {
                counts.host += 10;
                pace.look(counts);
            }
            pace.block_is_full(|tried| tried >= 3, || Box::new([block]));
        }
        let found: Vec<_> = pace
            .ends
            .iter()
            .map(|end| (end.freed[0], end.found))
            .collect();
        assert_eq!(found, [(2, 1), (3, 1)]);
    }

    /// Windows of four times sixteen pieces: half the deviation of sixteen.
    #[test]
    fn beyond_the_longest_window_variance_falls_with_the_length() {
        let pace = alternating();
        let (sixteen, more) = (pace.scatter(160.0).unwrap(), pace.scatter(640.0).unwrap());
        assert!((more.deviation / sixteen.deviation - 0.5).abs() < 1e-9);
    }

    #[test]
    fn nothing_moved_or_too_few_pieces_say_nothing() {
        assert_eq!(Pace::default().scatter(10.0), None);
        let mut still = Pace::of_rounds(1280);
        let mut counts = Counts::default();
        for _ in 0..256 {
            assert_eq!(still.scatter(10.0), None);
            counts.host += 10;
            still.look(counts);
        }
        assert_eq!(still.scatter(10.0), None);
    }
}
