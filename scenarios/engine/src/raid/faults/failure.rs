//! Drives that fail, are slow or have unreadable sectors, and what the controller makes of it.

use crate::layout::{Ranges, Role, Run, WriteStrategy};
use crate::path::Path;
use crate::path::agenda::Up;
use crate::raid::Stripes;
use crate::raid::jobs::Phase;
use crate::state::event::Event;
use crate::state::owner::job_of;
use crate::state::owner::{Owner, OwnerOf};
use raidlab_kernel::{IoId, Nanos, Op, Part, Time};

impl Stripes {
    /// A command is at its drive's medium: data change hands. True if it comes back later.
    pub(crate) fn meet_medium(&mut self, path: &mut Path, id: IoId, now: Time) -> bool {
        let slow = path.drives[path.ios[id].drive as usize].health.slow;
        if slow > Nanos::ZERO {
            let io = &mut path.ios[id];
            io.charge(Part::Service, now + slow);
            io.data_end = io.mark;
            path.calendar.push(now + slow, Event::Late(id));
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
        let health = &mut path.drives[drive as usize].health;
        if health.failed || owner.is_cut_off() {
            return;
        }
        if !health.unreadable.is_empty() {
            match op {
                Op::Write => self.rewritten(path, drive, start, end),
                Op::Read => path.ios[id].refused = health.unreadable.touches(start, end),
                Op::Trim | Op::Flush => {}
            }
        }
        if let Some(integrity) = &mut path.integrity {
            integrity.at_medium(id, op, drive, start, end - start);
        }
    }

    /// Sectors of a drive have been written: they can be read again.
    fn rewritten(&mut self, path: &mut Path, drive: u32, start: u64, end: u64) {
        path.drives[drive as usize]
            .health
            .unreadable
            .cut(start, end);
        if let Some(known) = self.known_unreadable(drive) {
            known.cut(start, end);
        }
    }

    /// Parts of what a drive has from `offset` on are not what should be there: they are made unreadable
    /// (a *puncture*), so that nobody takes them for data.
    pub(crate) fn puncture(
        &mut self,
        path: &mut Path,
        drive: u32,
        offset: u64,
        parts: &[(u32, u32)],
    ) {
        for &(start, end) in parts {
            let (start, end) = (offset + u64::from(start), offset + u64::from(end));
            let unreadable = &mut path.drives[drive as usize].health.unreadable;
            unreadable.insert(start, end);
            if let Some(known) = self.known_unreadable(drive) {
                known.insert(start, end);
            }
        }
    }

    /// Where new data of a job's stripe have no parity, since others are lost there, the old parity
    /// gives nonsense.
    pub(crate) fn puncture_parity(&mut self, path: &mut Path, index: u32) {
        let job = &self.jobs[index];
        if !job.work.is_write() {
            return;
        }
        let (array, stripe) = (job.array, job.stripe);
        let lost = self.jobs.repair(index).lost.clone();
        for which in 0..self.volume(array).geometry.parities() {
            let volume = self.volume(array);
            let place = volume.geometry.parity(stripe, which);
            for (drive, _) in volume.takers(place, 0, 1).into_iter().flatten() {
                self.puncture(path, drive, place.offset, &lost);
            }
        }
    }

    /// What is known to be unreadable of a drive that stands in an array.
    fn known_unreadable(&mut self, drive: u32) -> Option<&mut Ranges> {
        let (array, member) = self.member_of(drive)?;
        let volume = self.volumes[array as usize].as_mut()?;
        Some(&mut volume.members[member as usize].unreadable)
    }

    /// A command comes back: true if its error has been taken care of, false if it is as any.
    pub(crate) fn examine(&mut self, path: &mut Path, id: IoId, now: Time) -> bool {
        let io = &path.ios[id];
        let (drive, op, offset, bytes, parent) = (io.drive, io.op, io.offset, io.bytes, io.parent);
        let health = &path.drives[drive as usize].health;
        let failed = health.failed || io.owner.is_cut_off();
        if op != Op::Read || !(failed || io.refused) {
            if let Some(integrity) = &mut path.integrity {
                integrity.deliver(id, parent, op);
            }
            return false;
        }
        if let Some(integrity) = &mut path.integrity {
            integrity.drop_payload(id);
        }
        if !failed {
            self.meet_unreadable(path, drive, offset, offset + bytes);
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

    /// The array that a drive stands in, and its place there.
    pub(crate) fn member_of(&self, drive: u32) -> Option<(u32, u32)> {
        for (array, volume) in self.volumes.iter().enumerate() {
            let members = volume.iter().flat_map(|volume| &volume.members);
            if let Some(member) = members.clone().position(|m| m.drive == drive) {
                return Some((array as u32, member as u32));
            }
        }
        None
    }

    /// A command has met unreadable sectors: they are known, as far as they have not been written since.
    fn meet_unreadable(&mut self, path: &mut Path, drive: u32, start: u64, end: u64) {
        let Some((array, member)) = self.member_of(drive) else {
            return;
        };
        let met = path.drives[drive as usize]
            .health
            .unreadable
            .within(start, end);
        if let Some(volume) = self.volumes[array as usize].as_mut() {
            volume.changes += 1;
            let known = &mut volume.members[member as usize].unreadable;
            met.iter()
                .for_each(|&(start, end)| known.insert(start, end));
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
            _ => volume.members.iter().position(|m| m.drive == io.drive),
        };
        let unit = volume.geometry.unit();
        let found =
            member.and_then(|member| volume.geometry.unit_at(member as u32, io.offset / unit));
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
    pub(crate) fn plan_again(&mut self, path: &mut Path, index: u32, now: Time) {
        let job = &mut self.jobs[index];
        job.flags.again = false;
        job.phase = Phase::Plan;
        // What it had to repair is out of date with its strategy.
        job.strategy = WriteStrategy::Plain;
        let io = job.io;
        path.ios[io].moved = 0;
        if let Some(integrity) = &mut path.integrity {
            integrity.plan_again(index);
        }
        self.step_job(path, index, now);
    }
}
