//! Which I/O a thread asks for next: direction, file, offset, bytes.

use crate::files::{Blocks, Files, NONE, is_wide};
use crate::plan::{Direction, Distribution, JobPlan, Sequencer};
use crate::random::{Purpose, Random, SeedTable, Taus88};
use crate::sizes::SizeDraw;
use raidlab_io::Op;

const READ: usize = 0;
const WRITE: usize = 1;
const TRIM: usize = 2;

/// One I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read, write or trim.
    pub op: Op,
    /// First byte on the array.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// An I/O.
    Io(Request),
    /// What was written shall be durable.
    Sync,
    /// A cap lets no I/O of this direction come yet.
    Later(usize),
    /// All files are done.
    Nothing,
}

/// Draws the I/Os of one thread.
#[derive(Debug)]
pub struct Generator {
    plan: JobPlan,
    seeds: SeedTable,
    wide: bool,
    files: Files,
    offsets: Random,
    sizes: [SizeDraw; 3],
    mix: Taus88,
    /// By direction: whether the next offset is random.
    order: [Taus88; 3],
    zones: Taus88,
    /// I/Os issued, by direction.
    issued: [u64; 3],
    mixed: usize,
    /// The number of I/Os at which the direction is drawn anew.
    mixed_until: u64,
    /// I/Os before a new random offset.
    in_sequence: u64,
    /// Bytes in the strided zone.
    in_zone: u64,
    synced: bool,
    /// File and direction of an I/O that a cap has put off.
    put_off: Option<(usize, usize)>,
}

impl Generator {
    /// The generator of a thread.
    pub fn new(plan: &JobPlan) -> Generator {
        let seeds = SeedTable::new(&plan.seeds, plan.number, plan.random);
        let wide = is_wide(plan);
        let order = || Taus88::new(seeds.of(Purpose::Order));
        Generator {
            files: Files::new(plan, &seeds, wide),
            offsets: Random::new(seeds.of(Purpose::Blocks), wide),
            sizes: SizeDraw::of_all(plan, &seeds, wide),
            mix: Taus88::new(seeds.of(Purpose::Mix)),
            order: [order(), order(), order()],
            zones: Taus88::new(seeds.of(Purpose::Zones)),
            issued: [0; 3],
            mixed: READ,
            mixed_until: 0,
            in_sequence: 1,
            in_zone: 0,
            synced: false,
            put_off: None,
            plan: plan.clone(),
            seeds,
            wide,
        }
    }

    /// The files are opened again: a further pass over them.
    pub fn reopen(&mut self) {
        self.files.reopen(&self.seeds, self.wide);
        (self.in_zone, self.synced, self.mixed_until) = (0, false, 0);
        if self.plan.seeds.repeat_passes {
            let fresh = Generator::new(&self.plan);
            (self.offsets, self.sizes, self.mix) = (fresh.offsets, fresh.sizes, fresh.mix);
            (self.order, self.zones) = (fresh.order, fresh.zones);
        }
    }

    /// The warm-up is over: I/Os are counted anew.
    pub fn forget_counts(&mut self) {
        (self.issued, self.mixed_until) = ([0; 3], 0);
    }

    /// An I/O is complete: after a flush none is due until another I/O is.
    pub fn completed(&mut self, op: Op) {
        self.synced = op == Op::Flush;
    }

    /// What the thread does next.
    pub fn draw(&mut self) -> Next {
        self.next_of(Ok)
    }

    /// What the thread does next where caps choose.
    ///
    /// # Arguments
    /// `choose`: the direction that may come in place of the drawn one; an error if none may.
    pub(crate) fn next_of(&mut self, choose: impl Fn(usize) -> Result<usize, usize>) -> Next {
        loop {
            let (at, drawn) = match self.put_off.take() {
                Some(put_off) => put_off,
                None => {
                    let Some(at) = self.files.pick() else {
                        return Next::Nothing;
                    };
                    if self.sync_is_due() {
                        // fio issues further ones until one of those that it queued is complete.
                        self.synced = !self.plan.syncs.queued;
                        return Next::Sync;
                    }
                    (at, self.direction(at))
                }
            };
            let direction = match choose(drawn) {
                Ok(direction) => direction,
                Err(direction) => {
                    self.put_off = Some((at, direction));
                    return Next::Later(direction);
                }
            };
            self.mixed = direction.min(WRITE);
            match self.request(at, direction) {
                Some(request) => {
                    self.issued[direction] += 1;
                    self.in_zone += request.bytes;
                    return Next::Io(request);
                }
                None => self.files.all[at].done = true,
            }
        }
    }

    fn sync_is_due(&self) -> bool {
        let written = self.issued[WRITE];
        let due = |every: u64| every > 0 && written > 0 && written % every == 0;
        let syncs = &self.plan.syncs;
        !self.synced && (due(syncs.fsync) || due(syncs.fdatasync))
    }

    fn direction(&mut self, at: usize) -> usize {
        match self.plan.direction {
            Direction::Read => READ,
            Direction::Write => WRITE,
            Direction::Trim => TRIM,
            Direction::TrimWrite => {
                let file = &self.files.all[at];
                if file.last[WRITE] == file.last[TRIM] {
                    TRIM
                } else {
                    WRITE
                }
            }
            Direction::ReadWrite => {
                if self.issued[self.mixed] >= self.mixed_until {
                    let reads = self.mix.percent() <= self.plan.read_percent;
                    let drawn = if reads { READ } else { WRITE };
                    if drawn != self.mixed {
                        let percent = match self.mixed {
                            READ => 100 - self.plan.read_percent,
                            _ => self.plan.read_percent,
                        };
                        self.mixed_until = self.issued[self.mixed] * u64::from(percent) / 100;
                    }
                    self.mixed = drawn;
                }
                self.mixed
            }
        }
    }

    fn request(&mut self, at: usize, direction: usize) -> Option<Request> {
        self.move_stride(at, direction);
        let trims = self.plan.direction == Direction::TrimWrite;
        let again = trims && direction == WRITE && self.plan.random;
        let (within, is_random, may_repeat) = if again {
            (
                self.files.all[at].last[TRIM] - self.files.all[at].offset,
                true,
                true,
            )
        } else {
            self.block(at, direction)?
        };
        let file = &self.files.all[at];
        if within >= file.plan.io_bytes {
            return None;
        }
        let offset = within + file.offset;
        if offset >= file.plan.real_bytes {
            return None;
        }
        let space = file.space(offset);
        let drawn = match (self.plan.sizes_by_order, is_random) {
            (false, _) => direction,
            (true, true) => WRITE,
            (true, false) => READ,
        };
        let mut bytes = if again {
            file.position[TRIM] - file.last[TRIM]
        } else {
            self.sizes[drawn].next(space)?
        };
        if offset + bytes > file.plan.real_bytes {
            return None;
        }
        let least = self.plan.sizes[direction].min;
        let file = &mut self.files.all[at];
        if let Blocks::Mapped(map) = &mut file.blocks
            && !may_repeat
        {
            let blocks = bytes.div_ceil(least);
            bytes = bytes.min(map.insert(within / least, blocks) * least);
        }
        if bytes == 0 {
            return None;
        }
        file.last[direction] = offset;
        file.position[direction] = offset + bytes;
        let op = [Op::Read, Op::Write, Op::Trim][direction];
        let offset = file.plan.start_bytes + offset;
        Some(Request { op, offset, bytes })
    }

    /// The next offset behind the file's own; whether it is random; whether it may repeat blocks.
    fn block(&mut self, at: usize, direction: usize) -> Option<(u64, bool, bool)> {
        self.in_sequence = self.in_sequence.saturating_sub(1);
        if self.in_sequence == 0 {
            self.in_sequence = self.plan.sequence.every;
            if !self.plan.random {
                return Some((self.sequential(at, direction)?, false, false));
            }
            let percent = self.plan.sizes[direction].percent_random;
            if percent == 100 || self.order[direction].percent() <= percent {
                return Some((self.random_offset(at, direction)?, true, false));
            }
            let found = self.sequential(at, direction);
            let found = found.or_else(|| self.random_offset(at, direction))?;
            return Some((found, false, true));
        }
        match self.plan.sequence.between {
            Sequencer::Sequential => {
                let found = self.sequential(at, direction);
                let found = found.or_else(|| self.random_offset(at, direction))?;
                Some((found, false, true))
            }
            Sequencer::Identical => {
                let file = &self.files.all[at];
                let last = file.last[direction];
                let within = if last == NONE { 0 } else { last - file.offset };
                Some((within, false, true))
            }
        }
    }

    fn sequential(&mut self, at: usize, direction: usize) -> Option<u64> {
        let one = self.files.all.len() == 1;
        let step = self.plan.sequence.step_bytes;
        let again = self.plan.extent.time_based && one;
        let file = &mut self.files.all[at];
        let (real, used) = (file.plan.real_bytes, file.plan.io_bytes);
        let (first, offset) = (file.plan.offset_bytes, file.offset);
        let position = &mut file.position[direction];
        if *position >= used + first && again {
            *position = offset;
        }
        if *position >= real {
            return None;
        }
        let end = if real > used { used } else { real };
        if *position == offset && offset > 0 && step < 0 {
            *position = end;
        }
        let mut within = position.wrapping_sub(offset);
        if within > 0 && step != 0 {
            within = within.wrapping_add_signed(step);
            if within >= real {
                within = if step > 0 {
                    offset
                } else {
                    end.wrapping_add_signed(step)
                };
            }
        }
        Some(within)
    }

    fn random_offset(&mut self, at: usize, direction: usize) -> Option<u64> {
        let align = self.plan.sizes[direction].align;
        let mut block = self.random_block(at, direction);
        if block.is_none() && self.plan.extent.time_based {
            self.files.all[at].reset(&self.seeds);
            block = self.random_block(at, direction);
        }
        Some(block? * align)
    }

    /// Number of places at which a random I/O may begin.
    fn places(&self, at: usize, direction: usize) -> u64 {
        let file = &self.files.all[at].plan;
        let used = file.io_bytes.min(file.real_bytes);
        let used = self.plan.strides.map_or(used, |strides| strides.range);
        let sizes = &self.plan.sizes[direction];
        used.saturating_sub(sizes.min.saturating_sub(sizes.align)) / sizes.align
    }

    fn random_block(&mut self, at: usize, direction: usize) -> Option<u64> {
        if let Blocks::Skewed(skewed) = &mut self.files.all[at].blocks {
            return Some(skewed.next());
        }
        let places = self.places(at, direction);
        if places == 0 {
            return None;
        }
        let (first, end) = self.zone(direction, places);
        let file = &mut self.files.all[at];
        let block = match &mut file.blocks {
            Blocks::Register(register) => register.next()?,
            _ => self.offsets.below(end.saturating_sub(first)),
        };
        let block = match &file.blocks {
            Blocks::Mapped(map) if map.has(block) => map.next_free(block)?,
            _ => block,
        };
        Some(first + block)
    }

    /// The places of the zone that the next I/O goes to.
    fn zone(&mut self, direction: usize, places: u64) -> (u64, u64) {
        let sizes = &self.plan.sizes[direction];
        if sizes.zones.is_empty() {
            return (0, places);
        }
        let drawn = self.zones.percent();
        let (mut before, mut seen) = (0, 0);
        for &(percent, end) in &sizes.zones {
            seen += percent;
            if drawn <= seen {
                return match self.plan.distribution {
                    Distribution::Zoned => {
                        let first = before * places / 100;
                        (first, first + places * (end - before) / 100)
                    }
                    _ => (before / sizes.align, (end / sizes.align).min(places)),
                };
            }
            before = end;
        }
        (0, places)
    }

    /// Goes on to the next strided zone where this one is full.
    fn move_stride(&mut self, at: usize, direction: usize) {
        let Some(strides) = self.plan.strides else {
            return;
        };
        let file = &mut self.files.all[at];
        if self.in_zone >= strides.size {
            self.in_zone = 0;
            file.offset += strides.range + strides.skip;
            if file.offset >= file.plan.real_bytes {
                file.offset = file.plan.offset_bytes;
            }
            file.position[direction] = file.offset;
        }
        if file.position[direction] >= file.offset + strides.range {
            file.position[direction] = file.offset;
        }
        if self.in_zone % strides.range == 0 {
            file.reset(&self.seeds);
        }
    }
}
