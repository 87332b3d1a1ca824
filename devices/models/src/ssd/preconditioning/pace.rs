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
    /// What the next 1, 2, 4 ... victims free at the end of each piece.
    ahead: VecDeque<Box<[u32]>>,
    open: Piece,
    before: Piece,
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
    /// Of successive logarithms that are alike over `alike` pieces; a run has `followers` of them.
    fn of(logarithms: &[f64], alike: usize, followers: f64) -> PastScatter {
        let count = logarithms.len() as f64;
        let mean = logarithms.iter().sum::<f64>() / count;
        let squares: f64 = logarithms.iter().map(|x| (x - mean) * (x - mean)).sum();
        let independent = KEPT as f64 / alike.max(CORRELATED) as f64;
        let variance = squares / count * independent / (independent - 1.0);
        PastScatter {
            deviation: (variance / followers).sqrt(),
            degrees: independent - 1.0,
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

    /// Counts have come so far; `ahead` gives what the next 1, 2, 4 ... victims free.
    pub(super) fn look(&mut self, counts: Counts, ahead: impl FnOnce() -> Box<[u32]>) {
        if self.each == 0 {
            return;
        }
        self.open.host += counts.host - self.before.host;
        self.open.moved += counts.moved - self.before.moved;
        self.resume(counts);
        if self.open.host >= self.each {
            if self.pieces.len() == KEPT {
                self.pieces.pop_front();
                self.ahead.pop_front();
            }
            self.ahead.push_back(ahead());
            self.pieces.push_back(std::mem::take(&mut self.open));
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
        let windows = pieces.windows(length).map(|window| {
            let host: u64 = window.iter().map(|piece| piece.host).sum();
            let moved: u64 = window.iter().map(|piece| piece.moved).sum();
            (1.0 + moved as f64 / host as f64).ln()
        });
        let windows: Vec<f64> = windows.collect();
        let followers = (wanted / longest as f64).max(1.0);
        PastScatter::of(&windows, length, followers)
    }

    /// The scatter of the victims that make room for `units`; none beyond those that were looked at.
    ///
    /// k victims of n units make room for the f that are no longer valid: `ln(k n / f)` differs as
    /// `ln f` does.
    fn scatter_ahead(&self, units: f64) -> Option<PastScatter> {
        let lengths = self.ahead.iter().map(|freed| freed.len()).min()?;
        let mean = |at: usize| {
            let freed = self.ahead.iter().map(|freed| f64::from(freed[at]));
            freed.sum::<f64>() / self.ahead.len() as f64
        };
        let at = (0..lengths).find(|&at| mean(at) >= units)?;
        let before = at.saturating_sub(1);
        let part = (units - mean(before)) / (mean(at) - mean(before)).max(1.0);
        let logarithms = self.ahead.iter().map(|freed| {
            let [less, more] = [before, at].map(|at| f64::from(freed[at]));
            (less + part.max(0.0) * (more - less)).max(1.0).ln()
        });
        let logarithms: Vec<f64> = logarithms.collect();
        Some(PastScatter::of(&logarithms, CORRELATED, 1.0))
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
            pace.look(counts, Box::default);
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
            still.look(counts, Box::default);
        }
        assert_eq!(still.scatter(10.0), None);
    }
}
