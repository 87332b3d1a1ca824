//! A translation layer as a file has it: plain data that must agree with the drive and with itself
//! before tables are made of it. A file whose checksum is right may still say anything.

use super::{Counts, Shape, Translation, WORKING_BLOCKS};
use crate::ssd::ids::{BlockId, DieId};
use crate::ssd::map::mapping::SavedMapping;
use crate::ssd::map::slot::Frontier;
use crate::ssd::translation::blocks::{Blocks, Die, Victim};
use crate::ssd::translation::policy::CollectionParams;
use crate::ssd::translation::space::Space;
use raidlab_kernel::{Divider, Stream, Table};
use serde::{Deserialize, Serialize, Serializer};

/// Counters of a file stay below this, so that a run cannot bring them to their end.
const MOST: u32 = 1 << 30;

/// As a file has it.
impl Serialize for Translation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let space = &self.space;
        let dividers = (space.block_of, space.die_of, space.set_of, space.sets_of);
        let blocks = (&space.blocks, &space.dies, dividers);
        let history = (self.open_at_start, self.moved_share);
        let frontier = (self.current, self.die_limit, &self.draws, self.counts);
        (
            space.shape,
            self.params,
            &self.map,
            blocks,
            frontier,
            history,
        )
            .serialize(serializer)
    }
}

/// What the bytes of a [`Translation`] are, in the order in which they are written.
#[derive(Deserialize)]
pub(crate) struct SavedTranslation {
    shape: Shape,
    params: CollectionParams,
    map: SavedMapping,
    blocks: Blocks,
    dies: Table<DieId, Die>,
    block_of: Divider,
    die_of: Divider,
    set_of: Divider,
    sets_of: Divider,
    current: DieId,
    die_limit: u32,
    draws: Stream,
    counts: Counts,
    open_at_start: u64,
    moved_share: f64,
}

impl SavedTranslation {
    /// The layer of a drive of this shape and policy.
    ///
    /// # Errors
    /// Says what the file should hold.
    pub(crate) fn restore(
        self,
        shape: Shape,
        params: &CollectionParams,
    ) -> Result<Translation, String> {
        // A history may use a few blocks of each die less, never more.
        let found = self.shape;
        let same = Shape {
            blocks_per_die: found.blocks_per_die,
            ..shape
        };
        if found != same
            || found.blocks_per_die > shape.blocks_per_die
            || found.blocks_per_die <= WORKING_BLOCKS
            || self.params != *params
        {
            return Err("a state of a drive with the same dies".into());
        }
        self.agrees()
            .map_err(|why| format!("a state that agrees with itself: {why}"))?;
        let map = self
            .map
            .restore(found)
            .map_err(|why| format!("a state that agrees with itself: {why}"))?;
        let mut translation = Translation {
            params: self.params,
            map,
            space: Space {
                shape: found,
                separate: self.params.separate_frontiers,
                blocks: self.blocks,
                dies: self.dies,
                block_of: self.block_of,
                die_of: self.die_of,
                set_of: self.set_of,
                sets_of: self.sets_of,
            },
            current: self.current,
            die_limit: self.die_limit,
            draws: self.draws,
            counts: self.counts,
            open_at_start: self.open_at_start,
            moved_share: self.moved_share,
            stuck: None,
            moving: Vec::new(),
        };
        translation.resume();
        translation
            .check()
            .and_then(|()| translation.check_ahead())
            .map_err(|why| format!("a state that agrees with itself: {why}"))?;
        Ok(translation)
    }

    /// What the tables need: numbers within the drive.
    fn agrees(&self) -> Result<(), String> {
        let shape = self.shape;
        let per_block = shape.units_per_block();
        let divisors = [self.block_of, self.die_of, self.set_of, self.sets_of];
        let expected = [
            per_block,
            shape.blocks_per_die,
            shape.units_per_set,
            shape.sets_per_block,
        ];
        let limit = shape.units_per_die() - WORKING_BLOCKS * per_block;
        if divisors.map(Divider::get) != expected || self.die_limit != limit {
            return Err("its sizes are not those of its dies".into());
        }
        if self.dies.len() != shape.dies as usize || self.current.number() >= shape.dies {
            return Err(format!("it has {} dies", self.dies.len()));
        }
        if !(0.0..=1.0).contains(&self.moved_share) {
            return Err(format!("a share of {} was moved", self.moved_share));
        }
        self.blocks.agree(shape.blocks(), per_block, MOST)?;
        self.dies.entries().try_for_each(|(index, die)| {
            self.die_agrees(index, die)
                .map_err(|why| format!("die {index}: {why}"))
        })
    }

    /// Each block of a die is closed, free, open or being emptied: one of these.
    fn die_agrees(&self, index: DieId, die: &Die) -> Result<(), String> {
        let shape = self.shape;
        let per_block = shape.units_per_block();
        let first = shape.first_block(index);
        let mut roles = vec![0_u32; shape.blocks_per_die as usize];
        let mut count = |block: BlockId| match block.number().checked_sub(first.number()) {
            Some(at) if at < shape.blocks_per_die => {
                roles[at as usize] += 1;
                Ok(())
            }
            _ => Err(format!("block {block} is not one of its own")),
        };
        die.free.iter().try_for_each(|&block| count(block))?;
        let open = || die.frontiers.iter().filter(|open| open.is_open());
        for &Frontier { block, next } in open() {
            count(block)?;
            if next > per_block {
                return Err(format!("block {block} is open at unit {next}"));
            }
        }
        if let Some(victim) = die.victim {
            count(victim.block)?;
            let Victim { next_set, .. } = victim;
            if next_set >= shape.sets_per_block || victim.budget > MOST || victim.written > MOST {
                return Err(format!("block {} is emptied at {next_set}", victim.block));
            }
        }
        for (block, &roles) in shape.blocks_of(index).zip(&roles) {
            if roles != u32::from(!self.blocks.is_closed(block)) {
                return Err(format!("block {block} is not what the counters say"));
            }
        }
        let holds = |&&block: &&BlockId| self.blocks.valid(block) > 0;
        if let Some(block) = die.free.iter().find(holds) {
            return Err(format!("block {block} is free and holds data"));
        }
        match die.usual_budget > MOST {
            true => Err("its usual budget has no end".into()),
            false => Ok(()),
        }
    }
}

impl Translation {
    /// Nothing lies where an open block is to be written, or where a victim was emptied.
    fn check_ahead(&self) -> Result<(), String> {
        let per_block = self.space.block_of.get();
        let any = |block: BlockId, from: u32, to: u32| {
            (from..to).any(|at| self.map.is_valid(block, self.space.start(block).plus(at)))
        };
        for die in &self.space.dies {
            for open in die.frontiers.iter().filter(|open| open.is_open()) {
                if any(open.block, open.next, per_block) {
                    return Err(format!("block {} holds data ahead", open.block));
                }
            }
            if let Some(victim) = die.victim
                && any(victim.block, 0, victim.next_set * self.space.set_of.get())
            {
                return Err(format!("block {} holds data behind", victim.block));
            }
        }
        Ok(())
    }
}
