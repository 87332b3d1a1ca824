//! Requests that meet the cache: which path they take, hits, write-back, waiting for room.

use crate::layout::Role;
use crate::path::Path;
use crate::path::agenda::{Call, Up};
use crate::plan::{ReadAhead, WritePolicy};
use crate::raid::Stripes;
use crate::raid::cache::view::Cached;
use crate::state::event::Event;
use raidlab_kernel::{IoId, Op, Part, Stage, Time};
use raidlab_models::{Found, PAGE, Path as FirmwarePath, SECTOR};

/// Pages that a write of so many bytes can touch.
fn pages_at_most(bytes: u64, line: u64) -> u64 {
    bytes / PAGE + 2 * (bytes / line + 2)
}

impl Stripes {
    /// Asks for the memory in which a request will be looked up, and for what its drive will need
    /// of its map if it is a read, as most are not in the cache.
    pub(crate) fn prefetch_tables(&self, path: &Path, id: IoId) {
        let io = &path.ios[id];
        let Some(cached) = self.cached(io.array) else {
            return;
        };
        let Cached {
            volume,
            caching,
            memory,
            ..
        } = cached;
        let piece = volume.geometry.piece(io.offset, io.bytes);
        let (line, _) = caching.lines(io.offset, 1).next().unwrap_or_default();
        match io.op {
            Op::Read => {
                memory.cache.prefetch(line, None);
                let role = Role::Data(piece.column);
                self.prefetch_transfer(path, volume, piece.stripe, role, (piece.start, piece.end));
            }
            Op::Write => {
                let group = volume.group(piece.stripe, piece.column);
                memory.cache.prefetch(line, Some((caching.space, group)));
            }
            Op::Trim | Op::Flush => {}
        }
    }

    /// The controller takes up a request whose data pass through its memory.
    #[inline(never)]
    pub(crate) fn take_up_in_memory(&mut self, path: &mut Path, id: IoId, now: Time) -> Up {
        let (array, op) = (path.ios[id].array, path.ios[id].op);
        let Some(index) = path.arrays[array as usize].controller else {
            return Up::None;
        };
        let caching = self.volume(array).caching.is_some();
        let (hit, route) = match op {
            Op::Read if caching && self.look_up(path, id) == Found::All => {
                (true, FirmwarePath::Cached)
            }
            Op::Write if self.writes_back(array) => (true, FirmwarePath::Cached),
            _ => (false, path.arrays[array as usize].path),
        };
        let array = &path.arrays[array as usize];
        let io = &mut path.ios[id];
        // Jobs on stripes count their commands themselves where parity or a cache is.
        let commands = if array.straight || op == Op::Read && !hit {
            array.layout.commands(io.op, io.offset, io.bytes)
        } else {
            0
        };
        let chip = &mut path.controllers[index as usize].chip;
        let redirected = self.redirects[io.array as usize].is_some();
        let served = if redirected {
            chip.take_up_and_look_up(route, commands, now)
        } else {
            chip.take_up(route, commands, now)
        };
        io.charge_stay(Part::ControllerWait, Part::Controller, served);
        let ready = served.end + chip.latency();
        io.charge(Part::Controller, ready);
        if redirected && !(hit && op == Op::Read) {
            path.agenda.rest(Call::Ready(id, ready));
            path.agenda.up(Call::Access(id));
            return Up::None;
        }
        self.ready(path, id, ready, now)
    }

    /// The firmware is done with a request at a time, and the request goes on.
    #[inline]
    pub(crate) fn ready(&mut self, path: &mut Path, id: IoId, ready: Time, now: Time) -> Up {
        if ready > now {
            path.calendar.push(ready, Event::Dispatch(id));
            Up::None
        } else {
            self.go_on(path, id, now)
        }
    }

    /// Whether writes to an array are acknowledged when they are in the cache.
    pub(crate) fn writes_back(&self, array: u32) -> bool {
        let policy = self.volume(array).caching.as_ref().map(|c| c.write);
        match policy {
            None | Some(WritePolicy::WriteThrough) => false,
            Some(WritePolicy::AlwaysWriteBack) => true,
            Some(WritePolicy::WriteBack) => {
                let cached = self.cached(array);
                cached.is_some_and(|cached| cached.memory.safe)
            }
        }
    }

    /// Whether a write goes into the cache: by its array's policy, and if it is not too large.
    fn goes_back(&self, path: &Path, id: IoId) -> bool {
        let io = &path.ios[id];
        let Some(Cached {
            caching, memory, ..
        }) = self.cached(io.array)
        else {
            return false;
        };
        self.writes_back(io.array)
            && pages_at_most(io.bytes, caching.line) <= memory.cache.dirty_max() / 2
    }

    /// What a read finds in the cache, over all its lines.
    fn look_up(&mut self, path: &mut Path, id: IoId) -> Found {
        let io = &path.ios[id];
        let Some(Cached {
            caching, memory, ..
        }) = self.cached_mut(io.array)
        else {
            return Found::None;
        };
        let mut found = Found::All;
        for (key, sectors) in caching.lines(io.offset, io.bytes) {
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
    pub(crate) fn read_through(&mut self, path: &mut Path, id: IoId, now: Time) -> Up {
        let io = &path.ios[id];
        let (array, offset, bytes) = (io.array, io.offset, io.bytes);
        let Some(caching) = self.volume(array).caching.as_ref() else {
            self.read_drives(path, id, now);
            return Up::None;
        };
        let mark = path.agenda.mark();
        let keep = caching.keep_reads;
        let ahead = caching.read_ahead != ReadAhead::None;
        let found = self.look_up(path, id);
        // One that has waited was a miss, and is counted.
        if path.ios[id].stage == Stage::TakenUp {
            self.count_read(array, found);
        }
        let mut up = Up::None;
        match found {
            Found::All => {
                path.ios[id].moved = bytes;
                if let Some(integrity) = &mut path.integrity {
                    integrity.read_cache(id, array, offset, bytes);
                }
                up = self.pass_on(path, id, now);
            }
            Found::Coming(reader) => {
                self.jobs.readers(reader).push(&mut path.ios, id);
            }
            Found::Some | Found::None => {
                let job = if keep {
                    self.fill(path, array, (offset, bytes), now)
                } else {
                    None
                };
                if path.agenda.rose(mark) {
                    path.agenda.below(mark, Call::Asked(id, job));
                } else {
                    self.asked(path, id, job, now);
                }
            }
        }
        if ahead && (up != Up::None || path.agenda.rose(mark)) {
            let range = (offset, bytes);
            path.agenda.below(mark, Call::ReadAhead(array, range));
        } else if ahead {
            self.read_ahead(path, array, (offset, bytes), now);
        }
        up
    }

    /// A read waits for the job that reads what the cache lacks, or reads it itself.
    pub(crate) fn asked(&mut self, path: &mut Path, id: IoId, job: Option<u32>, now: Time) {
        match job {
            Some(job) if matches!(self.look_up(path, id), Found::Coming(_)) => {
                self.jobs.readers(job).push(&mut path.ios, id);
            }
            _ => self.read_drives(path, id, now),
        }
    }

    /// Sectors that the cache has are newer than what comes from the drives.
    fn overlay(&mut self, path: &mut Path, id: IoId) {
        let Path { ios, integrity, .. } = path;
        let (io, Some(integrity)) = (&ios[id], integrity) else {
            return;
        };
        let Some(Cached {
            caching, memory, ..
        }) = self.cached_mut(io.array)
        else {
            return;
        };
        for sector in
            (io.offset / SECTOR..(io.offset + io.bytes).div_ceil(SECTOR)).map(|n| n * SECTOR)
        {
            for (key, sectors) in caching.lines(sector, SECTOR) {
                if memory.cache.find(key, sectors) == Found::All {
                    integrity.read_cache(id, io.array, sector, SECTOR);
                }
            }
        }
    }

    fn count_read(&mut self, array: u32, found: Found) {
        if let Some(Cached { memory, .. }) = self.cached_mut(array) {
            memory.counts.reads += 1;
            memory.counts.read_hits += u64::from(found == Found::All);
        }
    }

    pub(crate) fn read_drives(&mut self, path: &mut Path, id: IoId, now: Time) {
        self.overlay(path, id);
        let io = &mut path.ios[id];
        io.stage = Stage::Working;
        let (array, offset, bytes) = (io.array, io.offset, io.bytes);
        self.move_range(path, id, Op::Read, array, (offset, bytes), now);
    }

    /// Write data are in memory: they go into the cache, or on to the drives.
    pub(crate) fn write_on(&mut self, path: &mut Path, id: IoId, now: Time) -> Up {
        let array = path.ios[id].array;
        let Some(controller) = path.arrays[array as usize].controller else {
            self.write_drives(path, id, now);
            return Up::None;
        };
        if !self.goes_back(path, id) {
            // Older data must reach the drives first.
            if !self.send_older_data(path, id) {
                self.write_around(path, id, now);
                return Up::None;
            }
            if let Some(memory) = self.memories[controller as usize].as_mut() {
                memory.waiting.push(&mut path.ios, id);
                memory.sweep = memory.cache.groups_waiting();
            }
            self.destage(path, controller, now);
            return Up::None;
        }
        if self.first_waiting(controller).is_none() && self.put_in_cache(path, id) {
            return self.written_back(path, controller, id);
        }
        if let Some(memory) = self.memories[controller as usize].as_mut() {
            memory.waiting.push(&mut path.ios, id);
            self.destage(path, controller, now);
        }
        Up::None
    }

    fn write_drives(&mut self, path: &mut Path, id: IoId, now: Time) {
        let io = &mut path.ios[id];
        io.stage = Stage::Working;
        let (array, offset, bytes) = (io.array, io.offset, io.bytes);
        self.bypass_begins(array, (offset, bytes));
        self.move_range(path, id, Op::Write, array, (offset, bytes), now);
    }

    /// Puts a write into the cache; false if there is no room for it now.
    fn put_in_cache(&mut self, path: &mut Path, id: IoId) -> bool {
        let io = &path.ios[id];
        let Some(mut cached) = self.cached_mut(io.array) else {
            return false;
        };
        let pages = pages_at_most(io.bytes, cached.caching.line);
        let cache = &mut cached.memory.cache;
        if !cache.may_dirty(pages) || !cache.make_room(pages) {
            return false;
        }
        cached.memory.counts.writes += 1;
        let mut hit = true;
        for (key, sectors) in cached.caching.lines(io.offset, io.bytes) {
            hit &= cached.write(key, sectors);
        }
        cached.memory.counts.write_hits += u64::from(hit);
        if let Some(integrity) = &mut path.integrity {
            integrity.cache_write(id, io.array, io.offset, io.bytes);
        }
        true
    }

    /// A write is in the cache: acknowledged.
    fn written_back(&mut self, path: &mut Path, controller: u32, id: IoId) -> Up {
        let io = &mut path.ios[id];
        io.stage = Stage::Done;
        io.moved = io.bytes;
        path.agenda.rest(Call::WrittenBack(controller));
        Up::Complete(id)
    }

    fn write_around(&mut self, path: &mut Path, id: IoId, now: Time) {
        self.forget(path, id);
        self.write_drives(path, id, now);
    }

    /// What the cache has of a written range is out of date.
    pub(crate) fn forget(&mut self, path: &mut Path, id: IoId) {
        let io = &path.ios[id];
        if let Some(Cached {
            caching, memory, ..
        }) = self.cached_mut(io.array)
        {
            for (key, sectors) in caching.lines(io.offset, io.bytes) {
                memory.cache.forget(key, sectors);
            }
        }
    }

    /// Room has come: those that wait go on, in their order, as far as it reaches.
    pub(crate) fn admit_waiting(&mut self, path: &mut Path, controller: u32, now: Time) {
        path.agenda.must_be_open();
        while let Some(id) = self.first_waiting(controller) {
            let back = self.goes_back(path, id);
            let may = if back {
                self.put_in_cache(path, id)
            } else {
                !self.send_older_data(path, id)
            };
            if !may {
                return;
            }
            if let Some(memory) = self.memories[controller as usize].as_mut() {
                memory.waiting.pop(&path.ios);
            }
            path.ios[id].charge(Part::CacheWait, now);
            let mark = path.agenda.mark();
            if back {
                let up = self.written_back(path, controller, id);
                path.agenda.raise(up);
            } else {
                self.write_around(path, id, now);
            }
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, Call::AdmitWaiting(controller));
            }
        }
    }

    fn first_waiting(&self, controller: u32) -> Option<IoId> {
        let memory = self.memories[controller as usize].as_ref()?;
        memory.waiting.front()
    }

    /// Older data of a write's range that are not on the drives go out next. False if the cache
    /// holds none.
    fn send_older_data(&mut self, path: &mut Path, id: IoId) -> bool {
        let io = &path.ios[id];
        let Some(cached) = self.cached_mut(io.array) else {
            return false;
        };
        let mut lines = cached.caching.lines(io.offset, io.bytes);
        let dirty = |&(key, sectors): &(u64, _)| cached.memory.cache.is_dirty_at(key, sectors);
        let Some((key, _)) = lines.find(dirty) else {
            return false;
        };
        let (space, group) = cached.place_of(key);
        cached.memory.cache.go_on_from(space, group);
        true
    }
}
