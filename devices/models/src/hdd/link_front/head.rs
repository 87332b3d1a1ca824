//! The head of a drive behind a link: where it stands, what it does, how long it has worked.

use super::super::buffer::Buffer;
use super::super::ids::SegmentId;
use super::super::mechanics::{Arm, Sweep};
use super::super::media_op::MediaOp;
use super::super::model::Model;
use super::super::positioning::Estimate;
use super::super::sector_range::SectorRange;
use super::Timer;
use crate::Port;
use raidlab_kernel::{Nanos, Stream, Time, prefetch};

/// What the arm does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Activity {
    Idle,
    /// Reads for a command, from `lbn` on counting what passed before; may then go on.
    Read {
        sweep: Sweep,
        lbn: u64,
        end: u64,
    },
    /// Reads ahead for a stream, from `lbn` on, although commands wait.
    Prefetch {
        sweep: Sweep,
        lbn: u64,
        end: u64,
    },
    /// Writes for a command.
    Write {
        arm: Arm,
        end: u64,
    },
    /// Destages a run of the write cache.
    Destage {
        arm: Arm,
        end: u64,
    },
    /// Reads on into `segment` up to `limit`, at least until `promised`.
    ReadAhead {
        sweep: Sweep,
        segment: SegmentId,
        limit: u64,
        promised: Time,
    },
}

/// The arm with its head.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) arm: Arm,
    /// One beyond the sector that the head passed last.
    pub(super) at: u64,
    pub(super) activity: Activity,
    /// Since when the head has not gone elsewhere or, if nobody else waited, been asked whether to.
    pub(super) stays: Time,
    /// Draws how much longer than its time each movement takes.
    lateness: Stream,
    /// The arm completes its work at this time.
    pub(super) free: Time,
    pub(super) busy: Nanos,
    /// Part of `busy` in which the head goes on with a stream whose data wait for the firmware.
    pub(super) held: Nanos,
}

impl Head {
    /// An idle one.
    pub(super) fn new(arm: Arm, lateness: Stream) -> Head {
        Head {
            arm,
            at: 0,
            activity: Activity::Idle,
            stays: Time::ZERO,
            lateness,
            free: Time::ZERO,
            busy: Nanos::ZERO,
            held: Nanos::ZERO,
        }
    }

    /// Prefetches its own fields.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch(&self.arm);
        prefetch(&self.activity);
        prefetch(&self.lateness);
        prefetch(&self.free);
    }

    /// The arm's work is done, and the head stands after sector `at`.
    #[inline]
    pub(super) fn stop(&mut self, arm: Arm, at: u64) {
        (self.arm, self.at) = (arm, at);
        self.activity = Activity::Idle;
    }

    /// True if the arm can be used now.
    pub(super) fn is_free(&self) -> bool {
        matches!(self.activity, Activity::Idle | Activity::ReadAhead { .. })
    }

    /// The head begins with `lbn`: from then on it is there.
    #[inline]
    pub(super) fn arrive(&mut self, model: &Model, lbn: u64, begin: Time) {
        if lbn.abs_diff(self.at) >= model.neighbourhood {
            self.stays = begin;
        }
    }

    /// How much later than its time the arm settles before `lbn`. A head that goes on where it
    /// stands reaches the next track in time, thanks to the skew.
    #[inline]
    pub(super) fn lateness_to(&mut self, model: &Model, lbn: u64, start: Time) -> Nanos {
        if lbn == self.at && start == self.free {
            Nanos::ZERO
        } else {
            model.seek.lateness(&mut self.lateness)
        }
    }

    pub(super) fn occupy<P: Port>(&mut self, port: &mut P, start: Time, done: Time) {
        self.busy += done.since(start);
        self.free = done;
        port.wake(done, Timer::ArmDone as u32);
    }

    /// The head reads first what a write from `begin` on covers only in part, and writes when that
    /// comes by again: a revolution later, or two where both ends do not pass within one. What lies
    /// where the head stands is in the buffer. Gives how much later the write begins.
    #[inline]
    pub(super) fn reads_first(
        &self,
        model: &Model,
        sweep: &mut Sweep,
        SectorRange { lbn, end }: SectorRange,
        begin: Time,
    ) -> Nanos {
        let physical = model.physical_sectors;
        let head = lbn % physical != 0 && lbn != self.at;
        let tail = end % physical != 0;
        if !head && !tail {
            return Nanos::ZERO;
        }
        let revolution = self.arm.rotation.period();
        let passed = { *sweep }.end_of(model, end - 1);
        let both = head && tail && passed.since(begin) >= revolution;
        let revolutions = 1 + u64::from(both);
        sweep.wait_revolutions(model, lbn, revolutions);
        revolution * revolutions
    }

    /// What it takes to get to `lbn` by an arm that is free now.
    pub(super) fn positioning(&self, model: &Model, buffer: &Buffer, now: Time, lbn: u64) -> Nanos {
        let (arm, at) = match &self.activity {
            Activity::Idle => (self.arm, self.at),
            Activity::Read { sweep, end, .. } | Activity::Prefetch { sweep, end, .. } => {
                (sweep.arm(), *end)
            }
            Activity::Write { arm, end } | Activity::Destage { arm, end } => (*arm, *end),
            Activity::ReadAhead { sweep, segment, .. } => {
                (sweep.arm(), buffer.segments[*segment].end)
            }
        };
        if lbn == at {
            return Nanos::ZERO;
        }
        let place = model.geometry.place(lbn);
        arm.access(model, &place, now.max(self.free), MediaOp::Read)
            .total()
    }

    /// Time that the arm worked up to `now`.
    pub(super) fn arm_until(&self, now: Time) -> Nanos {
        let end = match self.activity {
            Activity::ReadAhead { promised, .. } => self.free.max(promised),
            _ => self.free,
        };
        self.busy.saturating_sub(end.since(now))
    }

    /// Time up to `now` for which commands needed the arm.
    pub(super) fn busy_until(&self, now: Time) -> Nanos {
        self.arm_until(now).saturating_sub(self.held)
    }
}

/// True if a head that reads on from `passed` gets to `lbn` no later than one that moves there now.
/// The platter's angle says so for all of the track; only beyond it can a movement save a
/// revolution.
pub(super) fn comes_first(
    model: &Model,
    mut sweep: Sweep,
    now: Time,
    (passed, lbn): (u64, u64),
) -> bool {
    if lbn <= passed {
        return true;
    }
    let arm = sweep.arm();
    let wait = sweep.begin_of(model, lbn).since(now);
    if wait < arm.rotation.period() {
        return true;
    }
    let moved = Estimate::new(model, &arm, now);
    let access = moved.access(model.geometry.place(lbn).target(), MediaOp::Read);
    // Both wait for the same angle: they differ by whole revolutions, and by rounding.
    wait < access + arm.rotation.quarter()
}

/// True if a head that reads ahead up to `limit` has not reached it by `now`.
pub(super) fn still_runs(model: &Model, mut sweep: Sweep, limit: u64, now: Time) -> bool {
    sweep.end_of(model, limit - 1) >= now
}
