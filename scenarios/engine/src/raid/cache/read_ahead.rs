//! Read-ahead: which reads belong to sequential streams, and what to read before it is asked.

use crate::ids::{ArrayId, JobId, StripeId};
use crate::path::IoPath;
use crate::path::agenda::{CacheCall, Up};
use crate::plan::ReadAhead;
use crate::raid::cache::ControllerCache;
use crate::raid::cache::view::Cached;
use crate::raid::jobs::Stripes;
use crate::raid::jobs::{Fill, Phase, Work};
use raidlab_io::{ByteRange, Io, Op, Part, Queue, Stage};
use raidlab_kernel::Time;
use raidlab_models::{LINE_SECTORS, PAGE, SECTOR};

use crate::raid::cache::readers::Readers;

/// Reads in a row that make a stream.
const IN_A_ROW: u32 = 2;
/// Requests in work up to which adaptive read-ahead helps: a reader with more in flight, and more
/// than `STRIPES` of it, keeps the drives at work by itself.
const SHALLOW: u64 = 4;
/// A unit of each drive at work, and one that waits for it.
const STRIPES: u64 = 2;
/// Bytes that one read-ahead brings.
const CHUNK: std::ops::RangeInclusive<u64> = (256 << 10)..=(1 << 20);

impl ControllerCache {
    /// A read has come: note it, and read ahead if that is the policy.
    pub(crate) fn read_ahead(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        range: ByteRange,
        now: Time,
    ) {
        let level = path.in_work_for(array);
        let stripe = stripes.state().volume(array).stripe_bytes();
        let Some(caching) = self.memories.caching_mut(array) else {
            return;
        };
        let (stream, in_a_row) = caching.streams.note(range);
        let wanted = match caching.read_ahead {
            ReadAhead::None => false,
            ReadAhead::Adaptive => {
                in_a_row >= IN_A_ROW
                    && (level <= SHALLOW || level * range.bytes <= STRIPES * stripe)
            }
            ReadAhead::Always => in_a_row >= IN_A_ROW,
            ReadAhead::BehindEach => true,
        };
        if wanted {
            self.read_on(stripes, path, array, stream as u32, now);
        }
    }

    /// Reads a stream ahead as far as it should be.
    pub(crate) fn read_on(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        stream: u32,
        now: Time,
    ) {
        let volume = stripes.state().volume(array);
        let stripe = volume.stripe_bytes();
        let capacity = volume.geometry().capacity();
        let Some(caching) = self.memories.caching(array) else {
            return;
        };
        let chunk = stripe.clamp(*CHUNK.start(), *CHUNK.end()) / caching.line * caching.line;
        let chunk = chunk.max(caching.line);
        loop {
            let caching = self.memories.caching_mut(array);
            let Some(range) =
                caching.and_then(|c| c.streams.advance(stream as usize, chunk, capacity))
            else {
                return;
            };
            let mark = path.agenda.mark();
            self.fill(stripes, path, array, range, now);
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, CacheCall::ReadOn(array, stream));
            }
        }
    }

    /// Reads a range into the cache; gives the job that does, if any of it was not here.
    pub(crate) fn fill(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        range: ByteRange,
        now: Time,
    ) -> Option<JobId> {
        let readers = Queue::default();
        let work = Work::Fill(Fill {
            range: ByteRange::default(),
            readers,
        });
        let job = stripes
            .state_mut()
            .new_job(path, Io::NONE, array, StripeId::new(0), work, now);
        let Cached {
            caching, memory, ..
        } = self.memories.cached_mut(stripes, array)?;
        let (mut first, mut last) = (u64::MAX, 0);
        for (key, sectors) in caching.lines(range) {
            if !memory.cache.make_room(caching.line.div_ceil(PAGE) + 1) {
                break;
            }
            if memory.cache.expect(key, sectors, job.number()) != 0 {
                let start = caching.offset(key);
                first = first.min(start.max(range.offset));
                last = (start + caching.line).min(range.end());
            }
        }
        memory.counts.filled_bytes += last.saturating_sub(first);
        let record = stripes.state().jobs()[job].io();
        if first >= last {
            path.ios.release(record);
            stripes.state_mut().jobs_mut().release(job);
            return None;
        }
        let range = ByteRange::between(first, last);
        let filling = Work::Fill(Fill { range, readers });
        stripes.state_mut().jobs_mut()[job].go_on_with(filling, Phase::Finish);
        path.ios[record].op = Op::Read;
        self.move_range(stripes, path, record, (array, range), now);
        Some(job)
    }

    /// What a job has read is here: the requests that wait for it go on.
    pub(crate) fn finish_fill(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        index: JobId,
        fill: Fill,
        now: Time,
    ) {
        let job = &stripes.state().jobs()[index];
        let (record, array, refused) = (job.io(), job.array(), job.is_refused());
        let Fill { range, readers } = fill;
        if let Some(controller) = path.arrays[array].controller {
            let chip = &mut path.controllers[controller].chip;
            chip.memory.pass_in_background(now, range.bytes);
            if let Some(Cached {
                caching, memory, ..
            }) = self.memories.cached_mut(stripes, array)
            {
                for (key, sectors) in caching.lines(range) {
                    if refused {
                        memory.cache.forget(key, sectors);
                        continue;
                    }
                    let came = memory.cache.arrived(key, index.number());
                    if let Some(integrity) = &mut path.integrity {
                        let start = caching.offset(key);
                        for sector in (0..LINE_SECTORS).filter(|s| came >> s & 1 == 1) {
                            let sector = ByteRange::new(start + sector * SECTOR, SECTOR);
                            integrity.fill_cache(record, array, sector);
                        }
                    }
                }
            }
        }
        stripes.state_mut().jobs_mut().release(index);
        stripes.child_returned(path, record, now);
        if let Some(integrity) = &mut path.integrity {
            integrity.end_reader(record);
        }
        let controller = path.arrays[array].controller;
        self.readers.push(Readers {
            readers,
            refused,
            controller,
        });
        self.wake_readers(stripes, path, now);
    }

    /// Those who waited for what has come into the cache last go on, one by one.
    pub(crate) fn wake_readers(&mut self, stripes: &mut Stripes, path: &mut IoPath, now: Time) {
        while let Some(came) = self.readers.last_mut() {
            let (refused, controller) = (came.refused, came.controller);
            let Some(reader) = came.readers.pop(&path.ios) else {
                self.readers.pop();
                if let Some(controller) = controller {
                    // Data in flight had reserved their place in the cache; now others may have it.
                    self.admit_waiting(stripes, path, controller, now);
                }
                return;
            };
            let mark = path.agenda.mark();
            path.ios[reader].charge(Part::CacheWait, now);
            if refused {
                self.read_drives(stripes, path, reader, now);
            } else {
                path.ios[reader].stage = Stage::Awaited;
                path.agenda.up(Up::GoOn(reader));
            }
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, CacheCall::Readers);
            }
        }
    }
}
