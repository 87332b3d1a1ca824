//! Garbage collection: which block is the victim.
//!
//! A die chooses a victim when its free blocks fall below a threshold. It empties the victim in
//! step with the host's writes: a victim frees (units of a block - valid units), so it must be
//! empty when the host has written that many. Without free blocks the host's writes wait for it.
//!
//! Policies: greedy (fewest valid units), first in first out, random, the best of d random ones
//! (Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based
//! solid state drives", 2013), and cost-benefit, age x (1 - u) / 2u (Rosenblum and Ousterhout,
//! "The design and implementation of a log-structured file system", 1992).

use crate::bounds::Bounds;
use crate::ssd::ids::BlockId;
use crate::ssd::translation::blocks::Blocks;
use raidlab_kernel::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a victim is chosen.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The fewest valid units.
    Greedy,
    /// The block that was closed first.
    FirstInFirstOut,
    /// Any closed block.
    Random,
    /// The fewest valid units among `candidates` random blocks.
    BestOf,
    /// The best ratio of space gained times age to the cost of moving.
    CostBenefit,
}

/// Where the writes of a history's loads at random lie.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// In the order in which they came: at places that have nothing to do with their addresses.
    #[default]
    Log,
    /// In the order of their addresses. So those drives begin whose times were fitted like that.
    Address,
}

/// Least `start_free_blocks` with which `wear_gap` has an effect: collection begins with one free
/// block less. A full block is then emptied in step with the host although it frees nothing. Its
/// data take one free block and the host's data another, and a die still has more than its reserve.
pub(crate) const LEVELLING_NEEDS: u32 = 6;

/// Garbage collection in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CollectionParams {
    /// How a victim is chosen.
    pub policy: Policy,
    /// Random candidates of `best_of`.
    #[serde(default = "default_candidates")]
    pub candidates: u32,
    /// A die collects when it has fewer free blocks than this.
    #[serde(default = "default_start")]
    #[schemars(transform = Self::START_FREE_BLOCKS.said())]
    pub start_free_blocks: u32,
    /// A die that has nothing else to do collects until it has this many free blocks;
    /// 0 for no collection in the background.
    #[serde(default)]
    pub background_free_blocks: u32,
    /// Share of a die's time that it may spend on that, more than 0 and at most 1.
    #[serde(default = "all_of_it")]
    pub background_share: f64,
    /// True if moved data have a frontier of their own, apart from the host's.
    #[serde(default = "yes")]
    pub separate_frontiers: bool,
    /// True if the least worn free block is opened first, and the most worn one for moved data.
    #[serde(default)]
    pub level_wear: bool,
    /// A closed block is moved although it is not the best victim once it has been erased this
    /// many times less often than the most worn block of its die; 0 for never. It waits until the
    /// die has five free blocks, so collection has to start below six at least.
    #[serde(default)]
    pub wear_gap: u32,
    /// Blocks that the whole drive empties at a time; 0 if every die empties its own.
    #[serde(default)]
    pub blocks_at_once: u32,
    /// Where a history's writes at random lie.
    #[serde(default)]
    pub placement: Placement,
}

impl CollectionParams {
    /// Free blocks at which collection starts.
    pub(crate) const START_FREE_BLOCKS: Bounds<u32> = Bounds::new(2, 1024);
}

fn default_candidates() -> u32 {
    2
}

fn default_start() -> u32 {
    3
}

fn all_of_it() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

impl Default for CollectionParams {
    fn default() -> Self {
        CollectionParams {
            policy: Policy::Greedy,
            candidates: default_candidates(),
            start_free_blocks: default_start(),
            background_free_blocks: 0,
            background_share: all_of_it(),
            separate_frontiers: true,
            level_wear: false,
            wear_gap: 0,
            blocks_at_once: 0,
            placement: Placement::Log,
        }
    }
}

/// The next victim among `count` blocks from `first` on; none if no block is closed.
pub(crate) fn victim(
    params: &CollectionParams,
    blocks: &Blocks,
    (first, count): (BlockId, u32),
    units_per_block: u32,
    draws: &mut Stream,
) -> Option<BlockId> {
    let closed = first.row(count).filter(|&block| blocks.is_closed(block));
    match params.policy {
        Policy::Greedy => {
            let candidates = blocks.candidates(first, count);
            let least = *candidates.iter().min()?;
            let index = candidates.iter().position(|&valid| valid == least)?;
            Some(first.plus(index as u32)).filter(|&block| blocks.is_closed(block))
        }
        Policy::FirstInFirstOut => closed.max_by_key(|&block| blocks.age(block)),
        Policy::Random => any_closed(blocks, first, count, draws),
        Policy::BestOf => (0..params.candidates.max(1))
            .filter_map(|_| any_closed(blocks, first, count, draws))
            .min_by_key(|&block| blocks.valid(block)),
        Policy::CostBenefit => closed.max_by(|&a, &b| {
            let benefit = |block| {
                let valid = f64::from(blocks.valid(block));
                let gain = f64::from(units_per_block) - valid;
                f64::from(blocks.age(block)) * gain / (2.0 * valid)
            };
            benefit(a).total_cmp(&benefit(b))
        }),
    }
}

/// A closed block, each as likely.
fn any_closed(blocks: &Blocks, first: BlockId, count: u32, draws: &mut Stream) -> Option<BlockId> {
    // Nearly all blocks are closed once collection is needed; the search is for the rest.
    for _ in 0..64 {
        let block = first.plus(draws.below(u64::from(count)) as u32);
        if blocks.is_closed(block) {
            return Some(block);
        }
    }
    let closed = |block: &BlockId| blocks.is_closed(*block);
    let total = first.row(count).filter(closed).count();
    let nth = draws.below(total as u64) as usize;
    first.row(count).filter(closed).nth(nth)
}

/// The closed block that lags furthest behind in wear, if it lags by `gap` or more.
pub(crate) fn least_worn(
    blocks: &Blocks,
    (first, count): (BlockId, u32),
    gap: u32,
) -> Option<BlockId> {
    let range = first.row(count);
    let most = range.clone().map(|block| blocks.erases(block)).max()?;
    range
        .filter(|&block| blocks.is_closed(block))
        .min_by_key(|&block| blocks.erases(block))
        .filter(|&block| most - blocks.erases(block) >= gap)
}
