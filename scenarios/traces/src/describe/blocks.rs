//! Which blocks are accessed how often, and how soon again.
//!
//! A cache of n blocks that forgets the one that was used longest ago holds a block if fewer than n
//! others were accessed since (Mattson et al., Evaluation techniques for storage hierarchies, 1970).
//! Blocks are sampled by a hash of their address, so that all accesses to a block count or none
//! does; distances are divided by the share that is sampled. The share falls whenever more blocks
//! are followed than there is space for (SHARDS with a fixed size, Waldspurger et al., FAST 2015).
//! While all fit, everything is exact.

use crate::describe::fenwick::Fenwick;
use crate::requests::Request;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Bytes of a block.
pub(crate) const BLOCK: u64 = 4096;
/// Distances are counted in buckets of 2^5 = 32 a doubling, 3 % wide at most.
const FINE: u32 = 5;
/// Shares of the space at which the hot-spot curve is given.
const SHARES: [f64; 11] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0,
];

/// A point of the hot-spot curve: share of the space, share of the accesses.
pub type HotSpot = (f64, f64);
/// A point of the miss-ratio curve: bytes of the cache, share of accesses that miss.
pub type MissRatio = (u64, f64);

/// Keys are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, key: u64) {
        // The table looks at the upper bits too, of which sampled hashes have few.
        self.0 = key.rotate_left(32) ^ key;
    }
}

#[derive(Clone, Copy)]
struct Block {
    /// Where its last access stands among all blocks' last accesses.
    place: u32,
    accesses: u32,
    written: bool,
}

/// Accesses to blocks.
pub struct Blocks {
    most: usize,
    followed: HashMap<u64, Block, BuildHasherDefault<AsItIs>>,
    /// The hashes, the largest on top: it leaves first.
    hashes: BinaryHeap<u64>,
    /// Hashes from here on are not sampled.
    threshold: u128,
    last: Fenwick,
    next_place: usize,
    /// Accesses to sampled blocks by distance, each for as many as it stands for.
    distances: Vec<f64>,
    first: f64,
    /// All accesses, sampled or not.
    accesses: u64,
}

/// Mixes a block's number so that every bit of the result depends on all (the finaliser of
/// SplitMix64, Steele et al. 2014); no two numbers have the same.
fn hash(block: u64) -> u64 {
    let mut mixed = block.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The bucket of a distance.
fn bucket(distance: u64) -> usize {
    let bits = distance.checked_ilog2().unwrap_or(0);
    if bits < FINE {
        return distance as usize;
    }
    let above = bits - FINE;
    ((u64::from(above) << FINE) + (distance >> above)) as usize
}

/// The least distance of the next bucket: blocks of a cache that hits all of this one.
fn end_of(bucket: usize) -> u64 {
    let next = bucket as u64 + 1;
    let above = (next >> FINE).saturating_sub(1);
    if above == 0 {
        return next;
    }
    (next - (above << FINE)) << above
}

impl Blocks {
    /// At most `most` blocks are followed.
    pub(super) fn new(most: usize) -> Blocks {
        Blocks {
            most,
            followed: HashMap::default(),
            hashes: BinaryHeap::new(),
            threshold: 1 << 64,
            last: Fenwick::new(4 * most),
            next_place: 0,
            distances: Vec::new(),
            first: 0.0,
            accesses: 0,
        }
    }

    /// Counts a read or a write.
    pub(super) fn add(&mut self, request: &Request) {
        let first = request.offset / BLOCK;
        let end = (request.offset + request.bytes).div_ceil(BLOCK);
        self.accesses += end - first;
        for block in first..end {
            let hash = hash(block);
            if u128::from(hash) < self.threshold {
                self.access(hash, request.op.is_write());
            }
        }
    }

    fn access(&mut self, hash: u64, write: bool) {
        let stands_for = 1.0 / self.sampled_share();
        if self.next_place == self.last.places() {
            self.renumber();
        }
        let place = self.next_place as u32;
        self.next_place += 1;
        self.last.mark(place as usize);
        if let Some(block) = self.followed.get_mut(&hash) {
            let before = std::mem::replace(&mut block.place, place) as usize;
            block.accesses += 1;
            block.written |= write;
            // Marked are the last accesses of all blocks, and this one.
            let since = self.followed.len() as u32 - self.last.up_to(before);
            self.last.unmark(before);
            let at = bucket((f64::from(since) * stands_for) as u64);
            if at >= self.distances.len() {
                self.distances.resize(at + 1, 0.0);
            }
            self.distances[at] += stands_for;
            return;
        }
        self.first += stands_for;
        let block = Block {
            place,
            accesses: 1,
            written: write,
        };
        self.followed.insert(hash, block);
        self.hashes.push(hash);
        while self.hashes.len() > self.most {
            let Some(largest) = self.hashes.pop() else {
                break;
            };
            self.threshold = largest.into();
            if let Some(gone) = self.followed.remove(&largest) {
                self.last.unmark(gone.place as usize);
            }
        }
    }

    /// Places are taken anew, in the same order.
    #[cold]
    fn renumber(&mut self) {
        let mut all: Vec<&mut Block> = self.followed.values_mut().collect();
        all.sort_unstable_by_key(|block| block.place);
        self.last.clear();
        for (place, block) in all.iter_mut().enumerate() {
            block.place = place as u32;
            self.last.mark(place);
        }
        self.next_place = all.len();
    }

    pub(super) fn sampled_share(&self) -> f64 {
        self.threshold as f64 / 18_446_744_073_709_551_616.0
    }

    pub(super) fn footprint_bytes(&self) -> f64 {
        self.followed.len() as f64 / self.sampled_share() * BLOCK as f64
    }

    pub(super) fn written_bytes(&self) -> f64 {
        let written = self.followed.values().filter(|block| block.written).count();
        written as f64 / self.sampled_share() * BLOCK as f64
    }

    pub(super) fn first_access_share(&self) -> f64 {
        (self.first / self.accesses.max(1) as f64).min(1.0)
    }

    pub(super) fn hot_spot(&self) -> Vec<HotSpot> {
        let mut counts: Vec<u32> = self.followed.values().map(|b| b.accesses).collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let mut sums = counts.iter().scan(0u64, |sum, &count| {
            *sum += u64::from(count);
            Some(*sum)
        });
        let (mut taken, mut sum) = (0, 0);
        let mut points = Vec::new();
        for share in SHARES {
            let wanted = (counts.len() as f64 * share).round() as usize;
            while taken < wanted {
                sum = sums.next().unwrap_or(all);
                taken += 1;
            }
            if taken > 0 {
                points.push((share, sum as f64 / all as f64));
            }
        }
        points
    }

    /// At the end of every bucket of distances.
    pub(super) fn miss_ratio(&self) -> Vec<MissRatio> {
        let all = self.accesses.max(1) as f64;
        // What the sample stands for differs from what there was: the difference belongs to the
        // blocks that are accessed most, whose distances are short (SHARDS-adj).
        let estimated = self.first + self.distances.iter().sum::<f64>();
        let mut hits = all - estimated;
        let mut points = Vec::new();
        for (at, &count) in self.distances.iter().enumerate() {
            hits += count;
            if count > 0.0 {
                let ratio = 1.0 - (hits / all).clamp(0.0, 1.0);
                points.push((end_of(at) * BLOCK, ratio));
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raidlab_io::Op;
    use raidlab_kernel::{Nanos, Stream};

    fn request(block: u64) -> Request {
        Request {
            op: Op::Read,
            offset: block * BLOCK,
            bytes: BLOCK,
            time: Nanos(0),
            response_us: f64::NAN,
            line: 0,
        }
    }

    /// Blocks in an order in which low numbers come more often.
    fn skewed(count: usize, blocks: u64) -> Vec<u64> {
        let mut stream = Stream::new(1, "t", "blocks");
        let draw = |_| (stream.unit().powi(3) * blocks as f64) as u64;
        (0..count).map(draw).collect()
    }

    /// The misses of a cache that is simulated as it is.
    fn exact(trace: &[u64], size: usize) -> f64 {
        let mut recent: Vec<u64> = Vec::new();
        let mut misses = 0;
        for block in trace {
            match recent.iter().position(|known| known == block) {
                Some(at) => recent[..=at].rotate_right(1),
                None => {
                    misses += 1;
                    recent.insert(0, *block);
                    recent.truncate(size);
                }
            }
        }
        f64::from(misses) / trace.len() as f64
    }

    fn ratio(points: &[MissRatio], blocks: usize) -> f64 {
        let within = |point: &&MissRatio| point.0 <= blocks as u64 * BLOCK;
        points
            .iter()
            .rev()
            .find(within)
            .map_or(1.0, |point| point.1)
    }

    #[test]
    fn by_hand() {
        let mut blocks = Blocks::new(8);
        for block in [1, 2, 1, 3, 2, 1] {
            blocks.add(&request(block));
        }
        // Others since: 1 for the second 1, 2 for the second 2 and the third 1.
        assert_eq!(
            blocks.miss_ratio(),
            [(2 * BLOCK, 5.0 / 6.0), (3 * BLOCK, 0.5)]
        );
        assert_eq!(blocks.footprint_bytes(), 3.0 * BLOCK as f64);
        assert_eq!(blocks.hot_spot().last(), Some(&(1.0, 1.0)));
        assert_eq!(blocks.hot_spot()[0], (0.2, 0.5));
    }

    #[test]
    fn buckets_follow_one_another() {
        for distance in 0..100_000u64 {
            let at = bucket(distance);
            assert!(end_of(at) > distance);
            assert!(at == 0 || end_of(at - 1) <= distance);
        }
    }

    #[test]
    fn everything_is_exact_while_all_blocks_fit() {
        let trace = skewed(20_000, 2000);
        let mut blocks = Blocks::new(2048);
        trace.iter().for_each(|&block| blocks.add(&request(block)));
        let points = blocks.miss_ratio();
        for size in [1, 16, 64, 256, 1024, 1536] {
            assert!(
                (ratio(&points, size) - exact(&trace, size)).abs() < 1e-9,
                "{size}"
            );
        }
    }

    #[test]
    fn a_sample_comes_within_one_percent_of_the_exact_cache() {
        let trace = skewed(1_000_000, 1_000_000);
        let mut blocks = Blocks::new(1 << 17);
        trace.iter().for_each(|&block| blocks.add(&request(block)));
        assert!(blocks.sampled_share() < 0.5, "{}", blocks.sampled_share());
        let mut all = Blocks::new(1 << 20);
        trace.iter().for_each(|&block| all.add(&request(block)));
        let (sampled, exact) = (blocks.miss_ratio(), all.miss_ratio());
        let sizes = (10..20).map(|bits| 1usize << bits);
        let worst = sizes.map(|size| (ratio(&sampled, size) - ratio(&exact, size)).abs());
        let worst = worst.fold(0.0, f64::max);
        assert!(worst < 0.01, "{worst}");
        let footprint = blocks.footprint_bytes() / all.footprint_bytes();
        assert!((footprint - 1.0).abs() < 0.03, "{footprint}");
    }
}
