//! Where loads at random have left data: in the order of the writes, not of the addresses.
//!
//! A drive writes a log, so a write lies on consecutive pages of consecutive dies, at a place that
//! has nothing to do with its address. After writes of b bytes at random over an area, each piece
//! of b bytes is whole, and pieces that are neighbours by address lie anywhere. The layout deals
//! addresses to dies; so each piece takes the place of another one, by a permutation of the area's
//! pieces that is drawn once and needs no table.
//!
//! Of an area that a load has written in part, a hash says which pieces it has. Those change places
//! among themselves: the permutation is followed until it comes back to one of them. Where pieces
//! were written into larger ones of an earlier load, what is left of the larger ones stays together:
//! the permutations are applied one after the other, the last load's first. Where they were written
//! over smaller ones, those move no more.

use crate::ssd::ids::{LogPlace, UnitId};
use crate::ssd::map::scattered::inverse;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The share of an area that was written all over, by 2^32.
pub(crate) const ALL: u64 = 1 << 32;
/// The largest piece that counts, 2 to this power in units: more lies on every die anyway.
pub(crate) const LARGEST_PIECE_BITS: u32 = 10;
/// Places that are kept, 2 to this power.
const RECENT_BITS: u32 = 6;
/// Odd numbers: a product with one, modulo a power of two, is a permutation.
const FACTORS: [u32; 3] = [0x9e37_79b1, 0x85eb_ca6b, 0xc2b2_ae35];
/// Modulo 2^64, and so modulo 2^32.
const INVERSES: [u32; 3] = [
    inverse(FACTORS[0] as u64) as u32,
    inverse(FACTORS[1] as u64) as u32,
    inverse(FACTORS[2] as u64) as u32,
];

/// A load, and what of an area it has written.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub(crate) struct Layer {
    /// Units of a piece: 2 to this power.
    pub(crate) piece_bits: u32,
    /// The first piece of its area, and how many they are; numbered from the drive's start.
    pub(crate) start: u32,
    pub(crate) pieces: u32,
    /// True if it wrote in the order of addresses.
    pub(crate) in_order: bool,
    /// The share of the pieces that it has written, by 2^32.
    pub(crate) written: u64,
    /// True if the area of another load ends within its own: data on either side of such an end are
    /// written at different rates, or were not all written, and do not change places.
    pub(crate) crossed: bool,
    /// Makes its permutation and its choice of pieces differ from those of others.
    pub(crate) key: u64,
}

/// Loads one after the other, of which one or more wrote at random.
#[derive(Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct LogOrder {
    layers: Vec<Layer>,
    #[serde(skip)]
    recent: Recent,
}

/// Units that were asked for not long ago, above their places: one write asks for its units several
/// times. One thread at a time uses a drive.
#[derive(Debug)]
struct Recent([AtomicU64; 1 << RECENT_BITS]);

impl Default for Recent {
    fn default() -> Recent {
        Recent(std::array::from_fn(|_| AtomicU64::new(u64::MAX)))
    }
}

impl Recent {
    #[inline]
    fn of(&self, unit: UnitId) -> &AtomicU64 {
        &self.0[(unit.number() & mask(RECENT_BITS)) as usize]
    }

    #[inline]
    fn get(&self, unit: UnitId) -> Option<LogPlace> {
        let pair = self.of(unit).load(Relaxed);
        ((pair >> 32) as u32 == unit.number()).then_some(LogPlace::new(pair as u32))
    }

    #[inline]
    fn set(&self, unit: UnitId, place: LogPlace) {
        let pair = u64::from(unit.number()) << 32 | u64::from(place.number());
        self.of(unit).store(pair, Relaxed);
    }
}

impl LogOrder {
    /// The outcome of these loads, in their order.
    pub(crate) fn new(layers: Vec<Layer>) -> LogOrder {
        LogOrder {
            layers,
            recent: Recent::default(),
        }
    }

    /// The loads that count.
    #[cfg(test)]
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// True if it is one of a drive of `units`.
    pub(crate) fn agrees(&self, units: u32) -> bool {
        self.layers.iter().all(|layer| {
            let end = u64::from(layer.start) + u64::from(layer.pieces);
            layer.piece_bits <= LARGEST_PIECE_BITS
                && layer.pieces > 0
                && layer.written <= ALL
                && end << layer.piece_bits <= u64::from(units)
        })
    }

    /// The unit in whose place in the order of addresses this one lies.
    #[inline]
    pub(crate) fn place(&self, unit: UnitId) -> LogPlace {
        if let Some(place) = self.recent.get(unit) {
            return place;
        }
        let layers = (0..self.layers.len()).rev();
        let place = LogPlace::new(self.follow_all(layers, unit.number(), Layer::permuted));
        self.recent.set(unit, place);
        place
    }

    /// Follows the permutations of loads one after the other.
    #[inline]
    fn follow_all(
        &self,
        layers: impl Iterator<Item = usize>,
        unit: u32,
        step: impl Fn(&Layer, u32, u32) -> u32,
    ) -> u32 {
        match self.layers.as_slice() {
            // The usual case: one load, which wrote all of its area.
            [layer] if layer.written == ALL && !layer.in_order => {
                if layer.covers(unit) {
                    layer.follow(unit, step, |_| true)
                } else {
                    unit
                }
            }
            _ => layers.fold(unit, |unit, at| self.follow(at, unit, &step)),
        }
    }

    /// The unit that lies in the place of this one in the order of addresses.
    #[inline]
    pub(crate) fn unit(&self, place: LogPlace) -> UnitId {
        let layers = 0..self.layers.len();
        let unit = UnitId::new(self.follow_all(layers, place.number(), Layer::restored));
        // Collection, which asks for it, moves it next.
        self.recent.set(unit, place);
        unit
    }

    /// Follows a load's permutation from a unit to the next one that may change places with it.
    #[inline]
    fn follow(&self, at: usize, unit: u32, step: impl Fn(&Layer, u32, u32) -> u32) -> u32 {
        let layer = &self.layers[at];
        if layer.in_order || !self.moves(at, unit) {
            return unit;
        }
        let from = unit & !mask(layer.piece_bits);
        let swaps = |first| self.moves(at, first) && (!layer.crossed || self.alike(first, from));
        layer.follow(unit, step, swaps)
    }

    /// True if a load has written this unit, and no later one that leaves nothing of its piece.
    #[inline]
    fn moves(&self, at: usize, unit: u32) -> bool {
        let layer = &self.layers[at];
        let mut later = self.layers[at + 1..].iter();
        layer.has(unit) && !later.any(|later| later.hides(layer) && later.has(unit))
    }

    /// True if both units belong to the same areas.
    #[cold]
    fn alike(&self, one: u32, other: u32) -> bool {
        let mut layers = self.layers.iter();
        layers.all(|layer| layer.covers(one) == layer.covers(other))
    }
}

impl Layer {
    /// Follows the permutation from a unit of the area to the next piece that changes places with
    /// its own: one of which `swaps` is true for the first unit.
    #[inline]
    fn follow(
        &self,
        unit: u32,
        step: impl Fn(&Layer, u32, u32) -> u32,
        swaps: impl Fn(u32) -> bool,
    ) -> u32 {
        let width = u32::BITS - (self.pieces - 1).leading_zeros();
        let mut piece = (unit >> self.piece_bits) - self.start;
        loop {
            piece = step(self, piece, width);
            if piece >= self.pieces {
                continue;
            }
            let first = (self.start + piece) << self.piece_bits;
            if swaps(first) {
                return first + (unit & mask(self.piece_bits));
            }
        }
    }

    /// True if the load has written this unit.
    #[inline]
    fn has(&self, unit: u32) -> bool {
        let written = || u64::from(hash(unit >> self.piece_bits, self.key)) < self.written;
        self.covers(unit) && (self.written == ALL || written())
    }

    /// True if this unit is one of its area.
    #[inline]
    fn covers(&self, unit: u32) -> bool {
        (unit >> self.piece_bits).wrapping_sub(self.start) < self.pieces
    }

    /// True if nothing is seen of an earlier load's pieces under its own.
    #[inline]
    fn hides(&self, earlier: &Layer) -> bool {
        self.in_order || self.piece_bits >= earlier.piece_bits
    }

    /// The next number of `width` bits in the load's permutation of these.
    #[inline]
    fn permuted(&self, number: u32, width: u32) -> u32 {
        let (mask, half) = (mask(width), width.div_ceil(2));
        let mut number = number;
        for (factor, key) in FACTORS.into_iter().zip(self.keys()) {
            number = (number ^ key) & mask;
            number ^= number >> half;
            number = number.wrapping_mul(factor) & mask;
        }
        number ^ number >> half
    }

    /// The number before: what `permuted` makes this one of.
    #[inline]
    fn restored(&self, number: u32, width: u32) -> u32 {
        let (mask, half) = (mask(width), width.div_ceil(2));
        let mut number = number ^ number >> half;
        for (factor, key) in INVERSES.into_iter().zip(self.keys()).rev() {
            number = number.wrapping_mul(factor) & mask;
            number ^= number >> half;
            number = (number ^ key) & mask;
        }
        number
    }

    #[inline]
    fn keys(&self) -> [u32; 3] {
        let key = self.key;
        [key as u32, (key >> 32) as u32, (key >> 16) as u32]
    }
}

#[inline]
fn mask(width: u32) -> u32 {
    ((1_u64 << width) - 1) as u32
}

/// 32 bits that look random (the end of MurmurHash3's 64-bit finalizer).
#[inline]
fn hash(number: u32, key: u64) -> u32 {
    let mut bits = u64::from(number) ^ key;
    for factor in [0xff51_afd7_ed55_8ccd_u64, 0xc4ce_b9fe_1a85_ec53] {
        bits = (bits ^ bits >> 33).wrapping_mul(factor);
    }
    (bits >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn layer(piece_bits: u32, pieces: u32, key: u64) -> Layer {
        Layer {
            piece_bits,
            start: 0,
            pieces,
            in_order: false,
            written: ALL,
            crossed: false,
            key,
        }
    }

    fn place(order: &LogOrder, unit: u32) -> u32 {
        order.place(UnitId::new(unit)).number()
    }

    proptest! {
        /// Whatever loads there were, each unit has one place, and none outside of their areas.
        #[test]
        fn units_change_places_among_themselves(
            drawn in prop::collection::vec(
                (0u32..6, 0u32..60, 1u32..60, 0u64..=ALL, any::<u64>(), any::<bool>()),
                1..5,
            ),
            crossed: bool,
        ) {
            let units = 120 << 5;
            let layers = drawn.into_iter().map(|(bits, start, pieces, written, key, all)| Layer {
                // In order: as large as the largest pieces.
                piece_bits: bits.min(5),
                start,
                in_order: bits == 5,
                written: if all { ALL } else { written },
                crossed,
                ..layer(bits, pieces, key)
            });
            let order = LogOrder::new(layers.collect());
            prop_assert!(order.agrees(units));
            let mut taken = vec![false; units as usize];
            for unit in UnitId::first(units) {
                let place = order.place(unit);
                prop_assert_eq!(order.unit(place), unit);
                prop_assert!(!std::mem::replace(&mut taken[place.index()], true));
                let unit = unit.number();
                let at_random = |layer: &Layer| layer.has(unit) && !layer.in_order;
                prop_assert!(place.number() == unit || order.layers.iter().any(at_random));
            }
        }
    }

    /// 32 units in pieces of two, of which a later load has left the first half in order.
    #[test]
    fn pieces_stay_whole_and_what_was_written_in_order_stays() {
        let in_order = Layer {
            in_order: true,
            ..layer(1, 8, 8)
        };
        let order = LogOrder::new(vec![layer(1, 16, 7), in_order]);
        let places: Vec<u32> = (0..40).map(|unit| place(&order, unit)).collect();
        assert!(places[..16].iter().copied().eq(0..16));
        assert!(places[32..].iter().copied().eq(32..40));
        for pair in places[16..32].chunks(2) {
            assert!(pair[0].is_multiple_of(2) && pair[1] == pair[0] + 1 && pair[0] >= 16);
        }
        assert!(places[16..32].iter().copied().ne(16..32));
    }

    /// A tenth of the pieces of two is written into pieces of sixteen, and the other way round.
    #[test]
    fn what_small_pieces_leave_of_large_ones_stays_together() {
        let tenth = |layer| Layer {
            written: ALL / 10,
            ..layer
        };
        let (large, small) = (layer(4, 1000, 7), layer(1, 8000, 8));
        let whole = |layers| {
            let order = LogOrder::new(layers);
            let next = |unit: &u32| place(&order, unit + 1) == place(&order, *unit) + 1;
            (0..15_999).filter(next).count() as f64 / 15_999.0
        };
        // Neighbours within a small piece: 1 of 2. Between two pieces of a large one, 7 of 16: both
        // are left with 0.9^2 = 0.81. Of small pieces under large ones a tenth of all is whole.
        let into = whole(vec![large, tenth(small)]);
        assert!((into - (0.5 + 7.0 / 16.0 * 0.81)).abs() < 0.01, "{into}");
        let over = whole(vec![small, tenth(large)]);
        assert!((over - (0.5 + 7.0 / 16.0 * 0.1)).abs() < 0.01, "{over}");
    }

    /// Neighbours that are spread over `bins` lie any number of bins apart, each as often as the
    /// others: chi-square, over many keys, for areas of any size.
    #[test]
    fn neighbours_lie_as_far_apart_as_by_chance() {
        let mut draws = raidlab_kernel::Stream::new(1, "test", "keys");
        for (pieces, bins) in [(4096, 25), (10_000, 25), (1 << 20, 32), (3_000_017, 100)] {
            let mut far = 0.0;
            for _ in 0..20 {
                let key = draws.bits();
                let order = LogOrder::new(vec![layer(0, pieces, key)]);
                let count = pieces.min(50_000) - 1;
                let mut distances = vec![0_u32; bins as usize];
                for unit in 0..count {
                    let [here, next] = [unit, unit + 1].map(|unit| place(&order, unit) % bins);
                    let apart = next + bins - here;
                    distances[(apart % bins) as usize] += 1;
                }
                let expected = f64::from(count) / f64::from(bins);
                let square = |&found: &u32| (f64::from(found) - expected).powi(2) / expected;
                let chi_square: f64 = distances.iter().map(square).sum();
                // Its mean is bins - 1, its deviation sqrt(2 (bins - 1)).
                let freedom = f64::from(bins - 1);
                far += (chi_square - freedom) / (2.0 * freedom).sqrt() / 20.0;
            }
            assert!(
                far.abs() < 4.0 / 20.0_f64.sqrt(),
                "{pieces} over {bins}: {far}"
            );
        }
    }
}
