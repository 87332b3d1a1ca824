//! Drives that fail, are slow or have unreadable sectors, and what the controller makes of it.

use super::background::{Background, Task};
use super::fate::Target;
use super::job::job_of;
use super::jobs::Phase;
use super::volume::State;
use crate::agenda::Up;
use crate::layout::{Ranges, Role, Run, WriteStrategy};
use crate::owner::{Owner, OwnerOf};
use crate::system::{Event, System};
use raidlab_kernel::{Io, IoId, Nanos, Op, Part, Time};

/// What is wrong with a drive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    /// Answers nothing any more.
    pub failed: bool,
    /// Takes so much longer for each command.
    pub slow: Nanos,
    /// Sectors that cannot be read until they are written: the drive finds them a new place then.
    pub unreadable: Ranges,
}

impl System {
    /// Events that come to nothing, or later, since the power failed: true if that is so.
    pub(crate) fn sift(&mut self, event: Event, now: Time) -> bool {
        let (id, at_drive) = match event {
            Event::Admit(id) | Event::Dispatch(id) => (id, false),
            Event::Leg(id)
            | Event::AtDrive(id)
            | Event::Done(id)
            | Event::Late(id)
            | Event::Returned(id) => (id, true),
            Event::Issue(_) | Event::Arrival(_) | Event::Flush(_) | Event::Background(_)
                if now < self.raid.off_until =>
            {
                self.calendar.push(self.raid.off_until, event);
                return true;
            }
            _ => return false,
        };
        let aborted = self.ios[id].owner.is_aborted();
        if aborted {
            self.bury(id, at_drive, now);
        }
        aborted
    }

    /// A command is at its drive's medium: data change hands. True if it comes back later.
    pub(crate) fn watch_medium(&mut self, id: IoId, now: Time) -> bool {
        let slow = self.raid.health[self.ios[id].drive as usize].slow;
        if slow > Nanos::ZERO {
            let io = &mut self.ios[id];
            io.charge(Part::Service, now + slow);
            io.data_end = io.mark;
            self.calendar.push(now + slow, Event::Late(id));
            return true;
        }
        self.at_medium(id);
        false
    }

    /// A slow drive is done with a command.
    pub(crate) fn late(&mut self, id: IoId, now: Time) -> Up {
        self.at_medium(id);
        self.ascend(id, now)
    }

    fn at_medium(&mut self, id: IoId) {
        let io = &self.ios[id];
        let (drive, op, owner) = (io.drive, io.op, io.owner);
        let (start, end) = (io.offset, io.offset + io.bytes);
        let health = &mut self.raid.health[drive as usize];
        if health.failed || owner.is_cut_off() {
            return;
        }
        if !health.unreadable.is_empty() {
            match op {
                Op::Write => self.rewritten(drive, start, end),
                Op::Read => self.ios[id].refused = health.unreadable.touches(start, end),
                Op::Trim | Op::Flush => {}
            }
        }
        if let Some(fate) = &mut self.raid.fate {
            fate.at_medium(id, op == Op::Write, drive, start, end - start);
        }
    }

    /// Sectors of a drive have been written: they can be read again.
    fn rewritten(&mut self, drive: u32, start: u64, end: u64) {
        self.raid.health[drive as usize].unreadable.cut(start, end);
        if let Some(known) = self.known_unreadable(drive) {
            known.cut(start, end);
        }
    }

    /// Parts of what a drive has from `offset` on are not what should be there: they are made unreadable
    /// (a *puncture*), so that nobody takes them for data.
    pub(super) fn puncture(&mut self, drive: u32, offset: u64, parts: &[(u32, u32)]) {
        for &(start, end) in parts {
            let (start, end) = (offset + u64::from(start), offset + u64::from(end));
            let unreadable = &mut self.raid.health[drive as usize].unreadable;
            unreadable.insert(start, end);
            if let Some(known) = self.known_unreadable(drive) {
                known.insert(start, end);
            }
        }
    }

    /// Where new data of a job's stripe have no parity, since others are lost there, the old parity
    /// gives nonsense.
    pub(super) fn puncture_parity(&mut self, index: u32) {
        let job = &self.raid.jobs[index];
        if !job.work.is_write() {
            return;
        }
        let (array, stripe) = (job.array, job.stripe);
        let lost = self.raid.jobs.repair(index).lost.clone();
        for which in 0..self.volume(array).geometry.parities() {
            let volume = self.volume(array);
            let place = volume.geometry.parity(stripe, which);
            for (drive, _) in volume.takers(place, 0, 1).into_iter().flatten() {
                self.puncture(drive, place.offset, &lost);
            }
        }
    }

    /// What is known to be unreadable of a drive that stands in an array.
    fn known_unreadable(&mut self, drive: u32) -> Option<&mut Ranges> {
        let (array, member) = self.member_of(drive)?;
        let volume = self.raid.volumes[array as usize].as_mut()?;
        Some(&mut volume.members[member as usize].unreadable)
    }

    /// A command comes back: true if its error has been taken care of, false if it is as any.
    pub(crate) fn watch_return(&mut self, id: IoId, now: Time) -> bool {
        let io = &self.ios[id];
        let (drive, op, offset, bytes, parent) = (io.drive, io.op, io.offset, io.bytes, io.parent);
        let health = &self.raid.health[drive as usize];
        let failed = health.failed || io.owner.is_cut_off();
        if op != Op::Read || !(failed || io.refused) {
            if let Some(fate) = &mut self.raid.fate {
                fate.deliver(id, parent, op == Op::Read);
            }
            return false;
        }
        if let Some(fate) = &mut self.raid.fate {
            fate.drop_payload(id);
        }
        if !failed {
            self.meet_unreadable(drive, offset, offset + bytes);
        }
        match job_of(&self.ios[parent]) {
            Some(job) if !self.raid.jobs[job].work.reads_elsewhere() => {
                self.raid.jobs[job].flags.again = true;
                false
            }
            _ => {
                self.read_elsewhere(id, parent, now);
                true
            }
        }
    }

    /// The array that a drive stands in, and its place there.
    pub(crate) fn member_of(&self, drive: u32) -> Option<(u32, u32)> {
        for (array, volume) in self.raid.volumes.iter().enumerate() {
            let members = volume.iter().flat_map(|volume| &volume.members);
            if let Some(member) = members.clone().position(|m| m.drive == drive) {
                return Some((array as u32, member as u32));
            }
        }
        None
    }

    /// A command has met unreadable sectors: they are known, as far as they have not been written since.
    fn meet_unreadable(&mut self, drive: u32, start: u64, end: u64) {
        let Some((array, member)) = self.member_of(drive) else {
            return;
        };
        let met = self.raid.health[drive as usize]
            .unreadable
            .within(start, end);
        if let Some(volume) = self.raid.volumes[array as usize].as_mut() {
            volume.changes += 1;
            let known = &mut volume.members[member as usize].unreadable;
            met.iter()
                .for_each(|&(start, end)| known.insert(start, end));
        }
    }

    /// A read that failed is done again, from another copy or by computing, and the sectors that could not
    /// be read are repaired on the way; the time it has taken stays on the account.
    fn read_elsewhere(&mut self, id: IoId, parent: IoId, now: Time) {
        let io = self.ios[id].clone();
        self.ios.release(id);
        let array = match job_of(&self.ios[parent]) {
            Some(job) => self.raid.jobs[job].array,
            None => self.ios[parent].array,
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
            self.read_run(parent, array, run, now, Some(&io));
        } else {
            self.refuse(parent, io.bytes);
        }
        self.let_go(parent, now);
    }

    /// What a request or a read into the cache wants is lost.
    pub(crate) fn refuse(&mut self, reader: IoId, bytes: u64) {
        let io = &mut self.ios[reader];
        io.moved += bytes;
        io.refused = true;
        self.tally.refused += 1;
        if let Some(job) = job_of(&self.ios[reader]) {
            self.raid.jobs[job].flags.refused = true;
        }
        if let Some(fate) = &mut self.raid.fate {
            fate.refuse(reader);
        }
    }

    /// A job's reads met an error: what it knows is out of date, it plans anew.
    pub(crate) fn plan_again(&mut self, index: u32, now: Time) {
        let job = &mut self.raid.jobs[index];
        job.flags.again = false;
        job.phase = Phase::Plan;
        // What it had to repair is out of date with its strategy.
        job.strategy = WriteStrategy::Plain;
        let io = job.io;
        self.ios[io].moved = 0;
        if let Some(fate) = &mut self.raid.fate {
            fate.reread(index);
        }
        self.step_job(index, now);
    }

    /// A drive fails for good.
    pub(crate) fn fail_drive(&mut self, drive: u32, now: Time) {
        self.raid.health[drive as usize].failed = true;
        let name = self.drives[drive as usize].name.clone();
        self.log(now, format!("drive {name} failed"));
        let lost = self.lose(drive, now);
        self.settle(Up::None, now);
        if let Some((array, member)) = lost {
            if !self.volume(array).offline {
                self.rebuild_on_spare(array, member, now);
            }
        }
    }

    /// Commands on their way to a drive of this place do not reach its content any more.
    pub(crate) fn cut_off(&mut self, drive: u32, place: u32) {
        for id in self.ios.ids().collect::<Vec<_>>() {
            let io = &mut self.ios[id];
            let command = io.parent != Io::NONE && job_of(io).is_none();
            if command && io.drive == drive && !io.owner.is_cut_off() {
                io.owner = Owner::CutOff(place).into();
            }
        }
    }

    /// What a drive held is lost to its array; gives the array and its place there.
    pub(crate) fn lose(&mut self, drive: u32, now: Time) -> Option<(u32, u32)> {
        let place = self.member_of(drive).map_or(0, |(_, place)| place);
        self.cut_off(drive, place);
        for array in 0..self.raid.volumes.len() as u32 {
            let copied_to = |to: u32| to == drive;
            self.end_tasks(array, now, |task| match task {
                Task::Copyback { to, .. } => copied_to(to),
                _ => false,
            });
            if let Some(volume) = self.raid.volumes[array as usize].as_mut() {
                volume.spares.retain(|&spare| spare != drive);
                for member in &mut volume.members {
                    member.copy = member.copy.filter(|&(to, _)| !copied_to(to));
                }
            }
        }
        let (array, place) = self.member_of(drive)?;
        self.end_tasks(array, now, |task| match task {
            Task::Rebuild { member } | Task::Copyback { member, .. } => member == place,
            _ => false,
        });
        let volume = self.raid.volumes[array as usize].as_mut()?;
        volume.changes += 1;
        let member = &mut volume.members[place as usize];
        member.state = State::Failed;
        member.unreadable.clear();
        member.copy = None;
        if volume.is_offline() && !volume.offline {
            volume.offline = true;
            // They stay as far as they are.
            let tasks = volume.tasks.clone();
            let name = self.arrays[array as usize].name.clone();
            let what = format!("array {name} offline: more is lost than it can bear");
            self.log(now, what);
            self.give_up_tasks(array, &tasks, now);
            self.tier_fails(array, now);
        }
        Some((array, place))
    }

    /// Takes out tasks whose drive is gone; those of an array that is offline stay as they were.
    fn end_tasks(&mut self, array: u32, now: Time, ends: impl Fn(Task) -> bool) {
        let volume = self.raid.volumes[array as usize].as_mut();
        let Some(volume) = volume.filter(|volume| !volume.offline) else {
            return;
        };
        let of = |task: &Background| ends(task.task);
        let ended: Vec<Background> = volume.tasks.iter().copied().filter(of).collect();
        volume.tasks.retain(|task| !of(task));
        self.give_up_tasks(array, &ended, now);
    }

    /// What a command carries next, for the versions of the data.
    pub(crate) fn attach(&mut self, command: IoId, target: Target, bytes: u64) {
        let write = self.ios[command].op == Op::Write;
        if let Some(fate) = &mut self.raid.fate {
            fate.attach(command, write, target, bytes);
        }
    }
}
