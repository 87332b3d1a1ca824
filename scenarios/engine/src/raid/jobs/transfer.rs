//! Commands of jobs and requests to the drives of a volume.

use crate::ids::{ArrayId, DriveId, JobId};
use crate::integrity::commands::Target;
use crate::layout::{Extent, Role, Run};
use crate::path::Path;
use crate::raid::jobs::{Stripes, Work, pages};
use raidlab_io::{Io, IoId, Op};
use raidlab_kernel::Time;

impl Stripes {
    /// A command of a job's, or of a request whose data pass through a memory, not sent yet.
    #[inline]
    pub(crate) fn new_raid_command(
        &mut self,
        path: &mut Path,
        parent: IoId,
        op: Op,
        drive: DriveId,
        (offset, bytes): (u64, u64),
        now: Time,
    ) -> IoId {
        let from_memory = self.jobs.is_from_memory(path, parent, op);
        let command = path.ios.claim();
        let mut io = Io::new(op, offset, bytes, now);
        (io.parent, io.drive, io.from_memory) = (parent, drive, from_memory);
        io.fua = op == Op::Write && path.ios[parent].fua;
        path.ios[command] = io;
        command
    }

    /// Sends a command below `parent` to a unit's drive; data go to every copy that lives, and on
    /// into the units behind it that are written together with it.
    pub(crate) fn send_to(
        &mut self,
        path: &mut Path,
        op: Op,
        job: JobId,
        place: (ArrayId, u64, Role),
        range: (u32, u32),
        now: Time,
    ) {
        let parent = self.jobs[job].io;
        let (array, stripe, role) = place;
        let mut bytes = u64::from(range.1 - range.0);
        let mut copies = 1;
        if op == Op::Write {
            bytes += self.jobs.bytes_of_mates(&path.ios, job);
            if let Role::Data(_) = role {
                copies = self.volume(array).geometry().copies();
            }
        }
        for copy in 0..copies {
            let volume = self.volume(array);
            let unit = match role {
                Role::Data(column) => volume.geometry().data(stripe, column, copy),
                Role::Parity(which) => volume.geometry().parity(stripe, which),
                Role::Copy(column, copy) => volume.geometry().data(stripe, column, copy),
            };
            let drives = match op {
                Op::Read => [Some((volume.drive_at(unit), bytes)), None],
                _ => volume.takers(unit, range.0, bytes),
            };
            let offset = unit.offset + u64::from(range.0);
            for (drive, bytes) in drives.into_iter().flatten() {
                path.ios[parent].pending += 1;
                let command = self.new_raid_command(path, parent, op, drive, (offset, bytes), now);
                self.follow_unit(path, command, job, (role, range.0), bytes);
                let job = &self.jobs[job];
                if job.goes_ahead() {
                    path.send_ahead(command, drive, now);
                } else if matches!(job.work, Work::Destage(_)) {
                    path.send_behind(command, drive, now);
                } else {
                    path.send(command, drive, now);
                }
            }
        }
    }

    /// Where the data of a command to a unit belong; of one that writes a run each unit's.
    fn follow_unit(
        &mut self,
        path: &mut Path,
        command: IoId,
        job: JobId,
        (role, start): (Role, u32),
        bytes: u64,
    ) {
        if path.integrity.is_none() {
            return;
        }
        let unit = self.volume(self.jobs[job].array).geometry().unit();
        let (mut job, mut start, mut left) = (job, start, bytes);
        while left > 0 {
            let own = left.min(unit - u64::from(start));
            path.attach(command, Target::Unit(job, role, start), own);
            (job, start, left) = (self.jobs[job].run.mate, 0, left - own);
        }
    }

    /// A job's extent takes its new data from its parent, or from the cache if it has none; it
    /// begins at an (array, offset).
    pub(crate) fn follow_new_data(
        &mut self,
        path: &mut Path,
        job: JobId,
        parent: IoId,
        (array, offset): (ArrayId, u64),
        extent: Extent,
    ) {
        let (array, offset) = self.redirects.origin(array, offset);
        let parent = self.jobs.writer(&path.ios, parent);
        if let Some(integrity) = &mut path.integrity {
            integrity.new_data(job, parent, array, extent, offset);
        }
    }

    /// Reads or writes a range of the array's own drives below `parent`.
    pub(crate) fn move_array(
        &mut self,
        path: &mut Path,
        parent: IoId,
        op: Op,
        array: ArrayId,
        (offset, bytes): (u64, u64),
        now: Time,
    ) {
        if op == Op::Write {
            self.write_array(path, parent, array, offset, bytes, now);
        } else {
            self.read_array(path, parent, array, offset, bytes, now);
        }
    }

    /// Reads a range of the array's own drives below `parent`: from living ones, or by computing.
    pub(crate) fn read_array(
        &mut self,
        path: &mut Path,
        parent: IoId,
        array: ArrayId,
        offset: u64,
        bytes: u64,
        now: Time,
    ) {
        let mut runs = self.volume(array).geometry().runs(offset, bytes);
        path.hold(parent);
        while let Some(run) = self.volume(array).geometry().next_run(&mut runs) {
            self.read_run(path, parent, array, run, now, None);
        }
        self.let_go(path, parent, now);
    }

    /// Reads a run below `parent`, with one command for as much of it as the same copy gives; time
    /// that an earlier try took is on `before`'s account.
    pub(crate) fn read_run(
        &mut self,
        path: &mut Path,
        parent: IoId,
        array: ArrayId,
        mut run: Run,
        now: Time,
        before: Option<&Io>,
    ) {
        let unit = self.volume(array).geometry().unit();
        while run.bytes > 0 {
            let volume = self.volume(array);
            let sound = volume.changes() == 0 || volume.is_sound(run.stripe, run.first(unit));
            let copy = volume.living_copy(path, array, &run, now).filter(|_| sound);
            let bytes = match copy {
                Some((copy, drive, offset)) => {
                    let bytes = self.volume(array).readable(&run, copy);
                    path.ios[parent].pending += 1;
                    let command =
                        self.new_raid_command(path, parent, Op::Read, drive, (offset, bytes), now);
                    inherit(path, command, before);
                    self.follow_read(path, command, array, Run { bytes, ..run });
                    path.send(command, drive, now);
                    bytes
                }
                None => self.do_without(path, parent, array, &run, now, before),
            };
            run = run.behind(bytes, unit);
        }
    }

    /// A run's first unit cannot be read, or not from all copies: its part of the run is computed, or read
    /// by a job that repairs the others, or refused. Gives the bytes of that part.
    fn do_without(
        &mut self,
        path: &mut Path,
        parent: IoId,
        array: ArrayId,
        run: &Run,
        now: Time,
        before: Option<&Io>,
    ) -> u64 {
        let geometry = self.volume(array).geometry();
        let extent = run.first(geometry.unit());
        let bytes = u64::from(extent.end - extent.start);
        if !geometry.is_redundant() {
            self.refuse(path, parent, bytes);
            return bytes;
        }
        let job = self.new_job(path, parent, array, run.stripe, Work::Recover, now);
        self.jobs[job].extents.push(extent);
        let record = self.jobs[job].io;
        inherit(path, record, before);
        self.begin(path, job, now);
        bytes
    }

    /// Where the data of a read of a run belong, unit by unit.
    fn follow_read(&mut self, path: &mut Path, command: IoId, array: ArrayId, run: Run) {
        if path.integrity.is_none() {
            return;
        }
        let unit = self.volume(array).geometry().unit();
        for (stripe, extent) in run.extents(unit) {
            let geometry = self.volume(array).geometry();
            let start = geometry.offset(stripe, extent.column) + u64::from(extent.start);
            let (_, start) = self.redirects.origin(array, start);
            let bytes = u64::from(extent.end - extent.start);
            path.attach(command, Target::Range(start), bytes);
        }
    }

    /// Writes a range of the array's own drives below `parent`: a job for each stripe or, where no
    /// parity ties units together, for each unit, those of a run together.
    pub(crate) fn write_array(
        &mut self,
        path: &mut Path,
        parent: IoId,
        array: ArrayId,
        offset: u64,
        bytes: u64,
        now: Time,
    ) {
        path.hold(parent);
        if self.volume(array).works_in_pages() {
            pages::write(self, path, parent, array, (offset, offset + bytes), now);
        } else if self.volume(array).geometry().parities() > 0 {
            self.write_stripes(path, parent, array, (offset, offset + bytes), now);
        } else {
            let mut runs = self.volume(array).geometry().runs(offset, bytes);
            while let Some(run) = self.volume(array).geometry().next_run(&mut runs) {
                self.write_run(path, parent, array, run, now);
            }
        }
        self.let_go(path, parent, now);
    }

    /// Writes a range (start, end) with parity, a job for each stripe.
    fn write_stripes(
        &mut self,
        path: &mut Path,
        parent: IoId,
        array: ArrayId,
        (mut offset, end): (u64, u64),
        now: Time,
    ) {
        let mut open: Option<(JobId, u64)> = None;
        while offset < end {
            let piece = self.volume(array).geometry().piece(offset, end - offset);
            let job = match open {
                Some((job, stripe)) if stripe == piece.stripe => job,
                _ => {
                    if let Some((job, _)) = open {
                        self.begin(path, job, now);
                    }
                    self.new_job(path, parent, array, piece.stripe, Work::Write, now)
                }
            };
            self.take_new_data(path, job, parent, array, piece.extent());
            open = Some((job, piece.stripe));
            offset += u64::from(piece.end - piece.start);
        }
        if let Some((job, _)) = open {
            self.begin(path, job, now);
        }
    }

    /// A job that writes gets one more extent.
    pub(crate) fn take_new_data(
        &mut self,
        path: &mut Path,
        job: JobId,
        parent: IoId,
        array: ArrayId,
        extent: Extent,
    ) {
        self.jobs[job].extents.push(extent);
        if path.integrity.is_some() {
            let unit = self
                .volume(array)
                .geometry()
                .offset(self.jobs[job].stripe, extent.column);
            let offset = unit + u64::from(extent.start);
            self.follow_new_data(path, job, parent, (array, offset), extent);
        }
    }
}

/// A command goes on with the account of an earlier try.
fn inherit(path: &mut Path, id: IoId, before: Option<&Io>) {
    if let Some(before) = before {
        let io = &mut path.ios[id];
        (io.issued, io.mark, io.parts) = (before.issued, before.mark, before.parts);
    }
}
