//! What jobs work on: the arrays with what their drives give, where lines lie, and the jobs themselves.

use crate::ids::{ArrayId, CopyId, DriveId, JobId, ParityId, StripeId};
use crate::integrity::commands::Target;
use crate::layout::{Extent, Role, Run};
use crate::path::IoPath;
use crate::path::agenda::Up;
use crate::raid::jobs::table::{Job, Jobs, Phase};
use crate::raid::jobs::work::{CopyTo, Work};
use crate::raid::redirect::{Redirect, Redirects};
use crate::raid::volume::{Volume, Volumes};
use crate::state::event::RaidEvent;
use crate::state::owner::{Owner, OwnerOf, job_of};
use raidlab_io::{ByteRange, Io, IoId, Op, Part};
use raidlab_kernel::{Nanos, Time};
use raidlab_models::SlotId;

/// The volumes of all arrays, where their lines lie, and the jobs on their stripes.
#[derive(Debug)]
pub(crate) struct StripeState {
    pub(super) volumes: Volumes,
    pub(super) redirects: Redirects,
    pub(super) jobs: Jobs,
    /// Jobs whose writes are done again when the power is back.
    pub(super) preserved: Vec<JobId>,
    /// Reads and writes refused because data are lost.
    refused: u64,
}

impl StripeState {
    /// Arrays without a job.
    pub(super) fn new(volumes: Volumes, redirects: Redirects, jobs: Jobs) -> StripeState {
        StripeState {
            volumes,
            redirects,
            jobs,
            preserved: Vec::new(),
            refused: 0,
        }
    }

    pub fn volumes(&self) -> &Volumes {
        &self.volumes
    }

    pub fn volumes_mut(&mut self) -> &mut Volumes {
        &mut self.volumes
    }

    /// The volume of an array whose data pass through memory.
    #[inline]
    pub fn volume(&self, array: ArrayId) -> &Volume {
        self.volumes.of(array)
    }

    #[inline]
    pub fn volume_mut(&mut self, array: ArrayId) -> &mut Volume {
        self.volumes.of_mut(array)
    }

    pub fn redirects(&self) -> &Redirects {
        &self.redirects
    }

    pub fn redirects_mut(&mut self) -> &mut Redirects {
        &mut self.redirects
    }

    /// Where the lines of an array lie, if an SSD cache holds some.
    #[inline]
    pub fn redirect(&self, array: ArrayId) -> Option<&Redirect> {
        self.redirects.get(array)
    }

    #[inline]
    pub fn redirect_mut(&mut self, array: ArrayId) -> Option<&mut Redirect> {
        self.redirects.get_mut(array)
    }

    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    pub fn jobs_mut(&mut self) -> &mut Jobs {
        &mut self.jobs
    }

    /// The job whose data leave the controller's cache, with what says where they go.
    pub fn job_beside(&mut self, job: JobId) -> (&mut Job, &Volumes, &Redirects) {
        (&mut self.jobs[job], &self.volumes, &self.redirects)
    }

    /// Reads and writes refused because data are lost.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// A job below `parent`, for the caller to fill and then to `begin`.
    pub(crate) fn new_job(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        array: ArrayId,
        stripe: StripeId,
        work: Work,
        now: Time,
    ) -> JobId {
        let io = path.ios.claim();
        let index = self.jobs.claim();
        path.ios[io] = Io::new(Op::Write, ByteRange::new(0, 0), now);
        path.ios[io].parent = parent;
        path.ios[io].owner = Owner::Job(index).into();
        self.jobs.begin(index, io, array, stripe, work);
        if parent != Io::NONE {
            path.ios[io].fua = path.ios[parent].fua;
            path.ios[parent].pending += 1;
        }
        index
    }

    /// A command of a job's, or of a request whose data pass through a memory, not sent yet.
    #[inline]
    pub(crate) fn new_command(
        &self,
        path: &mut IoPath,
        parent: IoId,
        op: Op,
        drive: DriveId,
        range: ByteRange,
        now: Time,
    ) -> IoId {
        let from_memory = self.jobs.is_from_memory(path, parent, op);
        let command = path.new_command(parent, op, drive, range, now);
        path.ios[command].from_memory = from_memory;
        command
    }

    /// Sends a command below `parent` to a unit's drive; data go to every copy that lives, and on
    /// into the units behind it that are written together with it.
    pub(crate) fn send_to(
        &mut self,
        path: &mut IoPath,
        op: Op,
        job: JobId,
        place: (ArrayId, StripeId, Role),
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
        for copy in CopyId::first(copies) {
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
                let command =
                    self.new_command(path, parent, op, drive, ByteRange { offset, bytes }, now);
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
        path: &mut IoPath,
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
        path: &mut IoPath,
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

    /// Where the data of a read of a run belong, unit by unit.
    pub(super) fn follow_read(
        &mut self,
        path: &mut IoPath,
        command: IoId,
        array: ArrayId,
        run: Run,
    ) {
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

    /// A job that writes gets one more extent.
    pub(crate) fn take_new_data(
        &mut self,
        path: &mut IoPath,
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

    /// A command is at its drive's medium: data change hands. True if it comes back later.
    pub(crate) fn meet_medium(&mut self, path: &mut IoPath, id: IoId, now: Time) -> bool {
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
    pub(crate) fn late(&mut self, path: &mut IoPath, id: IoId, now: Time) -> Up {
        self.at_medium(path, id);
        path.ascend(id, now)
    }

    fn at_medium(&mut self, path: &mut IoPath, id: IoId) {
        let io = &path.ios[id];
        let (drive, op, owner) = (io.drive, io.op, io.owner);
        let range = io.range();
        let health = &mut path.drives[drive].health;
        if health.failed || owner.is_cut_off() {
            return;
        }
        if !health.unreadable.is_empty() {
            match op {
                Op::Write => self.volumes.rewritten(&mut path.drives, drive, range),
                Op::Read => path.ios[id].refused = health.unreadable.touches(range),
                Op::Trim | Op::Flush => {}
            }
        }
        if let Some(integrity) = &mut path.integrity {
            integrity.drives.at_medium(id, op, drive, range);
        }
    }

    /// Where new data of a job's stripe have no parity, since others are lost there, the old parity
    /// gives nonsense.
    pub(crate) fn puncture_parity(&mut self, path: &mut IoPath, index: JobId) {
        let job = &self.jobs[index];
        if !job.work.is_write() {
            return;
        }
        let (array, stripe) = (job.array, job.stripe);
        let lost = self.jobs.repair(index).lost.clone();
        for which in ParityId::first(self.volume(array).geometry().parities()) {
            let volume = self.volume(array);
            let place = volume.geometry().parity(stripe, which);
            for (drive, _) in volume.takers(place, 0, 1).into_iter().flatten() {
                self.volumes
                    .puncture(&mut path.drives, drive, place.offset, &lost);
            }
        }
    }

    /// What a request or a read into the cache wants is lost.
    pub(crate) fn refuse(&mut self, path: &mut IoPath, reader: IoId, bytes: u64) {
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

    /// New data that cannot be read back have nowhere to go: their write is refused. A job has written
    /// its own, or those of another one that has joined it.
    pub(super) fn refuse_what_is_lost(&mut self, path: &mut IoPath, index: JobId, of: JobId) {
        let volume = self.volumes.of(self.jobs[index].array);
        let own = self.jobs.own(of);
        let (stripe, lost) = (self.jobs[index].stripe, &self.jobs.repair(index).lost);
        let readable = |e: &Extent| volume.keeps(stripe, *e, lost);
        let parent = path.ios[self.jobs[of].io].parent;
        let waits = matches!(self.jobs[of].work, Work::Write) && parent != Io::NONE;
        if waits && !own.iter().all(readable) {
            self.refuse(path, parent, 0);
        }
    }

    /// What a job has recovered goes to the requests that wait for it; its tokens are dropped.
    pub(super) fn follow_finish(&mut self, path: &mut IoPath, index: JobId) {
        let job = &self.jobs[index];
        let parent = path.ios[job.io].parent;
        let recovered = matches!(job.work, Work::Recover) && !job.flags.refused;
        let found = recovered && parent != Io::NONE;
        let (array, stripe, extent) = (job.array, job.stripe, job.extents.first().copied());
        if let Some(extent) = extent.filter(|_| found && path.integrity.is_some()) {
            let unit = self.volume(array).geometry().offset(stripe, extent.column);
            let (_, offset) = self.redirects.origin(array, unit + u64::from(extent.start));
            if let Some(integrity) = &mut path.integrity {
                integrity.deliver_recovered(index, parent, extent, offset);
            }
        }
        if let Some(integrity) = &mut path.integrity {
            integrity.jobs.end_job(index);
        }
    }

    /// The lines of an SSD cache that are just being written back, as they are, from the controller's
    /// memory; other copies are given up.
    pub(crate) fn lines_in_memory(&mut self, path: &mut IoPath, array: ArrayId) -> Vec<SlotId> {
        let Some(redirect) = self.redirects.get(array) else {
            return Vec::new();
        };
        let mut saved = Vec::new();
        for index in self.jobs.ids().collect::<Vec<_>>() {
            let job = &mut self.jobs[index];
            let Work::Copy(copy) = job.work else {
                continue;
            };
            if copy.to == CopyTo::Array && job.array == array {
                if job.phase == Phase::Finish && redirect.map().is_leaving(copy.slot) {
                    saved.push(copy.slot);
                } else {
                    job.flags.refused = true;
                }
            }
        }
        // What they had begun to write is older than what is lost.
        for index in self.jobs.ids().collect::<Vec<_>>() {
            if let Some(copy) = self.jobs.copy_above(&path.ios, index) {
                let copy = &self.jobs[copy];
                let older = copy.work.is_write_back() && copy.flags.refused;
                self.jobs[index].flags.older |= older;
            }
        }
        saved
    }

    /// Whether the SSD cache that a job copies to or from has failed.
    pub(crate) fn has_lost_ssd_cache(&self, copy: JobId) -> bool {
        let redirect = self.redirects.get(self.jobs[copy].array);
        redirect.is_some_and(|redirect| redirect.has_failed())
    }

    /// Nothing is copied to or from an array that is offline, nor while writes that an outage cut
    /// off are done again.
    pub(crate) fn may_copy(&self, path: &IoPath, array: ArrayId) -> bool {
        !path.can_fail || !self.volume(array).is_offline() && self.preserved.is_empty()
    }

    /// A job has written new data to an array: what was lost there is so no more.
    pub(crate) fn made_good(&mut self, index: JobId) {
        let job = &self.jobs[index];
        let redirect = self.redirects.get_mut(job.array);
        let Some(redirect) = redirect.filter(|redirect| redirect.has_lost() && !job.flags.older)
        else {
            return;
        };
        let Some(volume) = self.volumes.get(job.array) else {
            return;
        };
        let writes = job.work.is_write() && !volume.is_offline();
        let lost = &self.jobs.repair(index).lost;
        let readable = |e: &&Extent| volume.keeps(job.stripe, **e, lost);
        for extent in job.extents.iter().filter(|e| writes && readable(e)) {
            let unit = volume.geometry().offset(job.stripe, extent.column);
            let end = unit + u64::from(extent.end);
            redirect.made_good(ByteRange::between(unit + u64::from(extent.start), end));
        }
    }

    /// Jobs that are writing to arrays of which that is asked.
    pub(crate) fn writing_jobs(&self, of: impl Fn(ArrayId) -> bool) -> Vec<JobId> {
        let writes = |&index: &JobId| {
            let job = &self.jobs[index];
            let writing = job.work.is_write() || matches!(job.work, Work::Recover);
            !job.is_aborted() && writing && job.phase == Phase::Finish && of(job.array)
        };
        self.jobs.ids().filter(writes).collect()
    }

    /// These jobs are done again when the power is back.
    pub(crate) fn preserve(&mut self, jobs: Vec<JobId>) {
        self.preserved = jobs;
    }

    /// The first jobs of the runs that are.
    pub(crate) fn preserved_heads(&self) -> Vec<JobId> {
        let preserved = self.preserved.iter().copied();
        preserved
            .filter(|&job| self.jobs[job].is_head(job))
            .collect()
    }
}
