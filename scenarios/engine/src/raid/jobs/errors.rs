//! Commands to drives that are slow, have failed or have unreadable sectors, and what becomes of
//! their jobs.

use crate::ids::JobId;
use crate::layout::{Role, Run, WriteStrategy};
use crate::path::Path;
use crate::path::agenda::Up;
use crate::raid::jobs::Phase;
use crate::raid::jobs::Stripes;
use crate::state::event::RaidEvent;
use crate::state::owner::job_of;
use crate::state::owner::{Owner, OwnerOf};
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::{Nanos, Time};

impl Stripes {
    /// A command is at its drive's medium: data change hands. True if it comes back later.
    pub(crate) fn meet_medium(&mut self, path: &mut Path, id: IoId, now: Time) -> bool {
        let slow = path.drives[path.ios[id].drive].health.slow;
        if slow > Nanos::ZERO {
            let io = &mut path.ios[id];
            io.charge(Part::Service, now + slow);
            io.data_end = io.mark;
            path.calendar.push(now + slow, RaidEvent::Late(id).into());
            return true;
        }
        self.at_medium(path, id);
        false
    }

    /// A slow drive is done with a command.
    pub(crate) fn late(&mut self, path: &mut Path, id: IoId, now: Time) -> Up {
        self.at_medium(path, id);
        path.ascend(id, now)
    }

    fn at_medium(&mut self, path: &mut Path, id: IoId) {
        let io = &path.ios[id];
        let (drive, op, owner) = (io.drive, io.op, io.owner);
        let (start, end) = (io.offset, io.offset + io.bytes);
        let health = &mut path.drives[drive].health;
        if health.failed || owner.is_cut_off() {
            return;
        }
        if !health.unreadable.is_empty() {
            match op {
                Op::Write => self.volumes.rewritten(&mut path.drives, drive, start, end),
                Op::Read => path.ios[id].refused = health.unreadable.touches(start, end),
                Op::Trim | Op::Flush => {}
            }
        }
        if let Some(integrity) = &mut path.integrity {
            integrity
                .drives
                .at_medium(id, op, drive, start, end - start);
        }
    }

    /// Where new data of a job's stripe have no parity, since others are lost there, the old parity
    /// gives nonsense.
    pub(crate) fn puncture_parity(&mut self, path: &mut Path, index: JobId) {
        let job = &self.jobs[index];
        if !job.work.is_write() {
            return;
        }
        let (array, stripe) = (job.array, job.stripe);
        let lost = self.jobs.repair(index).lost.clone();
        for which in 0..self.volume(array).geometry().parities() {
            let volume = self.volume(array);
            let place = volume.geometry().parity(stripe, which);
            for (drive, _) in volume.takers(place, 0, 1).into_iter().flatten() {
                self.volumes
                    .puncture(&mut path.drives, drive, place.offset, &lost);
            }
        }
    }

    /// A command comes back: true if its error has been taken care of, false if it is as any.
    pub(crate) fn examine(&mut self, path: &mut Path, id: IoId, now: Time) -> bool {
        let io = &path.ios[id];
        let (drive, op, offset, bytes, parent) = (io.drive, io.op, io.offset, io.bytes, io.parent);
        let health = &path.drives[drive].health;
        let failed = health.failed || io.owner.is_cut_off();
        if op != Op::Read || !(failed || io.refused) {
            if let Some(integrity) = &mut path.integrity {
                integrity.deliver(id, parent, op);
            }
            return false;
        }
        if let Some(integrity) = &mut path.integrity {
            integrity.drives.drop_payload(id);
        }
        if !failed {
            self.volumes
                .meet_unreadable(&mut path.drives, drive, offset, offset + bytes);
        }
        match job_of(&path.ios[parent]) {
            Some(job) if !self.jobs[job].work.reads_elsewhere() => {
                self.jobs[job].flags.again = true;
                false
            }
            _ => {
                self.read_elsewhere(path, id, parent, now);
                true
            }
        }
    }

    /// A read that failed is done again, from another copy or by computing, and the sectors that could not
    /// be read are repaired meanwhile; the time it has taken stays on the account.
    fn read_elsewhere(&mut self, path: &mut Path, id: IoId, parent: IoId, now: Time) {
        let io = path.ios[id].clone();
        path.ios.release(id);
        let array = match job_of(&path.ios[parent]) {
            Some(job) => self.jobs[job].array,
            None => path.ios[parent].array,
        };
        let volume = self.volume(array);
        let member = match io.owner.into() {
            Owner::CutOff(place) => Some(place as usize),
            _ => volume.members().iter().position(|m| m.drive() == io.drive),
        };
        let unit = volume.geometry().unit();
        let found =
            member.and_then(|member| volume.geometry().unit_at(member as u32, io.offset / unit));
        if let Some((stripe, Role::Data(column))) = found {
            let run = Run {
                stripe,
                column,
                start: (io.offset % unit) as u32,
                bytes: io.bytes,
            };
            self.read_run(path, parent, array, run, now, Some(&io));
        } else {
            self.refuse(path, parent, io.bytes);
        }
        self.let_go(path, parent, now);
    }

    /// What a request or a read into the cache wants is lost.
    pub(crate) fn refuse(&mut self, path: &mut Path, reader: IoId, bytes: u64) {
        let io = &mut path.ios[reader];
        io.moved += bytes;
        io.refused = true;
        self.refused += 1;
        if let Some(job) = job_of(&path.ios[reader]) {
            self.jobs[job].flags.refused = true;
        }
        if let Some(integrity) = &mut path.integrity {
            integrity.refuse(reader);
        }
    }

    /// A job's reads met an error: what it knows is out of date, it plans anew.
    pub(crate) fn plan_again(&mut self, path: &mut Path, index: JobId, now: Time) {
        let job = &mut self.jobs[index];
        job.flags.again = false;
        job.phase = Phase::Plan;
        // What it had to repair is out of date with its strategy.
        job.strategy = WriteStrategy::Plain;
        let io = job.io;
        path.ios[io].moved = 0;
        if let Some(integrity) = &mut path.integrity {
            integrity.jobs.plan_again(index);
        }
        self.step_job(path, index, now);
    }
}
