//! Requests that meet the cache: which path they take, hits, write-back, waiting for room.

use crate::ids::{ArrayId, ControllerId, JobId};
use crate::layout::Role;
use crate::path::IoPath;
use crate::path::agenda::{CacheCall, Up};
use crate::plan::{ReadAhead, WritePolicy};
use crate::raid::cache::ControllerCache;
use crate::raid::cache::view::Cached;
use crate::raid::jobs::Stripes;
use crate::raid::jobs::prefetch_transfer;
use crate::raid::lines::Lines;
use raidlab_io::{ByteRange, IoId, Op, Part, Stage};
use raidlab_kernel::Time;
use raidlab_models::{Found, LineKey, PAGE, SECTOR};

/// Pages that a write of `bytes` bytes can touch.
fn pages_at_most(bytes: u64, line: u64) -> u64 {
    bytes / PAGE + 2 * (bytes / line + 2)
}

impl ControllerCache {
    /// Asks for the memory in which a request will be looked up, and for what its drive will need
    /// of its map if it is a read, as most are not in the cache.
    pub(crate) fn prefetch_tables(&self, stripes: &Stripes, path: &IoPath, id: IoId) {
        let io = &path.ios[id];
        let Some(cached) = self.memories.cached(stripes, io.array) else {
            return;
        };
        let Cached {
            volume,
            caching,
            memory,
            ..
        } = cached;
        let piece = volume.geometry().piece(io.range());
        let (line, _) = caching
            .lines(ByteRange::new(io.offset, 1))
            .next()
            .unwrap_or_default();
        match io.op {
            Op::Read => {
                memory.cache.prefetch(line, None);
                let role = Role::Data(piece.column);
                prefetch_transfer(path, volume, piece.stripe, role, (piece.start, piece.end));
            }
            Op::Write => {
                let group = volume.group(piece.stripe, piece.column);
                memory.cache.prefetch(line, Some((caching.space, group)));
            }
            Op::Trim | Op::Flush => {}
        }
    }

    /// Whether writes to an array are acknowledged when they are in the cache.
    pub(crate) fn writes_back(&self, array: ArrayId) -> bool {
        let Some(caching) = self.memories.caching(array) else {
            return false;
        };
        match caching.write {
            WritePolicy::WriteThrough => false,
            WritePolicy::AlwaysWriteBack => true,
            WritePolicy::WriteBack => {
                let memory = self.memories.get(caching.controller);
                memory.is_some_and(|memory| memory.safe)
            }
        }
    }

    /// Whether a write goes into the cache: by its array's policy, and if it is not too large.
    fn goes_back(&self, stripes: &Stripes, path: &IoPath, id: IoId) -> bool {
        let io = &path.ios[id];
        let Some(Cached {
            caching, memory, ..
        }) = self.memories.cached(stripes, io.array)
        else {
            return false;
        };
        self.writes_back(io.array)
            && pages_at_most(io.bytes, caching.line) <= memory.cache.dirty_max() / 2
    }

    /// What a read finds in the cache, over all its lines.
    pub(crate) fn look_up(&mut self, stripes: &Stripes, path: &mut IoPath, id: IoId) -> Found {
        let io = &path.ios[id];
        let Some(Cached {
            caching, memory, ..
        }) = self.memories.cached_mut(stripes, io.array)
        else {
            return Found::None;
        };
        let mut found = Found::All;
        for (key, sectors) in caching.lines(io.range()) {
            match (memory.cache.find(key, sectors), found) {
                (Found::All, _) => {}
                (Found::Coming(reader), Found::All | Found::Coming(_)) => {
                    found = Found::Coming(reader);
                }
                (Found::Coming(_), _) => found = Found::Some,
                (other, _) => {
                    found = other;
                    break;
                }
            }
        }
        found
    }

    /// A read goes on with what the cache has.
    pub(crate) fn read_through(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        id: IoId,
        now: Time,
    ) -> Up {
        let io = &path.ios[id];
        let (array, range) = (io.array, io.range());
        let Some(caching) = self.memories.caching(array) else {
            self.read_drives(stripes, path, id, now);
            return Up::None;
        };
        let mark = path.agenda.mark();
        let keep = caching.keep_reads;
        let policy = caching.read_ahead;
        let ahead = policy != ReadAhead::None;
        let found = self.look_up(stripes, path, id);
        // One that has waited was a miss, and is counted.
        if path.ios[id].stage == Stage::TakenUp {
            self.count_read(stripes, array, found);
        }
        let mut up = Up::None;
        match found {
            Found::All => {
                path.ios[id].moved = range.bytes;
                if let Some(integrity) = &mut path.integrity {
                    integrity.read_cache(id, array, range);
                }
                up = Up::PassOn(id);
            }
            Found::Coming(reader) => {
                stripes
                    .state_mut()
                    .jobs_mut()
                    .readers(JobId::new(reader))
                    .push(&mut path.ios, id);
            }
            Found::Some | Found::None => {
                let brought = match policy {
                    ReadAhead::Always => Some(stripes.state().volume(array).to_end_of_unit(range)),
                    _ => keep.then_some(range),
                };
                let job = brought.and_then(|range| self.fill(stripes, path, array, range, now));
                if path.agenda.rose(mark) {
                    path.agenda.below(mark, CacheCall::Asked(id, job));
                } else {
                    self.asked(stripes, path, id, job, now);
                }
            }
        }
        if ahead && (up != Up::None || path.agenda.rose(mark)) {
            path.agenda.below(mark, CacheCall::ReadAhead(array, range));
        } else if ahead {
            self.read_ahead(stripes, path, array, range, now);
        }
        up
    }

    /// A read waits for the job that reads what the cache lacks, or reads it itself.
    pub(crate) fn asked(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        id: IoId,
        job: Option<JobId>,
        now: Time,
    ) {
        match job {
            Some(job) if matches!(self.look_up(stripes, path, id), Found::Coming(_)) => {
                stripes
                    .state_mut()
                    .jobs_mut()
                    .readers(job)
                    .push(&mut path.ios, id);
            }
            _ => self.read_drives(stripes, path, id, now),
        }
    }

    /// Sectors that the cache has are newer than what comes from the drives.
    fn overlay(&mut self, stripes: &Stripes, path: &mut IoPath, id: IoId) {
        let IoPath { ios, integrity, .. } = path;
        let (io, Some(integrity)) = (&ios[id], integrity) else {
            return;
        };
        let Some(Cached {
            caching, memory, ..
        }) = self.memories.cached_mut(stripes, io.array)
        else {
            return;
        };
        for sector in
            (io.offset / SECTOR..(io.offset + io.bytes).div_ceil(SECTOR)).map(|n| n * SECTOR)
        {
            for (key, sectors) in caching.lines(ByteRange::new(sector, SECTOR)) {
                if memory.cache.find(key, sectors) == Found::All {
                    integrity.read_cache(id, io.array, ByteRange::new(sector, SECTOR));
                }
            }
        }
    }

    fn count_read(&mut self, stripes: &Stripes, array: ArrayId, found: Found) {
        if let Some(Cached { memory, .. }) = self.memories.cached_mut(stripes, array) {
            memory.counts.reads += 1;
            memory.counts.read_hits += u64::from(found == Found::All);
        }
    }

    pub(crate) fn read_drives(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        id: IoId,
        now: Time,
    ) {
        self.overlay(stripes, path, id);
        let io = &mut path.ios[id];
        io.stage = Stage::Working;
        let (array, offset, bytes) = (io.array, io.offset, io.bytes);
        self.move_range(stripes, path, id, (array, ByteRange { offset, bytes }), now);
    }

    /// Write data are in memory: they go into the cache, or on to the drives.
    pub(crate) fn write_on(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        id: IoId,
        now: Time,
    ) -> Up {
        let array = path.ios[id].array;
        let Some(controller) = path.arrays[array].controller else {
            self.write_drives(stripes, path, id, now);
            return Up::None;
        };
        if !self.goes_back(stripes, path, id) {
            // Older data must reach the drives first.
            if !self.send_older_data(stripes, path, id) {
                self.write_around(stripes, path, id, now);
                return Up::None;
            }
            if let Some(memory) = self.memories.get_mut(controller) {
                memory.waiting.push(&mut path.ios, id);
                memory.sweep = memory.cache.groups().waiting();
            }
            self.destage(stripes, path, controller, now);
            return Up::None;
        }
        if self.first_waiting(controller).is_none() && self.put_in_cache(stripes, path, id) {
            return self.written_back(path, controller, id);
        }
        if let Some(memory) = self.memories.get_mut(controller) {
            memory.waiting.push(&mut path.ios, id);
            self.destage(stripes, path, controller, now);
        }
        Up::None
    }

    /// Reads or writes a range of an array below `parent`, as that does, on its SSD cache as far
    /// as that has it.
    pub(super) fn move_range(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        parent: IoId,
        (array, range): (ArrayId, ByteRange),
        now: Time,
    ) {
        let op = path.ios[parent].op;
        if stripes.state().redirect(array).is_some() {
            let mut lines = Lines::new(stripes, &mut self.memories);
            lines.go_by_line(path, parent, op, array, range, now);
        } else {
            stripes.move_array(path, parent, op, array, range, now);
        }
    }

    fn write_drives(&mut self, stripes: &mut Stripes, path: &mut IoPath, id: IoId, now: Time) {
        let io = &mut path.ios[id];
        io.stage = Stage::Working;
        let (array, offset, bytes) = (io.array, io.offset, io.bytes);
        stripes
            .state_mut()
            .redirects_mut()
            .bypass_begins(array, ByteRange { offset, bytes });
        self.move_range(stripes, path, id, (array, ByteRange { offset, bytes }), now);
    }

    /// Puts a write into the cache; false if there is no room for it now.
    fn put_in_cache(&mut self, stripes: &Stripes, path: &mut IoPath, id: IoId) -> bool {
        let io = &path.ios[id];
        let Some(mut cached) = self.memories.cached_mut(stripes, io.array) else {
            return false;
        };
        let pages = pages_at_most(io.bytes, cached.caching.line);
        let cache = &mut cached.memory.cache;
        if !cache.may_dirty(pages) || !cache.make_room(pages) {
            return false;
        }
        cached.memory.counts.writes += 1;
        let mut hit = true;
        for (key, sectors) in cached.caching.lines(io.range()) {
            hit &= cached.write(key, sectors);
        }
        cached.memory.counts.write_hits += u64::from(hit);
        if let Some(integrity) = &mut path.integrity {
            integrity.cache_write(id, io.array, io.range());
        }
        true
    }

    /// A write is in the cache: acknowledged.
    fn written_back(&mut self, path: &mut IoPath, controller: ControllerId, id: IoId) -> Up {
        let io = &mut path.ios[id];
        io.stage = Stage::Done;
        io.moved = io.bytes;
        path.agenda.rest(CacheCall::WrittenBack(controller));
        Up::Complete(id)
    }

    fn write_around(&mut self, stripes: &mut Stripes, path: &mut IoPath, id: IoId, now: Time) {
        self.forget(stripes, path, id);
        self.write_drives(stripes, path, id, now);
    }

    /// What the cache has of a written range is out of date.
    pub(crate) fn forget(&mut self, stripes: &Stripes, path: &mut IoPath, id: IoId) {
        let io = &path.ios[id];
        if let Some(Cached {
            caching, memory, ..
        }) = self.memories.cached_mut(stripes, io.array)
        {
            for (key, sectors) in caching.lines(io.range()) {
                memory.cache.forget(key, sectors);
            }
        }
    }

    /// Room has come: those that wait go on, in their order, as far as it reaches.
    pub(crate) fn admit_waiting(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        controller: ControllerId,
        now: Time,
    ) {
        path.agenda.must_be_open();
        while let Some(id) = self.first_waiting(controller) {
            let back = self.goes_back(stripes, path, id);
            let may = if back {
                self.put_in_cache(stripes, path, id)
            } else {
                !self.send_older_data(stripes, path, id)
            };
            if !may {
                return;
            }
            if let Some(memory) = self.memories.get_mut(controller) {
                memory.waiting.pop(&path.ios);
            }
            path.ios[id].charge(Part::CacheWait, now);
            let mark = path.agenda.mark();
            if back {
                let up = self.written_back(path, controller, id);
                path.agenda.raise(up);
            } else {
                self.write_around(stripes, path, id, now);
            }
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, CacheCall::AdmitWaiting(controller));
            }
        }
    }

    fn first_waiting(&self, controller: ControllerId) -> Option<IoId> {
        let memory = self.memories.get(controller)?;
        memory.waiting.front()
    }

    /// Older data of a write's range that are not on the drives go out next. False if the cache
    /// holds none.
    fn send_older_data(&mut self, stripes: &Stripes, path: &mut IoPath, id: IoId) -> bool {
        let io = &path.ios[id];
        let Some(cached) = self.memories.cached_mut(stripes, io.array) else {
            return false;
        };
        let mut lines = cached.caching.lines(io.range());
        let dirty = |&(key, sectors): &(LineKey, _)| cached.memory.cache.is_dirty_at(key, sectors);
        let Some((key, _)) = lines.find(dirty) else {
            return false;
        };
        let (space, group) = cached.place_of(key);
        cached.memory.cache.groups_mut().go_on_from(space, group);
        true
    }
}
