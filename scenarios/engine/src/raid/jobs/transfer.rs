//! Commands of jobs and requests to the drives of a volume.

use crate::ids::{ArrayId, JobId, StripeId};
use crate::layout::Run;
use crate::path::IoPath;
use crate::raid::jobs::{Stripes, Work};
use raidlab_io::{ByteRange, Io, IoId, Op};
use raidlab_kernel::Time;

impl Stripes {
    /// Reads or writes a range of the array's own drives below `parent`.
    pub(crate) fn move_array(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        op: Op,
        array: ArrayId,
        range: ByteRange,
        now: Time,
    ) {
        if op == Op::Write {
            self.write_array(path, parent, array, range, now);
        } else {
            self.read_array(path, parent, array, range, now);
        }
    }

    /// Reads a range of the array's own drives below `parent`: from living ones, or by computing.
    pub(crate) fn read_array(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        array: ArrayId,
        range: ByteRange,
        now: Time,
    ) {
        let mut runs = self.state.volume(array).geometry().runs(range);
        path.ios[parent].hold();
        while let Some(run) = self.state.volume(array).geometry().next_run(&mut runs) {
            self.read_run(path, parent, array, run, now, None);
        }
        self.let_go(path, parent, now);
    }

    /// Reads a run below `parent`, with one command for as much of it as the same copy gives; time
    /// that an earlier try took is on `before`'s account.
    pub(crate) fn read_run(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        array: ArrayId,
        mut run: Run,
        now: Time,
        before: Option<&Io>,
    ) {
        let unit = self.state.volume(array).geometry().unit();
        while run.bytes > 0 {
            let volume = self.state.volume(array);
            let sound =
                volume.places().changes() == 0 || volume.is_sound(run.stripe, run.first(unit));
            let copy = volume.living_copy(path, array, &run, now).filter(|_| sound);
            let bytes = match copy {
                Some((copy, drive, offset)) => {
                    let bytes = self.state.volume(array).readable(&run, copy);
                    path.ios[parent].pending += 1;
                    let command = self.state.new_command(
                        path,
                        parent,
                        Op::Read,
                        drive,
                        ByteRange { offset, bytes },
                        now,
                    );
                    inherit(path, command, before);
                    self.state
                        .follow_read(path, command, array, Run { bytes, ..run });
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
        path: &mut IoPath,
        parent: IoId,
        array: ArrayId,
        run: &Run,
        now: Time,
        before: Option<&Io>,
    ) -> u64 {
        let geometry = self.state.volume(array).geometry();
        let extent = run.first(geometry.unit());
        let bytes = u64::from(extent.end - extent.start);
        if !geometry.is_redundant() {
            self.state.refuse(path, parent, bytes);
            return bytes;
        }
        let job = self
            .state
            .new_job(path, parent, array, run.stripe, Work::Recover, now);
        self.state.jobs[job].extents.push(extent);
        let record = self.state.jobs[job].io;
        inherit(path, record, before);
        self.begin(path, job, now);
        bytes
    }

    /// Writes a range of the array's own drives below `parent`: a job for each stripe or, where no
    /// parity ties units together, for each unit, those of a run together.
    pub(crate) fn write_array(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        array: ArrayId,
        range: ByteRange,
        now: Time,
    ) {
        path.ios[parent].hold();
        if self.state.volume(array).host().in_pages() {
            self.write_pages(path, parent, array, range, now);
        } else if self.state.volume(array).geometry().parities() > 0 {
            self.write_stripes(path, parent, array, range, now);
        } else {
            let mut runs = self.state.volume(array).geometry().runs(range);
            while let Some(run) = self.state.volume(array).geometry().next_run(&mut runs) {
                self.write_run(path, parent, array, run, now);
            }
        }
        self.let_go(path, parent, now);
    }

    /// Writes a range with parity, a job for each stripe.
    fn write_stripes(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        array: ArrayId,
        range: ByteRange,
        now: Time,
    ) {
        let (mut offset, end) = (range.offset, range.end());
        let mut open: Option<(JobId, StripeId)> = None;
        while offset < end {
            let piece = self
                .state
                .volume(array)
                .geometry()
                .piece(ByteRange::new(offset, end - offset));
            let job = match open {
                Some((job, stripe)) if stripe == piece.stripe => job,
                _ => {
                    if let Some((job, _)) = open {
                        self.begin(path, job, now);
                    }
                    self.state
                        .new_job(path, parent, array, piece.stripe, Work::Write, now)
                }
            };
            self.state
                .take_new_data(path, job, parent, array, piece.extent());
            open = Some((job, piece.stripe));
            offset += u64::from(piece.end - piece.start);
        }
        if let Some((job, _)) = open {
            self.begin(path, job, now);
        }
    }
}

/// A command goes on with the account of an earlier try.
fn inherit(path: &mut IoPath, id: IoId, before: Option<&Io>) {
    if let Some(before) = before {
        let io = &mut path.ios[id];
        (io.issued, io.mark, io.parts) = (before.issued, before.mark, before.parts);
    }
}
