//! Commands of jobs and requests to the drives of a volume.

use super::fate::Target;
use super::job::{Work, job_of};
use super::stripe::{Extent, Role};
use crate::system::System;
use raidlab_kernel::{Io, IoId, Op, Time};

impl System {
    pub(crate) fn volume(&self, array: u32) -> &super::Volume {
        self.raid.volumes[array as usize]
            .as_ref()
            .expect("the array's data pass through memory")
    }

    /// Sends a command below `parent` to a unit's drive; data go to every copy that lives.
    pub(crate) fn send_to(
        &mut self,
        parent: IoId,
        op: Op,
        job: u32,
        place: (u32, u64, Role),
        range: (u32, u32),
        now: Time,
    ) {
        let (array, stripe, role) = place;
        let bytes = u64::from(range.1 - range.0);
        let copies = match role {
            Role::Data(_) if op == Op::Write => self.volume(array).geometry.copies(),
            _ => 1,
        };
        for copy in 0..copies {
            let volume = self.volume(array);
            let unit = match role {
                Role::Data(column) => volume.geometry.data(stripe, column, copy),
                Role::Parity(which) => volume.geometry.parity(stripe, which),
                Role::Copy(column, copy) => volume.geometry.data(stripe, column, copy),
            };
            let member = &volume.members[unit.member as usize];
            let copy_to = member.copy.filter(|&(_, upto)| unit.offset < upto);
            let plain = volume.geometry.parities() == 0;
            if op == Op::Read || volume.lives(unit) || plain && volume.takes_writes(unit) {
                let drives = [Some(member.drive), copy_to.map(|(drive, _)| drive)];
                let offset = unit.offset + u64::from(range.0);
                for drive in drives
                    .into_iter()
                    .take(1 + usize::from(op == Op::Write))
                    .flatten()
                {
                    self.ios[parent].pending += 1;
                    let command = self.new_command(parent, op, drive, offset, bytes, now);
                    self.attach(command, Target::Unit(job, role, range.0));
                    self.send(command, drive, now);
                }
            }
        }
    }

    /// A job's extent takes its new data from its parent, or from the cache if it has none; it
    /// begins at an (array, offset).
    pub(crate) fn follow_new_data(
        &mut self,
        job: u32,
        parent: IoId,
        (array, offset): (u32, u64),
        extent: Extent,
    ) {
        let (array, offset) = self.origin(array, offset);
        let parent = self.writer(parent);
        if let Some(fate) = &mut self.raid.fate {
            fate.new_data(job, parent, array, extent, offset);
        }
    }

    /// Who has the data of a write below `parent`: itself, or the request whose way to the tier it is.
    fn writer(&self, parent: IoId) -> IoId {
        let above = (parent != Io::NONE)
            .then(|| job_of(&self.ios[parent]))
            .flatten();
        match above.map(|above| self.raid.jobs[above].work) {
            Some(Work::Past) => self.ios[parent].parent,
            _ => parent,
        }
    }

    /// Reads or writes a range of the array below `parent`, on its tier as far as that has it.
    pub(crate) fn move_range(
        &mut self,
        parent: IoId,
        op: Op,
        array: u32,
        offset: u64,
        bytes: u64,
        now: Time,
    ) {
        if self.raid.tiers[array as usize].is_some() {
            self.go_by_line(parent, op, array, (offset, bytes), now);
        } else {
            self.move_array(parent, op, array, offset, bytes, now);
        }
    }

    /// Reads or writes a range of the array's own drives below `parent`.
    pub(crate) fn move_array(
        &mut self,
        parent: IoId,
        op: Op,
        array: u32,
        offset: u64,
        bytes: u64,
        now: Time,
    ) {
        if op == Op::Write {
            self.write_array(parent, array, offset, bytes, now);
        } else {
            self.read_array(parent, array, offset, bytes, now);
        }
    }

    /// Reads a range of the array's own drives below `parent`: from living ones, or by computing.
    pub(crate) fn read_array(
        &mut self,
        parent: IoId,
        array: u32,
        mut offset: u64,
        bytes: u64,
        now: Time,
    ) {
        let end = offset + bytes;
        self.hold(parent);
        while offset < end {
            let piece = self.volume(array).geometry.piece(offset, end - offset);
            let extent = Extent {
                column: piece.column,
                start: piece.start,
                end: piece.end,
            };
            self.read_piece(parent, array, piece.stripe, extent, now, None);
            offset += u64::from(piece.end - piece.start);
        }
        self.let_go(parent, now);
    }

    /// Reads a piece below `parent`; time that an earlier try took is on `before`'s account.
    pub(crate) fn read_piece(
        &mut self,
        parent: IoId,
        array: u32,
        stripe: u64,
        extent: Extent,
        now: Time,
        before: Option<&Io>,
    ) {
        if let Some((drive, unit)) = self.living_copy(array, stripe, extent, now) {
            let bytes = u64::from(extent.end - extent.start);
            self.ios[parent].pending += 1;
            let offset = unit + u64::from(extent.start);
            let command = self.new_command(parent, Op::Read, drive, offset, bytes, now);
            self.inherit(command, before);
            if self.raid.fate.is_some() {
                let geometry = &self.volume(array).geometry;
                let start = geometry.offset(stripe, extent.column) + u64::from(extent.start);
                let (_, start) = self.origin(array, start);
                self.attach(command, Target::Range(start));
            }
            self.send(command, drive, now);
        } else if self.volume(array).geometry.parities() == 0 {
            self.refuse(parent, u64::from(extent.end - extent.start));
        } else {
            let job = self.new_job(parent, array, stripe, Work::Recover, now);
            self.raid.jobs[job].extents.push(extent);
            let record = self.raid.jobs[job].io;
            self.inherit(record, before);
            self.begin(job, now);
        }
    }

    fn inherit(&mut self, id: IoId, before: Option<&Io>) {
        if let Some(before) = before {
            let io = &mut self.ios[id];
            (io.issued, io.mark, io.parts) = (before.issued, before.mark, before.parts);
        }
    }

    /// The living copy with the fewest commands before it; among equals the nearest.
    pub(crate) fn living_copy(
        &self,
        array: u32,
        stripe: u64,
        extent: Extent,
        now: Time,
    ) -> Option<(u32, u64)> {
        let volume = self.volume(array);
        let copies = (0..volume.geometry.copies())
            .map(|copy| volume.geometry.data(stripe, extent.column, copy))
            .filter(|&place| volume.lives(place))
            .map(|place| (volume.members[place.member as usize].drive, place.offset));
        if volume.geometry.copies() == 1 {
            return copies.into_iter().next();
        }
        copies.min_by_key(|&(drive, offset)| {
            self.drives[drive as usize].cost(now, offset + u64::from(extent.start), false)
        })
    }

    /// Writes a range of the array's own drives below `parent`, a job for each stripe (or unit,
    /// where no parity ties units together).
    pub(crate) fn write_array(
        &mut self,
        parent: IoId,
        array: u32,
        mut offset: u64,
        bytes: u64,
        now: Time,
    ) {
        let end = offset + bytes;
        let together = self.volume(array).geometry.parities() > 0;
        self.hold(parent);
        let mut open: Option<(u32, u64)> = None;
        while offset < end {
            let piece = self.volume(array).geometry.piece(offset, end - offset);
            let job = match open {
                Some((job, stripe)) if together && stripe == piece.stripe => job,
                _ => {
                    if let Some((job, _)) = open {
                        self.begin(job, now);
                    }
                    self.new_job(parent, array, piece.stripe, Work::Write, now)
                }
            };
            let extent = Extent {
                column: piece.column,
                start: piece.start,
                end: piece.end,
            };
            self.raid.jobs[job].extents.push(extent);
            if self.raid.fate.is_some() {
                self.follow_new_data(job, parent, (array, offset), extent);
            }
            open = Some((job, piece.stripe));
            offset += u64::from(piece.end - piece.start);
        }
        if let Some((job, _)) = open {
            self.begin(job, now);
        }
        self.let_go(parent, now);
    }
}
