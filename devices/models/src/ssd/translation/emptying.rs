//! How a block is emptied: in step with the host, at once for lack of room, or in idle time.

use super::{Translation, Work};
use crate::ssd::ids::DieId;
use crate::ssd::translation::blocks::{FreeOrder, Origin};
use crate::ssd::translation::policy::{self, CollectionParams, LEVELLING_NEEDS, Policy};

/// A die with fewer free blocks than collection aims at empties a victim earlier, by one part in so
/// many of the host's writes. So it regains the free blocks that bad victims have cost.
const CATCHING_UP: u32 = 4;

/// What a victim is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// To collect in step with the host; wear is levelled too, if there is room.
    InStep,
    /// The die has nothing else to do.
    Idle,
    /// The host waits for a free block: wear can wait.
    Room,
    /// The policy's own choices have not freed a block.
    Emptiest,
}

impl Translation {
    /// Collects until `die` has `target` free blocks. Returns how far that is ahead of the host:
    /// the units that it would have written meanwhile, in step. None if the die cannot have as
    /// many.
    pub(crate) fn collect_to<W: Work>(
        &mut self,
        die: DieId,
        target: u32,
        work: &mut W,
    ) -> Option<u32> {
        self.free_blocks(die, target, Need::InStep, work)
    }

    /// Collects until the host may open a block: the write waits for all of it. False, and the
    /// drive is stuck, if no block of the die has anything to free.
    pub(crate) fn make_room<W: Work>(&mut self, die: DieId, work: &mut W) -> bool {
        let enough = self.free_blocks(die, 2, Need::Room, work).is_some();
        if !enough {
            self.stuck = Some(die);
        }
        enough
    }

    /// A policy may pick blocks that free little, again and again, and so may the levelling of
    /// wear. After as many tries as there are blocks the emptiest block is the victim. If that is
    /// full of valid data, nothing can be freed; else every further try gains room.
    fn free_blocks<W: Work>(
        &mut self,
        die: DieId,
        target: u32,
        need: Need,
        work: &mut W,
    ) -> Option<u32> {
        let (mut tries, mut ahead) = (0, 0);
        while self.space.dies[die].free.len() < target as usize {
            tries += 1;
            let emptiest = tries > self.space.shape.blocks_per_die;
            if self.space.dies[die].victim.is_none() {
                let needed = if emptiest { Need::Emptiest } else { need };
                if !self.choose_victim(die, needed) {
                    return None;
                }
            }
            if let Some(victim) = self.space.dies[die].victim {
                ahead += victim.budget.saturating_sub(victim.written);
            }
            while self.space.dies[die].victim.is_some() {
                self.collect_set(die, work);
            }
        }
        Some(ahead)
    }

    /// Collects on `die` in step with `units` that the host has written there.
    pub(super) fn collect_in_step<W: Work>(&mut self, die: DieId, units: u32, work: &mut W) {
        let start = self.params.start_free_blocks as usize;
        let state = &mut self.space.dies[die];
        if state.victim.is_none()
            && (state.free.len() >= start || !self.choose_victim(die, Need::InStep))
        {
            return;
        }
        if let Some(victim) = &mut self.space.dies[die].victim {
            victim.written += units;
        }
        while let Some(victim) = self.space.dies[die].victim {
            let due = u64::from(victim.written) * u64::from(self.space.shape.sets_per_block);
            let budget = self.space.budget(die, victim);
            let in_step = u64::from(victim.next_set) * u64::from(budget) >= due && budget > 0;
            if in_step && !self.space.shares_last_block(die) {
                break;
            }
            self.collect_set(die, work);
        }
    }

    /// True if collection in the background has not reached its goal on a die.
    pub(crate) fn wants_free_blocks(&self, die: DieId) -> bool {
        self.space.dies[die].free.len() < self.params.background_free_blocks as usize
    }

    /// Collects in the background of a history until every die has `target` free blocks or `most`
    /// units have been moved.
    pub(crate) fn collect_while_idle<W: Work>(&mut self, target: u32, most: u64, work: &mut W) {
        let before = self.counts.moved;
        for die in self.space.dies.ids() {
            while self.space.dies[die].free.len() < target as usize
                && self.counts.moved - before < most
                && self.collect_in_background(die, work)
            {}
        }
    }

    /// One step of collection on a die that has nothing else to do, until it has
    /// `background_free_blocks`; false if there is nothing to do. A step gives the die work, and
    /// the next step follows that: so it skips page sets without valid data.
    pub(crate) fn collect_in_background<W: Work>(&mut self, die: DieId, work: &mut W) -> bool {
        let target = self.params.background_free_blocks as usize;
        let state = &self.space.dies[die];
        if state.victim.is_none() {
            if state.free.len() >= target || !self.choose_victim(die, Need::Idle) {
                return false;
            }
            let victim = self.space.dies[die].victim.expect("just chosen");
            // A full block frees nothing: idle time is not spent on it.
            if victim.budget == 0 {
                self.space.blocks.close(victim.block);
                self.space.dies[die].victim = None;
                return false;
            }
        }
        let mut worked = self.collect_set(die, work);
        while self.space.dies[die].victim.is_some()
            && (!worked || self.space.shares_last_block(die))
        {
            worked |= self.collect_set(die, work);
        }
        true
    }

    fn choose_victim(&mut self, die: DieId, need: Need) -> bool {
        let shape = self.space.shape;
        let range = (shape.first_block(die), shape.blocks_per_die);
        let per_block = self.space.block_of.get();
        let (free, gap) = (self.space.dies[die].free.len(), self.params.wear_gap);
        if need == Need::InStep && gap > 0 && free + 1 >= LEVELLING_NEEDS as usize {
            if let Some(block) = policy::least_worn(&self.space.blocks, range, gap) {
                self.space
                    .empty(die, block, per_block - self.space.blocks.valid(block));
                return true;
            }
        }
        let mut params: CollectionParams = self.params;
        if need == Need::Emptiest {
            params.policy = Policy::Greedy;
        }
        let chosen = policy::victim(
            &params,
            &self.space.blocks,
            range,
            per_block,
            &mut self.draws,
        );
        let Some(block) = chosen else { return false };
        let budget = per_block - self.space.blocks.valid(block);
        if need == Need::Emptiest && budget == 0 {
            return false;
        }
        let usual = &mut self.space.dies[die].usual_budget;
        *usual = if *usual == 0 {
            budget
        } else {
            (9 * *usual + budget) / 10
        };
        let aim = self.params.start_free_blocks as usize;
        let catching_up = if free + 1 < aim {
            budget / CATCHING_UP
        } else {
            0
        };
        self.space.empty(die, block, budget - catching_up);
        true
    }

    /// Moves what is valid in the victim's next page set; erases the block after the last one.
    /// False if the die has nothing to do for it.
    pub(crate) fn collect_set<W: Work>(&mut self, die: DieId, work: &mut W) -> bool {
        let Some(mut victim) = self.space.dies[die].victim else {
            return false;
        };
        let mut moved = 0;
        let per_set = self.space.shape.units_per_set;
        let first = self
            .space
            .start(victim.block)
            .plus(victim.next_set * per_set);
        if self.space.blocks.valid(victim.block) == 0 {
            victim.next_set = self.space.shape.sets_per_block - 1;
        } else {
            let mut moving = std::mem::take(&mut self.moving);
            moving.clear();
            self.map.take_out(victim.block, first, per_set, &mut moving);
            let count = moving.len() as u32;
            if count > 0 {
                work.collect_read(die, self.space.set(first), count);
                self.space.blocks.drop_valid(victim.block, count);
                self.space.dies[die].valid -= count;
            }
            if work.follows_map() {
                for &home in &moving {
                    work.moved(self.map.unit_of(home));
                }
            }
            let mut left = &moving[..];
            while !left.is_empty() {
                if self.space.needs_block(die, Origin::Collection) {
                    self.open(die, Origin::Collection, work);
                }
                let room = self.space.room_in_set(die, Origin::Collection);
                let (now, later) = left.split_at(left.len().min(room as usize));
                if self.append(die, Origin::Collection, now) {
                    let set = self.space.last_set(die, Origin::Collection);
                    work.program(die, Origin::Collection, set);
                }
                left = later;
            }
            moved = moving.len() as u64;
            self.counts.moved += moved;
            self.moving = moving;
        }
        victim.next_set += 1;
        let state = &mut self.space.dies[die];
        if victim.next_set < self.space.shape.sets_per_block {
            state.victim = Some(victim);
            return moved > 0;
        }
        state.victim = None;
        self.space.blocks.erase(victim.block);
        let order = if self.params.level_wear {
            FreeOrder::Wear
        } else {
            FreeOrder::Arrival
        };
        state.add_free(victim.block, &self.space.blocks, order);
        self.counts.erases += 1;
        work.erase(die);
        true
    }
}
