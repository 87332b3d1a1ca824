//! Read-ahead: which reads belong to sequential streams, and what to read before it is asked.

use super::jobs::{Fill, Phase, Work};
use super::{Cached, Raid};
use crate::agenda::Call;
use crate::plan::ReadAhead;
use crate::system::System;
use raidlab_kernel::{Io, Op, Part, Queue, Stage, Time};
use raidlab_models::{LINE_SECTORS, PAGE, SECTOR};

/// Streams that a controller follows at once in an array.
const STREAMS: usize = 16;
/// Reads in a row that make a stream.
const IN_A_ROW: u32 = 2;
/// Requests in work up to which adaptive read-ahead helps: a reader that keeps more in flight
/// keeps the drives busy by itself.
const SHALLOW: u64 = 4;
/// Bytes that one read-ahead brings.
const CHUNK: std::ops::RangeInclusive<u64> = (256 << 10)..=(1 << 20);

#[derive(Clone, Copy, Debug, Default)]
struct StreamState {
    /// Where the next read of the stream would begin.
    next: u64,
    /// Up to where has been read ahead.
    ahead: u64,
    in_a_row: u32,
    used: u64,
}

/// The streams of an array.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    streams: [StreamState; STREAMS],
    clock: u64,
}

impl Streams {
    /// Notes a read; gives its stream's number and how many reads it has had in a row.
    pub fn note(&mut self, offset: u64, bytes: u64) -> (usize, u32) {
        self.clock += 1;
        let known = self
            .streams
            .iter()
            .position(|s| s.in_a_row > 0 && s.next == offset);
        let at = known.unwrap_or_else(|| {
            let oldest = (0..STREAMS)
                .min_by_key(|&s| self.streams[s].used)
                .unwrap_or(0);
            self.streams[oldest] = StreamState::default();
            oldest
        });
        let stream = &mut self.streams[at];
        stream.next = offset + bytes;
        stream.in_a_row += 1;
        stream.used = self.clock;
        (at, stream.in_a_row)
    }

    /// The next range to read ahead of a stream, if it is not far enough ahead yet.
    pub fn advance(&mut self, stream: usize, chunk: u64, limit: u64) -> Option<(u64, u64)> {
        let stream = &mut self.streams[stream];
        let from = stream.ahead.max(stream.next);
        if from >= stream.next + 2 * chunk || from >= limit {
            return None;
        }
        let end = (from / chunk + 1) * chunk;
        stream.ahead = end;
        Some((from, end.min(limit) - from))
    }
}

/// Requests that waited for what has come into the cache, or was refused.
#[derive(Debug)]
pub(crate) struct Readers {
    readers: Queue,
    refused: bool,
    controller: Option<u32>,
}

impl System {
    /// Requests in work at an array's controller; where the host is that itself, all of its own.
    pub(super) fn in_work_for(&self, array: u32) -> u64 {
        match self.arrays[array as usize].controller {
            Some(controller) => self.controllers[controller as usize].load.level(),
            None => self.inside.level(),
        }
    }

    /// A read has come: note it, and read ahead if that is the policy.
    pub(crate) fn read_ahead(&mut self, array: u32, (offset, bytes): (u64, u64), now: Time) {
        let level = self.in_work_for(array);
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        let Some(caching) = volume.caching.as_mut() else {
            return;
        };
        let (stream, in_a_row) = caching.streams.note(offset, bytes);
        let wanted = match caching.read_ahead {
            ReadAhead::None => false,
            ReadAhead::Adaptive => in_a_row >= IN_A_ROW && level <= SHALLOW,
            ReadAhead::Always => true,
        };
        if wanted {
            self.read_on(array, stream as u32, now);
        }
    }

    /// Reads a stream ahead as far as it should be.
    pub(crate) fn read_on(&mut self, array: u32, stream: u32, now: Time) {
        let volume = self.volume(array);
        let stripe = u64::from(volume.geometry.columns()) * volume.geometry.unit();
        let capacity = volume.geometry.capacity();
        let Some(caching) = &volume.caching else {
            return;
        };
        let chunk = stripe.clamp(*CHUNK.start(), *CHUNK.end()) / caching.line * caching.line;
        let chunk = chunk.max(caching.line);
        loop {
            let volume = self.raid.volumes[array as usize].as_mut();
            let caching = volume.and_then(|volume| volume.caching.as_mut());
            let Some(range) =
                caching.and_then(|c| c.streams.advance(stream as usize, chunk, capacity))
            else {
                return;
            };
            let mark = self.agenda.mark();
            self.fill(array, range, now);
            if self.agenda.rose(mark) {
                return self.agenda.below(mark, Call::ReadOn(array, stream));
            }
        }
    }

    /// Reads a range into the cache; gives the job that does, if any of it was not here.
    pub(crate) fn fill(&mut self, array: u32, range: (u64, u64), now: Time) -> Option<u32> {
        let readers = Queue::default();
        let work = Work::Fill(Fill {
            range: (0, 0),
            readers,
        });
        let job = self.new_job(Io::NONE, array, 0, work, now);
        let Cached { caching, store, .. } = self.raid.cached_mut(array)?;
        let (mut first, mut last) = (u64::MAX, 0);
        for (key, sectors) in caching.lines(range.0, range.1) {
            if !store.cache.make_room(caching.line.div_ceil(PAGE) + 1) {
                break;
            }
            if store.cache.expect(key, sectors, job) != 0 {
                let start = caching.offset(key);
                first = first.min(start.max(range.0));
                last = (start + caching.line).min(range.0 + range.1);
            }
        }
        store.counts.filled_bytes += last.saturating_sub(first);
        let record = self.raid.jobs[job].io;
        if first >= last {
            self.ios.release(record);
            self.raid.jobs.release(job);
            return None;
        }
        let range = (first, last - first);
        let filling = &mut self.raid.jobs[job];
        (filling.work, filling.phase) = (Work::Fill(Fill { range, readers }), Phase::Finish);
        self.ios[record].op = Op::Read;
        self.move_range(record, Op::Read, array, first, last - first, now);
        Some(job)
    }

    /// What a job has read is here: whoever waits for it goes on.
    pub(crate) fn finish_fill(&mut self, index: u32, fill: Fill, now: Time) {
        let job = &self.raid.jobs[index];
        let (record, array, refused) = (job.io, job.array, job.flags.refused);
        let Fill { range, readers } = fill;
        if let Some(controller) = self.arrays[array as usize].controller {
            let chip = &mut self.controllers[controller as usize].chip;
            chip.memory.pass_in_background(now, range.1);
            let Raid {
                volumes,
                stores,
                tiers,
                fate,
                ..
            } = &mut self.raid;
            let cached = Cached::of(array, volumes, stores, tiers);
            if let Some(Cached { caching, store, .. }) = cached {
                for (key, sectors) in caching.lines(range.0, range.1) {
                    if refused {
                        store.cache.forget(key, sectors);
                        continue;
                    }
                    let came = store.cache.arrived(key, index);
                    if let Some(fate) = fate {
                        let start = caching.offset(key);
                        for sector in (0..LINE_SECTORS).filter(|s| came >> s & 1 == 1) {
                            fate.fill_cache(record, array, start + sector * SECTOR, SECTOR);
                        }
                    }
                }
            }
        }
        self.raid.jobs.release(index);
        self.child_returned(record, now);
        if let Some(fate) = &mut self.raid.fate {
            fate.forget_reader(record);
        }
        let controller = self.arrays[array as usize].controller;
        self.raid.readers.push(Readers {
            readers,
            refused,
            controller,
        });
        self.wake_readers(now);
    }

    /// Those who waited for what has come into the cache last go on, one by one.
    pub(crate) fn wake_readers(&mut self, now: Time) {
        while let Some(came) = self.raid.readers.last_mut() {
            let (refused, controller) = (came.refused, came.controller);
            let Some(reader) = came.readers.pop(&self.ios) else {
                self.raid.readers.pop();
                if let Some(controller) = controller {
                    // What was on its way kept its place in the cache; now others may have it.
                    self.admit_waiting(controller, now);
                }
                return;
            };
            let mark = self.agenda.mark();
            self.ios[reader].charge(Part::CacheWait, now);
            if refused {
                self.read_drives(reader, now);
            } else {
                self.ios[reader].stage = Stage::Awaited;
                self.go_on(reader, now);
            }
            if self.agenda.rose(mark) {
                return self.agenda.below(mark, Call::Readers);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of 64 KiB in a row: from the second on, chunks of 256 KiB up to two ahead.
    #[test]
    fn a_stream_is_read_ahead_by_chunks() {
        let kib = |n: u64| n << 10;
        let mut streams = Streams::default();
        assert_eq!(streams.note(kib(64), kib(64)).1, 1);
        let (stream, in_a_row) = streams.note(kib(128), kib(64));
        assert_eq!(in_a_row, 2);
        let mut next = || streams.advance(stream, kib(256), kib(10_000));
        assert_eq!(next(), Some((kib(192), kib(64))));
        assert_eq!(next(), Some((kib(256), kib(256))));
        assert_eq!(next(), Some((kib(512), kib(256))));
        assert_eq!(next(), None);
        // A read elsewhere begins a stream of its own and leaves the first one alone.
        assert_eq!(streams.note(0, 512).1, 1);
        assert_eq!(streams.note(kib(192), kib(64)), (stream, 3));
    }
}
