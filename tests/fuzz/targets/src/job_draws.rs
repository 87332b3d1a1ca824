//! Threads of fio's jobs, drawn within what Python lets through.

use raidlab_engine::kernel::Stream;
use serde_json::{Value, json};

/// Threads use files within this number of bytes.
pub const DEVICE_BYTES: u64 = 64 << 20;
/// What every random distribution is drawn for; Zipf's law costs a sum over all blocks.
const BLOCKS: [u64; 8] = [512, 512, 4096, 4096, 4096, 8192, 65_536, 262_144];
const MS: u64 = 1_000_000;

/// A thread's plan.
pub fn thread(draws: &mut Stream) -> Value {
    let mut draw = Draw { draws };
    let random = draw.one_in(2);
    let of_sizes = [draw.sizes(random), draw.sizes(random), draw.sizes(random)];
    let is_even = of_sizes.iter().all(|sizes| sizes["align"] == sizes["min"]);
    let distribution = draw.distribution();
    let uniform = distribution["kind"] == "uniform";
    let least = of_sizes
        .iter()
        .filter_map(|sizes| sizes["min"].as_u64())
        .min()
        .unwrap_or(512);
    let files = draw.files(least);
    let used: u64 = files
        .iter()
        .filter_map(|file| file["io_bytes"].as_u64())
        .sum();
    let mapped = random && uniform && is_even && !draw.one_in(4);
    let generator = draw.any(["tausworthe", "tausworthe", "tausworthe64", "lfsr"]);
    let direction = draw.any(["read", "write", "trim", "read_write", "trim_write"]);
    let verified = direction != "read" && direction != "trim" && draw.one_in(4);
    json!({
        "load": 0, "array": 0, "number": 1 + draw.below(1000),
        "start": {"file": 0, "phase": 0, "delay_ns": 0, "ends_others": false},
        "extent": draw.extent(used),
        "direction": direction, "random": random, "read_percent": draw.below(101),
        "sequence": draw.sequence(),
        "sizes": of_sizes, "unaligned": draw.one_in(16), "sizes_by_order": draw.one_in(16),
        "distribution": distribution, "random_map": mapped, "generator": generator,
        "seeds": {"seed": draw.whole(), "repeat_offsets": draw.one_in(2),
                  "repeat_passes": draw.one_in(2), "repeat_all": draw.one_in(8),
                  "same_sizes": verified},
        "files": files,
        "file_service": draw.any(["round_robin", "sequential", "random"]),
        "file_service_ios": draw.below(4),
        "strides": draw.strides(least),
        "depth": draw.depth(), "synchronous": draw.one_in(4), "caps": draw.caps(),
        "think": draw.think(),
        "syncs": {"fsync": draw.seldom(5), "fdatasync": draw.seldom(5),
                  "at_end": draw.one_in(4), "each_write": draw.one_in(8)},
        "verify": verified.then(|| {
            let backlog = draw.seldom(40);
            json!({"by_offset": draw.one_in(2), "backlog": backlog,
                   "batch": if draw.one_in(2) { backlog } else { 1 + draw.below(50) }})
        }),
        "latency_target": draw.one_in(8).then(|| json!({
            "target_ns": 1 + draw.below(20 * MS), "window_ns": draw.below(100 * MS),
            "percentile": draw.any([100.0, 99.0, 50.0, 0.0]),
            "runs_on": draw.one_in(2),
        })),
        "max_latency_ns": draw.seldom(50 * MS), "sample_ns": draw.any([0, 500 * MS]),
    })
}

struct Draw<'a> {
    draws: &'a mut Stream,
}

impl Draw<'_> {
    fn below(&mut self, most: u64) -> u64 {
        self.draws.below(most)
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn any<T: Copy, const N: usize>(&mut self, of: [T; N]) -> T {
        of[self.below(N as u64) as usize]
    }

    /// 0, most of the time.
    fn seldom(&mut self, most: u64) -> u64 {
        if self.one_in(4) {
            1 + self.below(most)
        } else {
            0
        }
    }

    /// Any 64 bits: at an edge, or of any size.
    fn whole(&mut self) -> u64 {
        match self.below(4) {
            0 => self.any([0, 1, u64::from(u32::MAX), u64::MAX]),
            _ => self.draws.bits() >> self.below(64),
        }
    }

    fn block(&mut self) -> u64 {
        self.any(BLOCKS)
    }

    fn sizes(&mut self, random: bool) -> Value {
        let (mut min, mut max) = (self.block(), self.block());
        if self.one_in(2) {
            max = min;
        }
        (min, max) = (min.min(max), min.max(max));
        let mut split = Vec::new();
        if self.one_in(6) {
            let share = self.below(101);
            split = vec![(min, share.min(100 - share)), (max, share.max(100 - share))];
        }
        let align = if random && self.one_in(6) {
            self.block()
        } else {
            min
        };
        let end = 1 + self.below(99);
        json!({"min": min, "max": max, "align": align, "split": split,
               "percent_random": if self.one_in(4) { self.below(101) } else { 100 },
               "zones": [[60, end], [40, 100]]})
    }

    fn distribution(&mut self) -> Value {
        let center = self.one_in(2).then(|| self.draws.unit());
        match self.below(10) {
            0 => json!({"kind": "zipf", "center": center,
                        "theta": self.any([0.01, 0.5, 0.999, 1.1, 20.0])}),
            1 => json!({"kind": "pareto", "h": 0.001 + 0.998 * self.draws.unit(),
                        "center": center}),
            2 => json!({"kind": "normal", "deviation": 99.0 * self.draws.unit(),
                        "center": center}),
            3 => json!({"kind": "zoned"}),
            _ => json!({"kind": "uniform"}),
        }
    }

    /// One to three files behind each other, each of a few blocks at least.
    fn files(&mut self, least: u64) -> Vec<Value> {
        let count = 1 + self.below(3);
        let room = DEVICE_BYTES / count;
        (0..count)
            .map(|at| {
                let offset = 512 * self.seldom(1000);
                let most = if self.one_in(2) {
                    1 << 20
                } else {
                    room - offset
                };
                let io = least + self.below(most - least + 1);
                let real = (offset + io + self.seldom(1 << 20)).min(room);
                json!({"start_bytes": at * room, "offset_bytes": offset,
                       "io_bytes": io.min(real - offset), "real_bytes": real,
                       "name_hash": self.below(1 << 32)})
            })
            .collect()
    }

    fn extent(&mut self, used: u64) -> Value {
        let timed = self.one_in(4);
        json!({"size": if self.one_in(2) { used } else { 1 + self.below(used) },
               "io_size": self.seldom(4 * used), "loops": 1 + self.seldom(3),
               "number_ios": self.seldom(500),
               "runtime_ns": if timed { 1 + self.below(1000 * MS) } else { 0 },
               "time_based": timed && self.one_in(2), "ramp_ns": self.seldom(200 * MS)})
    }

    fn sequence(&mut self) -> Value {
        let step = 512 * self.seldom(100) as i64;
        json!({"every": if self.one_in(4) { 1 + self.below(20) } else { 1 },
               "step_bytes": if self.one_in(2) { step } else { -step },
               "between": self.any(["sequential", "identical"])})
    }

    fn strides(&mut self, least: u64) -> Option<Value> {
        self.one_in(10).then(|| {
            let size = 1 + self.below(64 * least);
            json!({"size": size, "skip": 512 * self.seldom(1000),
                   "range": if self.one_in(2) { size } else { 1 + self.below(128 * least) }})
        })
    }

    fn depth(&mut self) -> Value {
        let depth = self.any([1, 1, 2, 8, 32, 128]);
        let least = self.seldom(2 * depth);
        json!({"depth": depth, "batch": 1 + self.below(depth), "complete_min": least,
               "complete_max": least + self.seldom(depth), "low": 1 + self.below(depth)})
    }

    fn caps(&mut self) -> Vec<Value> {
        (0..3)
            .map(|_| {
                let magnitude = 10 + self.below(20);
                let cap = self.seldom(1 << magnitude);
                json!({"bytes_per_s": cap, "poisson": self.one_in(2), "exact": self.one_in(4)})
            })
            .collect()
    }

    fn think(&mut self) -> Option<Value> {
        self.one_in(8).then(|| {
            let after = self.seldom(50 * MS);
            json!({"pause_ns": 1 + self.below(10 * MS), "completed": self.one_in(2),
                   "blocks": if after > 0 && self.one_in(2) { 0 } else { 1 + self.below(20) },
                   "after_ns": after})
        })
    }
}
