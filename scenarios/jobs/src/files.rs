//! Files of a thread: where I/O goes on in each, and which blocks were asked for.

use crate::distribution::Skewed;
use crate::lfsr::Lfsr;
use crate::map::Map;
use crate::plan::{Direction, Distribution, FilePlan, FileService, JobPlan, RandomGenerator};
use crate::random::{Purpose, Random, SeedTable};

/// Numbers of a skewed service of files for each file, as a power of two: as fio has it.
const RANGES_OF_A_FILE: u32 = 10;

/// Nowhere yet.
pub(crate) const NONE: u64 = u64::MAX;

/// Where random blocks of a file come from.
#[derive(Debug)]
pub(crate) enum Blocks {
    /// A random number.
    Drawn,
    /// A random number, no block twice.
    Mapped(Map),
    /// A shift register.
    Register(Lfsr),
    /// A skewed distribution.
    Skewed(Skewed),
}

/// One file.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) plan: FilePlan,
    /// Where I/O begins now: strided zones move it.
    pub(crate) offset: u64,
    /// By direction: where its next sequential I/O begins.
    pub(crate) position: [u64; 3],
    /// By direction: where its last I/O began.
    pub(crate) last: [u64; 3],
    pub(crate) blocks: Blocks,
    pub(crate) done: bool,
}

impl File {
    fn new(plan: &JobPlan, file: &FilePlan, seeds: &SeedTable, offset: u64) -> File {
        let used = file.real_bytes.min(file.io_bytes);
        let least = |sizes: &[crate::plan::Sizes]| sizes.iter().map(|size| size.min).min();
        let of_map = plan.strides.map_or(used, |strides| strides.range);
        let mapped = of_map / least(&plan.sizes).unwrap_or(1);
        let seed = if plan.seeds.repeat_passes {
            file.name_hash.wrapping_mul(plan.number)
        } else {
            seeds.of(Purpose::Blocks) as u32
        };
        let ranges = used.div_ceil(least(&plan.sizes[..2]).unwrap_or(1));
        let skewed = Skewed::new(plan.distribution, ranges, seed);
        let blocks = match (skewed, plan.generator) {
            _ if !plan.random => Blocks::Drawn,
            (Some(skewed), _) => Blocks::Skewed(skewed),
            (None, RandomGenerator::Lfsr) => {
                Blocks::Register(Lfsr::new(mapped, seeds.of(Purpose::Blocks)))
            }
            (None, _) if plan.random_map => Blocks::Mapped(Map::new(mapped)),
            _ => Blocks::Drawn,
        };
        File {
            plan: *file,
            offset,
            position: [offset; 3],
            last: [NONE; 3],
            blocks,
            done: false,
        }
    }

    /// I/O begins anew, every block may be asked for again.
    pub(crate) fn reset(&mut self, seeds: &SeedTable) {
        self.position = [self.offset; 3];
        self.last = [NONE; 3];
        match &mut self.blocks {
            Blocks::Mapped(map) => map.clear(),
            Blocks::Register(register) => register.reset(seeds.of(Purpose::Blocks)),
            _ => {}
        }
    }

    /// True if `bytes` from `offset` on are within what is used.
    pub(crate) fn space(&self, offset: u64) -> u64 {
        (self.plan.io_bytes + self.plan.offset_bytes).saturating_sub(offset)
    }
}

/// The files of a thread, and which of them comes next.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) all: Vec<File>,
    service: FileService,
    at_once: u64,
    left: u64,
    next: usize,
    current: Option<usize>,
    random: Random,
    distribution: Distribution,
    skewed: Option<Skewed>,
}

/// Numbers whose higher bits are files, of which some come more often; none if all are alike.
fn skewed(distribution: Distribution, files: usize, seeds: &SeedTable) -> Option<Skewed> {
    let ranges = (files as u64) << RANGES_OF_A_FILE;
    let drawn = Skewed::new(distribution, ranges, seeds.of(Purpose::Files) as u32);
    drawn.map(Skewed::side_by_side)
}

impl Files {
    pub(crate) fn new(plan: &JobPlan, seeds: &SeedTable, wide: bool) -> Files {
        let file = |file: &FilePlan| File::new(plan, file, seeds, file.offset_bytes);
        Files {
            all: plan.files.iter().map(file).collect(),
            service: plan.file_service,
            at_once: plan.file_service_ios.max(1),
            left: 0,
            next: 0,
            current: None,
            random: Random::new(seeds.of(Purpose::Files), wide),
            distribution: plan.file_distribution,
            skewed: skewed(plan.file_distribution, plan.files.len(), seeds),
        }
    }

    /// All begin anew.
    pub(crate) fn reopen(&mut self, seeds: &SeedTable, wide: bool) {
        for file in &mut self.all {
            file.done = false;
            file.offset = file.plan.offset_bytes;
            file.reset(seeds);
        }
        self.current = None;
        self.random = Random::new(seeds.of(Purpose::Files), wide);
        self.skewed = skewed(self.distribution, self.all.len(), seeds);
    }

    /// A file by chance.
    fn any(&mut self) -> usize {
        match &mut self.skewed {
            Some(skewed) => (skewed.next() >> RANGES_OF_A_FILE) as usize,
            None => self.random.below(self.all.len() as u64) as usize,
        }
    }

    /// The file of the next I/O; none if all are done.
    pub(crate) fn pick(&mut self) -> Option<usize> {
        if self.all.iter().all(|file| file.done) {
            return None;
        }
        if let Some(current) = self.current.filter(|&at| !self.all[at].done) {
            if self.service == FileService::Sequential {
                return Some(current);
            }
            if self.left > 0 {
                self.left -= 1;
                return Some(current);
            }
        }
        let found = loop {
            let at = match self.service {
                FileService::Random => self.any(),
                _ => {
                    let at = self.next;
                    self.next = (at + 1) % self.all.len();
                    at
                }
            };
            if !self.all[at].done {
                break at;
            }
        };
        self.current = Some(found);
        self.left = self.at_once - 1;
        Some(found)
    }
}

/// True if blocks of `plan` may be asked for in any order.
pub(crate) fn is_wide(plan: &JobPlan) -> bool {
    let blocks = |file: &FilePlan| file.io_bytes / plan.sizes[0].min.min(plan.sizes[1].min);
    let many = plan.random
        && plan.direction != Direction::Trim
        && matches!(plan.distribution, Distribution::Uniform)
        && plan
            .files
            .iter()
            .map(blocks)
            .any(|n| n > u64::from(u32::MAX));
    match plan.generator {
        RandomGenerator::Tausworthe64 => true,
        RandomGenerator::Tausworthe => many,
        RandomGenerator::Lfsr => false,
    }
}
