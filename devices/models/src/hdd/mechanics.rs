//! The arm and the platter: how long it takes to get to a sector, and when each sector of a run
//! passes under the head, over tracks and cylinders.

use super::geometry::Place;
use super::ids::{CylinderId, HeadId};
use super::media_op::MediaOp;
use super::model::Model;
use super::rotation::Rotation;
use super::seek::Head;
use raidlab_kernel::{Nanos, Time};

/// Where the arm stands, and how the platter turns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arm {
    /// Cylinder.
    pub cylinder: CylinderId,
    /// Head in use.
    pub head: HeadId,
    /// The platter's angle at time zero, 2^64 a revolution.
    pub phase: u64,
    /// The platter's speed.
    pub rotation: Rotation,
}

/// What it takes to get to a sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Arm movement, head switch, settling.
    pub seek: Nanos,
    /// Waiting for the sector.
    pub rotation: Nanos,
}

impl Access {
    /// Both.
    pub fn total(self) -> Nanos {
        self.seek + self.rotation
    }
}

impl Arm {
    /// What it takes to get to `place` from `start` on.
    #[inline]
    pub fn access(&self, model: &Model, place: &Place, start: Time, op: MediaOp) -> Access {
        let distance = self.cylinder.distance(place.cylinder);
        let head = if place.head == self.head {
            Head::Same
        } else {
            Head::Other
        };
        let seek = model.seek.time(distance, head, op);
        let under_head = self.rotation.angle(self.phase, start + seek);
        let rotation = self.rotation.wait(under_head, place.angle);
        Access { seek, rotation }
    }

    /// The arm is on the track of `place` now.
    pub fn move_to(&mut self, place: &Place) {
        self.cylinder = place.cylinder;
        self.head = place.head;
    }
}

/// A movement of the arm and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct Movement {
    /// The first sector.
    pub place: Place,
    /// The arm can start.
    pub start: Time,
    /// What the head does there.
    pub op: MediaOp,
    /// Sectors below this one may be taken in the order in which they pass: a head that arrives
    /// in the middle of them does not wait for the first. 0 for none.
    pub shuffled_end: u64,
    /// The least time of the movement, if the arm moves.
    pub least_seek: Nanos,
    /// How much later than its seek time says the arm settles, if it moves.
    pub late: Nanos,
}

/// The head passing over consecutive logical sectors, track after track, without a pause.
///
/// It holds one run of sectors and steps to the next run for a sector beyond. So calls must ask
/// for ascending sectors, and an ordinary transfer costs no loop over its sectors.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    arm: Arm,
    op: MediaOp,
    /// First sector of the present run.
    place: Place,
    /// The arm has arrived on its track.
    arrived: Time,
    /// Its first sector begins to pass.
    begin: Time,
    /// Nanoseconds a sector, times 2^20.
    sector_time: u64,
    shuffled_end: u64,
    /// Sectors of this run from `early` to `early_end` pass before its first one does.
    early: u32,
    early_end: u32,
}

impl Sweep {
    /// Moves the arm and begins to pass over sectors.
    #[inline]
    pub fn new(model: &Model, mut arm: Arm, movement: &Movement) -> (Sweep, Access) {
        let &Movement {
            place, start, op, ..
        } = movement;
        let mut access = arm.access(model, &place, start, op);
        let settled = match access.seek {
            Nanos::ZERO => movement.least_seek,
            seek => seek.max(movement.least_seek) + movement.late,
        };
        if settled > access.seek {
            access.seek = settled;
            let under_head = arm.rotation.angle(arm.phase, start + access.seek);
            access.rotation = arm.rotation.wait(under_head, place.angle);
        }
        arm.move_to(&place);
        let mut sweep = Sweep {
            arm,
            op,
            place,
            arrived: start + access.seek,
            begin: start + access.total(),
            sector_time: arm.rotation.stretched(model.sector_time[place.zone]),
            shuffled_end: movement.shuffled_end,
            early: 0,
            early_end: 0,
        };
        if movement.shuffled_end > place.lbn {
            access.rotation = sweep.shuffle(access.rotation);
        }
        (sweep, access)
    }

    /// Begins with the next sector boundary if that lies among the wanted sectors; gives the time
    /// for which the head waits.
    fn shuffle(&mut self, wait: Nanos) -> Nanos {
        self.early = 0;
        self.early_end = 0;
        let wanted = self.shuffled_end.saturating_sub(self.place.lbn);
        let wanted = wanted.min(u64::from(self.place.run)) as u32;
        let missed = self.arm.rotation.period().saturating_sub(wait);
        let first = (missed.0 << 20).div_ceil(self.sector_time) as u32;
        if wait == Nanos::ZERO || first >= wanted {
            return wait;
        }
        self.early = first;
        self.early_end = wanted;
        self.span(first).saturating_sub(missed)
    }

    /// How long `sectors` take to pass.
    #[inline]
    fn span(&self, sectors: u32) -> Nanos {
        Nanos((u64::from(sectors) * self.sector_time) >> 20)
    }

    /// Where the arm stands.
    pub fn arm(&self) -> Arm {
        self.arm
    }

    /// The arm has arrived on the track of the present run.
    pub fn arrived(&self) -> Time {
        self.arrived
    }

    #[inline]
    fn run_end(&self) -> u64 {
        self.place.lbn + u64::from(self.place.run)
    }

    /// When the present run is all done, sectors taken early included.
    #[inline]
    fn departs(&self) -> Time {
        if self.early_end == self.place.run {
            return self.begin + self.span(self.early);
        }
        self.begin + self.span(self.place.run)
    }

    #[inline]
    fn reach(&mut self, model: &Model, lbn: u64) {
        while lbn >= self.run_end() {
            self.step(model);
        }
    }

    /// On to the next run: past a slipped sector, or to another track.
    fn step(&mut self, model: &Model) {
        let leave = self.departs();
        let next = model.geometry.place(self.run_end());
        let passed = self.place.sector + self.place.run;
        if next.same_track(&self.place) && next.sector >= passed && self.early_end == 0 {
            let gap = self.span(next.sector - passed);
            self.place = next;
            self.arrived = leave;
            self.begin = leave + gap;
            return;
        }
        let access = self.arm.access(model, &next, leave, self.op);
        self.arm.move_to(&next);
        self.place = next;
        self.arrived = leave + access.seek;
        self.begin = leave + access.total();
        let rotation = &self.arm.rotation;
        self.sector_time = rotation.stretched(model.sector_time[next.zone]);
        self.early = 0;
        self.early_end = 0;
        if self.shuffled_end > next.lbn {
            self.shuffle(access.rotation);
        }
    }

    /// When `lbn` begins to pass.
    pub fn begin_of(&mut self, model: &Model, lbn: u64) -> Time {
        self.reach(model, lbn);
        self.begin + self.span((lbn.saturating_sub(self.place.lbn)) as u32)
    }

    /// When `lbn` and all sectors before it have passed.
    #[inline]
    pub fn end_of(&mut self, model: &Model, lbn: u64) -> Time {
        self.reach(model, lbn);
        if lbn < self.place.lbn {
            return self.begin.min(self.arrived);
        }
        let index = (lbn - self.place.lbn) as u32;
        if (self.early..self.early_end).contains(&index) {
            return self.begin + self.span(self.early);
        }
        self.begin + self.span(index + 1)
    }

    /// The first sector below `limit` that has not passed by `now`, or `limit`.
    pub fn passed_by(&mut self, model: &Model, now: Time, limit: u64) -> u64 {
        while self.run_end() < limit && self.departs() <= now {
            self.step(model);
        }
        let since = now.since(self.begin).0;
        if since >= self.span(self.place.run).0 {
            return self.run_end().min(limit);
        }
        // One more than fits, so that a sector that ends now counts as passed.
        let mut count = ((since << 20) / self.sector_time) as u32;
        if self.span(count + 1).0 <= since {
            count += 1;
        }
        if count >= self.early {
            count = count.max(self.early_end);
        }
        (self.place.lbn + u64::from(count)).min(limit)
    }

    /// `lbn` and what follows pass `count` revolutions later: its data came too late.
    pub fn wait_revolutions(&mut self, model: &Model, lbn: u64, count: u64) {
        let begin = self.begin_of(model, lbn);
        let skip = (lbn - self.place.lbn) as u32;
        self.place.lbn = lbn;
        self.place.sector += skip;
        self.place.run -= skip;
        self.begin = begin + self.arm.rotation.period() * count;
        self.early = 0;
        self.early_end = 0;
    }
}
