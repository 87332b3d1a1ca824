//! A system driven from outside: by SimPy processes, by fio.
//!
//! The caller submits I/Os at the present and lets the system go on until something comes back
//! to it: an I/O of its own is complete, or a command wants service by a device of its own.

use crate::ids::{ArrayId, DriveId};
use crate::integrity::outside::OutsideVersions;
use crate::integrity::{DataReport, Integrity};
use crate::layout::Token;
use crate::path::agenda::Up;
use crate::plan::{Action, Plan, Sizes};
use crate::run::checks;
use crate::run::io_trace::Observer;
use crate::run::io_trace::life::Life;
use crate::run::layers::Layers;
use crate::run::livelock::EVENTS_BETWEEN_LOOKS;
use crate::run::report::RunResult;
use crate::run::snapshot::Snapshot;
use crate::run::system::System;
use crate::state::load::Request;
use crate::state::log::LogEntry;
use crate::state::owner::{OUTSIDE_NUMBERS, Owner, OwnerOf};
use crate::state::records::Outside;
use raidlab_io::{ByteRange, IoId, Op, Part};
use raidlab_kernel::Time;
use raidlab_models::{EraseBlocks, Fault, ReadUnits};

/// A system and the caller's side of it.
pub struct Simulation {
    system: System,
    /// When this caller's clock stands; never behind the system's.
    now: Time,
    /// Commands that devices of the caller's own are serving.
    handed_out: Vec<IoId>,
    /// What had been done at time zero, if the caller wants a report.
    before: Option<Snapshot>,
    /// Follows single I/Os, if the caller wants it.
    observer: Option<Observer>,
}

impl Simulation {
    /// The system of a plan at time zero.
    ///
    /// # Errors
    /// Every fault of the plan.
    pub fn new(plan: &Plan) -> Result<Simulation, Vec<Fault>> {
        Ok(Simulation {
            system: System::new(plan)?,
            now: Time::ZERO,
            handed_out: Vec::with_capacity(64),
            before: None,
            observer: None,
        })
    }

    /// The system of a plan, recorded from time zero on: the caller's I/Os, too.
    ///
    /// # Errors
    /// Every fault of the plan.
    pub fn recorded(plan: &Plan) -> Result<Simulation, Vec<Fault>> {
        Simulation::recorded_in_steps(plan, 0)
    }

    /// As `recorded`, with at most `steps` steps of a timeline for the caller's I/Os.
    ///
    /// # Errors
    /// Every fault of the plan.
    pub(crate) fn recorded_in_steps(plan: &Plan, steps: usize) -> Result<Simulation, Vec<Fault>> {
        let mut new = Simulation::new(plan)?;
        let arrays = new.system.layers.path.arrays.len();
        let outside = new.system.layers.loads.records_mut().outside_mut();
        outside.begin(arrays, steps, plan.details);
        new.before = Some(Snapshot::take(&mut new.system, Time::ZERO));
        Ok(new)
    }

    /// As `recorded`, with a record for each load of the caller's threads.
    ///
    /// # Arguments
    /// `load_of_thread`: the load of each of the plan's outside threads.
    ///
    /// # Errors
    /// Every fault of the plan.
    pub(crate) fn recorded_by_load(
        plan: &Plan,
        load_of_thread: Vec<u32>,
        loads: usize,
        steps: usize,
    ) -> Result<Simulation, Vec<Fault>> {
        let mut new = Simulation::recorded_in_steps(plan, steps)?;
        let outside = new.system.layers.loads.records_mut().outside_mut();
        outside.begin_by_load(load_of_thread, loads, steps);
        Ok(new)
    }

    /// A load of the caller's threads is recorded from a time on.
    ///
    /// # Arguments
    /// `steps`: of its timeline at the most.
    pub(crate) fn begin_load(&mut self, load: u32, from: Time, steps: usize) {
        let outside = self.system.layers.loads.records_mut().outside_mut();
        outside.begin_load(load, from, steps);
    }

    /// The first I/Os that are submitted from a time on are followed, if the plan asks for it.
    pub(crate) fn follow(&mut self, plan: &Plan) {
        self.observer = Observer::of(plan, Time::ZERO);
    }

    /// Those that were followed and are complete.
    pub(crate) fn followed(&mut self) -> Option<Vec<Life>> {
        let observer = self.observer.take()?;
        Some(observer.finish(&mut self.system))
    }

    /// The system, to be read out.
    pub(crate) fn system_mut(&mut self) -> &mut System {
        &mut self.system
    }

    /// What a recorded system has done up to the present.
    ///
    /// Loads of the plan first, then the caller's I/Os, a workload for each array. None if it is
    /// not recorded.
    ///
    /// # Arguments
    /// `plan`: the one that the system was made of.
    pub fn report(&mut self, plan: &Plan) -> Option<RunResult> {
        let before = self.before.as_ref()?;
        let (components, caches) = (
            before.components(&self.system, self.now),
            before.counts.reports(&self.system),
        );
        let breaches = checks::check(&self.system, self.now);
        let system = &mut self.system;
        let (until, unsaved) = (self.now, None);
        let mut report = RunResult::new(plan, system, until, components, caches, breaches, unsaved);
        report.add_tails(system, plan);
        Some(report)
    }

    /// The caller's clock.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The system, to look at.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Bytes that an array offers.
    pub fn capacity(&self, array: u32) -> Option<u64> {
        let array = self.system.layers.path.arrays.get(ArrayId::new(array))?;
        Some(array.layout.capacity())
    }

    /// True if every drive of an array takes trims.
    pub fn takes_trim(&self, array: u32) -> bool {
        let path = &self.system.layers.path;
        path.arrays.get(ArrayId::new(array)).is_some_and(|array| {
            let mut drives = array.drives.iter();
            drives.all(|&drive| path.drives[drive].device.takes_trim())
        })
    }

    /// The index of an array by its name.
    pub fn array(&self, name: &str) -> Option<u32> {
        let position = self
            .system
            .layers
            .path
            .arrays
            .iter()
            .position(|a| a.name == name)?;
        Some(position as u32)
    }

    /// The erase blocks of a drive as they are now; None if it has none, or is not there.
    pub fn erase_blocks(&self, drive: u32) -> Option<EraseBlocks> {
        let drive = self.system.layers.path.drives.get(DriveId::new(drive))?;
        drive.device.erase_blocks()
    }

    /// What reads have asked of all SSDs together so far.
    pub fn read_units(&self) -> ReadUnits {
        let drives = self.system.layers.path.drives.iter();
        drives.filter_map(|drive| drive.device.read_units()).sum()
    }

    /// Of the drive that temperature has slowed down longest: for how many seconds, and its highest
    /// one in degrees Celsius.
    pub fn throttled(&self) -> Option<(f64, f64)> {
        let drives = self.system.layers.path.drives.iter();
        let slowed = drives.filter_map(|drive| drive.device.throttled());
        slowed.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// When the system's next event is due.
    pub fn next_time(&mut self) -> Option<Time> {
        self.system.layers.path.calendar.next_time()
    }

    /// Submits an I/O now; `mark` (below 2^31) comes back with its completion. While the power is off
    /// it waits, as loads do.
    ///
    /// # Errors
    /// Says what is wrong with the array, the range or the mark, or that the array takes no trims.
    pub fn submit(
        &mut self,
        array: u32,
        op: Op,
        range: ByteRange,
        mark: u32,
    ) -> Result<IoId, String> {
        self.submit_since(array, (op, range), mark, self.now)
    }

    /// Submits a write to a file that is opened with `O_DSYNC`, or with `times` with `O_SYNC`: with FUA
    /// where the array hands that on. True if nothing is left to do when it is back; else a sync
    /// follows.
    ///
    /// # Errors
    /// As [`Simulation::submit`].
    pub fn submit_durable(
        &mut self,
        array: u32,
        range: ByteRange,
        times: bool,
        mark: u32,
    ) -> Result<bool, String> {
        let takes = array < self.system.layers.path.arrays.len() as u32
            && self.system.durability.takes_fua(ArrayId::new(array));
        let on_file = takes && self.has_file_system(array);
        // What a commit makes durable does not go by FUA.
        let forced = takes && !(on_file && times);
        self.submit_write(array, (Op::Write, range), forced, mark, self.now)?;
        Ok(forced && on_file)
    }

    /// Submits an I/O that has waited since a time before now, which counts in its latency.
    ///
    /// # Arguments
    /// `asked`: what, and with which bytes.
    ///
    /// # Errors
    /// As [`Simulation::submit`].
    pub(crate) fn submit_since(
        &mut self,
        array: u32,
        asked: (Op, ByteRange),
        mark: u32,
        since: Time,
    ) -> Result<IoId, String> {
        let forced = asked.0 == Op::Write && self.system.durability.forces(mark);
        self.submit_write(array, asked, forced, mark, since)
    }

    /// As `submit_since`, a write with FUA or without.
    fn submit_write(
        &mut self,
        array: u32,
        asked: (Op, ByteRange),
        forced: bool,
        mark: u32,
        since: Time,
    ) -> Result<IoId, String> {
        let (op, range) = asked;
        let ByteRange { offset, bytes } = range;
        let capacity = self.capacity(array).ok_or_else(|| {
            format!(
                "array {array}; there are {}",
                self.system.layers.path.arrays.len()
            )
        })?;
        if self
            .system
            .layers
            .raid
            .stripes()
            .state()
            .redirects()
            .above(ArrayId::new(array))
            .is_some()
        {
            return Err(format!("array {array}; it is the SSD cache of another"));
        }
        if op == Op::Trim && !self.takes_trim(array) {
            return Err("trim; the array has hard disks, which have no such command".into());
        }
        if op != Op::Flush && bytes == 0 {
            return Err("0 bytes; at least 1 is needed".into());
        }
        if offset.checked_add(bytes).is_none_or(|end| end > capacity) {
            return Err(format!(
                "bytes {offset} to {}; the array holds {capacity}",
                offset.saturating_add(bytes)
            ));
        }
        if mark >= OUTSIDE_NUMBERS {
            let most = OUTSIDE_NUMBERS - 1;
            return Err(format!("mark {mark}; at most {most} is possible"));
        }
        if op == Op::Flush && self.system.durability.serves(ArrayId::new(array)) {
            return Ok(self.call(array, mark, true));
        }
        if op == Op::Write {
            let durability = &mut self.system.durability;
            durability.outside_writes(ArrayId::new(array), mark, self.now);
        }
        let request = Request {
            op,
            offset,
            bytes,
            fua: forced,
        };
        self.system.layers.path.calendar.advance_to(self.now);
        if let Some(observer) = &mut self.observer {
            observer.begin_looking(&mut self.system, self.now);
        }
        let on = self.now.max(self.system.layers.path.off_until);
        let owner = Owner::Outside(mark).into();
        let Layers { path, loads, .. } = &mut self.system.layers;
        let since = since.min(self.now);
        let id = loads.claim(path, request, ArrayId::new(array), owner, since);
        let up = loads.take_outside(path, id, mark, on);
        self.system.layers.settle(up, self.now);
        self.system.layers.prefetch();
        Ok(id)
    }

    /// Makes what the thread of `mark` has written durable, as `fsync`; without `times` as
    /// `fdatasync`. On an array without a file system it is a flush.
    ///
    /// # Errors
    /// As [`Simulation::submit`].
    pub fn sync(&mut self, array: u32, times: bool, mark: u32) -> Result<IoId, String> {
        let arrays = self.system.layers.path.arrays.len() as u32;
        let is_call = !times && mark < OUTSIDE_NUMBERS && array < arrays;
        if is_call && self.system.durability.serves(ArrayId::new(array)) {
            return Ok(self.call(array, mark, times));
        }
        self.submit(array, Op::Flush, ByteRange::default(), mark)
    }

    /// True if an array has a file system.
    pub(crate) fn has_file_system(&self, array: u32) -> bool {
        self.system.durability.serves(ArrayId::new(array))
    }

    /// An outside caller's call to a file system.
    fn call(&mut self, array: u32, mark: u32, times: bool) -> IoId {
        let request = Request {
            op: Op::Flush,
            offset: 0,
            bytes: 0,
            fua: false,
        };
        let System {
            layers, durability, ..
        } = &mut self.system;
        layers.path.calendar.advance_to(self.now);
        let owner = Owner::Outside(mark).into();
        let Layers { path, loads, .. } = layers;
        let id = loads.claim(path, request, ArrayId::new(array), owner, self.now);
        path.ios[id].entered = Time::NEVER;
        durability.call(layers, id, mark, times, self.now);
        layers.settle(Up::None, self.now);
        id
    }

    /// Goes on until something comes back or the clock reaches `limit`, whichever is first.
    ///
    /// Something is an I/O that the caller submitted and that is complete, at the time it gives
    /// (which may lie a little ahead while the host's CPU works on it), or a command for a
    /// device of the caller's own. Nothing comes back once a drive or a load cannot
    /// go on ([`System::failure`]).
    pub fn advance(&mut self, limit: Time) -> Option<Outside> {
        let mut left = EVENTS_BETWEEN_LOOKS;
        loop {
            let ready = self.system.layers.path.outside.ready();
            let next = self
                .system
                .layers
                .path
                .calendar
                .next_time()
                .unwrap_or(Time::NEVER);
            if let Some(at) = ready.filter(|&at| at <= limit && at <= next) {
                self.now = self.now.max(at);
                let back = self.system.layers.path.outside.take();
                let command = back.filter(|back| back.drive.is_some());
                self.handed_out.extend(command.map(|command| command.io));
                return back;
            }
            if next > limit || next == Time::NEVER {
                // With neither a limit nor anything to come the clock stays where it is.
                if limit != Time::NEVER {
                    self.now = self.now.max(limit);
                }
                return None;
            }
            let went = match &mut self.observer {
                None => self.system.step(limit),
                Some(observer) => observer.step(&mut self.system, limit),
            };
            if !went && self.system.failed.is_some() {
                return None;
            }
            self.system.look_at_slow();
            self.now = self.now.max(self.system.now());
            left -= 1;
            if left == 0 {
                left = EVENTS_BETWEEN_LOOKS;
                self.system.look_at_clock();
                self.system.look_at_backlog();
            }
        }
    }

    /// When the next completion or command can be taken, if one waits.
    pub fn pending_outside(&self) -> Option<Time> {
        self.system.layers.path.outside.ready()
    }

    /// Something happens now, as an event of a plan would.
    ///
    /// # Errors
    /// Says that the system does not follow its data, or what is not there.
    pub fn act(&mut self, action: Action) -> Result<(), String> {
        if !self.system.layers.path.can_fail {
            return Err("nothing can fail in a system that does not follow its data".into());
        }
        let sizes = Sizes {
            drives: self.system.layers.path.drives.len(),
            arrays: self.system.layers.path.arrays.len(),
            controllers: self.system.layers.path.controllers.len(),
            workloads: self.system.layers.loads.records().workloads().len(),
        };
        if let Err((key, index, count)) = action.check(sizes) {
            return Err(format!("{key} {index}; there are {count}"));
        }
        let mut policies = self.system.layers.ssd_caches.of_array.iter().flatten();
        if matches!(action, Action::PowerFail { .. }) && policies.any(|policy| policy.forgets) {
            return Err("power_fail beside an SSD cache whose drives forget what they hold".into());
        }
        let cached = &self.system.caches.of_workload;
        if matches!(action, Action::PowerFail { .. }) && cached.iter().any(Option::is_some) {
            return Err("power_fail beside a page cache, whose loss is not modelled".into());
        }
        if matches!(action, Action::PowerFail { .. }) && self.system.durability.has_journal() {
            return Err("power_fail beside a file system, whose loss is not modelled".into());
        }
        self.system.layers.path.calendar.advance_to(self.now);
        self.system.happen(action, self.now);
        self.system.layers.settle(Up::None, self.now);
        Ok(())
    }

    /// What became of the data so far, if the system follows them.
    pub fn data(&mut self) -> Option<DataReport> {
        self.system.data_report()
    }

    /// From now on the versions of what this caller writes and reads are noted for it.
    ///
    /// # Errors
    /// The system does not follow its data.
    pub fn follow_content(&mut self) -> Result<(), String> {
        let integrity = self.system.layers.path.integrity.as_mut();
        integrity.map(Integrity::serve_outside).ok_or_else(|| {
            "the versions of data are not known in a system that does not follow them".into()
        })
    }

    /// Writes of this caller's that have begun since the last call: the mark, and the number that
    /// with a sector's makes the token of that sector ([`Token::written`]).
    pub fn begun_writes(&mut self) -> Vec<(u32, u64)> {
        let integrity = self.system.layers.path.integrity.as_mut();
        let outside = integrity.and_then(|integrity| integrity.outside.as_mut());
        outside.map_or_else(Vec::new, OutsideVersions::take_begun)
    }

    /// The tokens that a read of this caller's got, a sector each; [`Token::UNWRITTEN`] of one that
    /// was never written. None if it was refused, or was asked for before.
    pub fn tokens_read(&mut self, mark: u32) -> Option<Vec<Token>> {
        self.system
            .layers
            .path
            .integrity
            .as_mut()?
            .outside
            .as_mut()?
            .take_got(mark)
    }

    /// What has happened so far.
    pub fn log(&self) -> &[LogEntry] {
        self.system.layers.path.log.entries()
    }

    /// A device of the caller's own has served a command, now.
    ///
    /// # Errors
    /// Says that this command was not handed out, or was served before.
    pub fn served(&mut self, io: IoId) -> Result<(), String> {
        let position = self.handed_out.iter().position(|&out| out == io);
        let position = position.ok_or_else(|| format!("command {io} is not being served"))?;
        self.handed_out.swap_remove(position);
        self.system.layers.path.calendar.advance_to(self.now);
        if self.system.layers.path.ios[io].owner.is_aborted() {
            // The power failed meanwhile.
            self.system.layers.path.release_aborted(io, true, self.now);
            return Ok(());
        }
        let path = &mut self.system.layers.path;
        let record = &mut path.ios[io];
        path.drives[record.drive]
            .device
            .served(record.mark, self.now);
        record.charge(Part::Service, self.now);
        record.data_end = self.now;
        let up = path.device_done(io, self.now);
        self.system.layers.settle(up, self.now);
        Ok(())
    }
}
