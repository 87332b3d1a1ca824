//! What else went on while a step was measured, and whether it was too much.
//!
//! Everything is a difference of the kernel's counters. The collector's own counters include those
//! of children that it has waited for: what fio used is known exactly, and what is left was used
//! by others.

use crate::sysfs::{BlockDevice, Roots, entries, line};
use crate::units::show_bytes;
use serde::{Deserialize, Serialize};
use std::fs;
use std::time::{Duration, Instant};

/// Share of all CPUs' time that a hypervisor may take.
const STEAL: f64 = 0.01;
/// Share of all CPUs' time that other programs may use.
const OTHERS: f64 = 0.10;
/// Share of the device's bytes that others may move during a step.
const OTHER_BYTES: f64 = 0.01;
/// How often the clock is looked at.
const CLOCK: Duration = Duration::from_secs(1);
/// How long the device is watched while fio is not running.
pub const PAUSE: Duration = Duration::from_millis(200);
/// Drivers of the sensors of CPUs.
const SENSORS: [&str; 4] = ["coretemp", "k10temp", "zenpower", "cpu_thermal"];

/// What went on beside fio during a step; none of what the machine does not show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Share of all CPUs' time that a hypervisor took.
    pub steal: Option<f64>,
    /// Share of all CPUs' time that other programs used.
    pub other_cpu: Option<f64>,
    /// Load average of one minute, before and after.
    pub load: [Option<f64>; 2],
    /// Clock of the fastest CPU: the least and the mean of a sample a second, in MHz.
    pub cpu_mhz: Option<[f64; 2]>,
    /// Temperature of the hottest CPU before and after.
    pub cpu_temperature_c: [Option<f64>; 2],
    /// How often a CPU was slowed down for its temperature.
    pub throttled: Option<u64>,
    /// Bytes that the device moved for others while fio ran.
    pub other_bytes: Option<u64>,
    /// Bytes that fio moved, its ramp included.
    pub own_bytes: Option<u64>,
    /// What the device moved between the step before and this one, fio at rest.
    pub rest: Option<Rest>,
}

/// What the device moved while fio was not running.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rest {
    /// Bytes.
    pub bytes: u64,
    /// How long it was watched.
    pub seconds: f64,
}

impl Noise {
    /// What was too much, in words.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (share, limit, what) in [
            (self.steal, STEAL, "the hypervisor took"),
            (self.other_cpu, OTHERS, "other programs used"),
        ] {
            if let Some(share) = share.filter(|&share| share > limit) {
                faults.push(format!(
                    "{what} {:.1} % of the CPU time (allowed: {:.0} %)",
                    100.0 * share,
                    100.0 * limit
                ));
            }
        }
        if let Some(times @ 1..) = self.throttled {
            faults.push(format!("a hot CPU was slowed down {times} times"));
        }
        if let (Some(other), Some(own)) = (self.other_bytes, self.own_bytes) {
            if other as f64 > OTHER_BYTES * own as f64 {
                faults.push(format!(
                    "the device moved {} for others and {} for fio (allowed: {:.0} %)",
                    show_bytes(other),
                    show_bytes(own),
                    100.0 * OTHER_BYTES
                ));
            }
        }
        faults
    }
}

/// The kernel's counters at one instant.
#[derive(Clone, Debug)]
pub struct Look {
    at: Instant,
    cpu: Option<Cpu>,
    load: Option<f64>,
    temperature_c: Option<f64>,
    throttled: Option<u64>,
    device_bytes: Option<u64>,
    own_bytes: Option<u64>,
}

/// Time of CPUs in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cpu {
    total: u64,
    /// User, nice and system: what programs use.
    programs: u64,
    steal: u64,
    /// Of the collector and of the children that it has waited for.
    own: u64,
}

impl Look {
    /// Looks now.
    pub fn take(roots: &Roots, disk: Option<&BlockDevice>) -> Look {
        Look {
            at: Instant::now(),
            cpu: cpu(roots),
            load: line(&roots.proc.join("loadavg"))
                .and_then(|text| text.split(' ').next()?.parse().ok()),
            temperature_c: temperature_c(roots),
            throttled: throttled(roots),
            device_bytes: disk.and_then(|disk| device_bytes(roots, disk)),
            own_bytes: own_bytes(roots),
        }
    }

    /// What went on from `before` to this look.
    fn since(&self, before: &Look) -> Noise {
        let cpu = self.cpu.zip(before.cpu).and_then(|(now, then)| {
            let total = now
                .total
                .checked_sub(then.total)
                .filter(|&ticks| ticks > 0)? as f64;
            let own = now.own.saturating_sub(then.own);
            let programs = now.programs.saturating_sub(then.programs);
            let others = programs.saturating_sub(own) as f64;
            Some((
                now.steal.saturating_sub(then.steal) as f64 / total,
                others / total,
            ))
        });
        let grown = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let device = grown(self.device_bytes, before.device_bytes);
        let own = grown(self.own_bytes, before.own_bytes);
        Noise {
            steal: cpu.map(|(steal, _)| steal),
            other_cpu: cpu.map(|(_, others)| others),
            load: [before.load, self.load],
            cpu_mhz: None,
            cpu_temperature_c: [before.temperature_c, self.temperature_c],
            throttled: grown(self.throttled, before.throttled),
            other_bytes: device.zip(own).map(|(all, own)| all.saturating_sub(own)),
            own_bytes: own.filter(|_| device.is_some()),
            rest: None,
        }
    }
}

/// Watches the machine while a step is measured.
pub struct Watch<'a> {
    roots: &'a Roots,
    disk: Option<BlockDevice>,
    /// When fio ended last, or watching began.
    rest: Look,
    rested: Option<Rest>,
    start: Look,
    clocks: Vec<f64>,
    sampled: Instant,
}

impl<'a> Watch<'a> {
    /// Begins to watch; `device` is what fio loads, or what it lies on.
    pub fn new(roots: &'a Roots, device: Option<&BlockDevice>) -> Watch<'a> {
        let disk = device.map(|device| {
            let whole = device.disk().and_then(|name| roots.named(&name));
            whole.unwrap_or_else(|| device.clone())
        });
        let look = Look::take(roots, disk.as_ref());
        Watch {
            roots,
            disk,
            rest: look.clone(),
            rested: None,
            start: look,
            clocks: Vec::new(),
            sampled: Instant::now(),
        }
    }

    /// Watches the device at rest for a moment; fio may start then.
    pub fn rest(&mut self) -> Option<Rest> {
        std::thread::sleep(PAUSE.saturating_sub(self.rest.at.elapsed()));
        self.start = self.look();
        let (now, then) = (self.start.device_bytes?, self.rest.device_bytes?);
        Some(Rest {
            bytes: now.saturating_sub(then),
            seconds: self.start.at.duration_since(self.rest.at).as_secs_f64(),
        })
    }

    /// fio starts now.
    pub fn begin(&mut self) {
        self.rested = self.rest();
        self.clocks = Vec::from_iter(mhz(self.roots));
        self.sampled = Instant::now();
    }

    /// Called often while fio runs.
    pub fn tick(&mut self) {
        if self.sampled.elapsed() >= CLOCK {
            self.sampled = Instant::now();
            self.clocks.extend(mhz(self.roots));
        }
    }

    /// What went on; fio has ended.
    pub fn end(&mut self) -> Noise {
        let now = self.look();
        let mut noise = now.since(&self.start);
        noise.rest = self.rested;
        let least = self.clocks.iter().copied().reduce(f64::min);
        noise.cpu_mhz = least.map(|least| {
            [
                least,
                self.clocks.iter().sum::<f64>() / self.clocks.len() as f64,
            ]
        });
        self.rest = now;
        noise
    }

    fn look(&self) -> Look {
        Look::take(self.roots, self.disk.as_ref())
    }
}

/// `/proc/stat` has user, nice, system, idle, iowait, irq, softirq, steal; `/proc/self/stat` has
/// utime, stime, cutime, cstime behind the name in parentheses.
fn cpu(roots: &Roots) -> Option<Cpu> {
    let text = fs::read_to_string(roots.proc.join("stat")).ok()?;
    let fields = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = fields.split_whitespace().flat_map(str::parse).collect();
    let own = fs::read_to_string(roots.proc.join("self/stat")).ok()?;
    let own = own.rsplit_once(") ")?.1;
    let own = own.split(' ').skip(11).take(4).flat_map(str::parse::<u64>);
    Some(Cpu {
        total: ticks.get(..8)?.iter().sum(),
        programs: ticks[..3].iter().sum(),
        steal: ticks[7],
        own: own.sum(),
    })
}

/// Bytes read and written, from the sectors of 512 bytes in `/proc/diskstats`.
fn device_bytes(roots: &Roots, disk: &BlockDevice) -> Option<u64> {
    let text = fs::read_to_string(roots.proc.join("diskstats")).ok()?;
    text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let sectors = |at: usize| fields.get(at)?.parse::<u64>().ok();
        (*fields.get(2)? == disk.name).then(|| Some(512 * (sectors(5)? + sectors(9)?)))?
    })
}

/// Bytes that this process and the children it has waited for read and wrote on devices.
fn own_bytes(roots: &Roots) -> Option<u64> {
    let text = fs::read_to_string(roots.proc.join("self/io")).ok()?;
    let field = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name))?;
        value.trim().parse::<u64>().ok()
    };
    Some(field("read_bytes:")? + field("write_bytes:")?)
}

/// CPU folders: `cpu0`, `cpu1` ...
fn cpus(roots: &Roots) -> Vec<std::path::PathBuf> {
    let folder = roots.sys.join("devices/system/cpu");
    let number = |name: &String| {
        let digits = name.strip_prefix("cpu");
        digits.is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
    };
    let names = entries(&folder).into_iter().filter(number);
    names.map(|name| folder.join(name)).collect()
}

/// The clock of the fastest CPU.
fn mhz(roots: &Roots) -> Option<f64> {
    let khz = |cpu: &std::path::PathBuf| {
        line(&cpu.join("cpufreq/scaling_cur_freq"))?
            .parse::<f64>()
            .ok()
    };
    let fastest = cpus(roots).iter().filter_map(khz).reduce(f64::max);
    fastest.map(|khz| khz / 1e3).or_else(|| {
        let text = fs::read_to_string(roots.proc.join("cpuinfo")).ok()?;
        let clocks = text.lines().filter_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == "cpu MHz").then(|| value.trim().parse::<f64>().ok())?
        });
        clocks.reduce(f64::max)
    })
}

/// The highest temperature of a CPU's sensor; of its thermal zone where there is none.
fn temperature_c(roots: &Roots) -> Option<f64> {
    let monitors = roots.sys.join("class/hwmon");
    let thousandths = |path: &std::path::Path| line(path)?.parse::<f64>().ok();
    let sensors = entries(&monitors)
        .into_iter()
        .map(|name| monitors.join(name))
        .filter(|folder| line(&folder.join("name")).is_some_and(|n| SENSORS.contains(&&*n)))
        .flat_map(|folder| {
            let inputs = entries(&folder).into_iter();
            inputs
                .filter(|name| name.starts_with("temp") && name.ends_with("_input"))
                .filter_map(|name| thousandths(&folder.join(name)))
                .collect::<Vec<f64>>()
        });
    let zones = roots.sys.join("class/thermal");
    let zone = || {
        let folders = entries(&zones).into_iter().map(|name| zones.join(name));
        folders
            .filter(|folder| line(&folder.join("type")).is_some_and(|kind| kind.contains("pkg")))
            .filter_map(|folder| thousandths(&folder.join("temp")))
            .reduce(f64::max)
    };
    let found = sensors.reduce(f64::max).or_else(zone)?;
    Some(found / 1000.0)
}

/// How often CPUs were slowed down for their temperature, all together.
fn throttled(roots: &Roots) -> Option<u64> {
    let count = |cpu: &std::path::PathBuf| {
        line(&cpu.join("thermal_throttle/core_throttle_count"))?
            .parse::<u64>()
            .ok()
    };
    cpus(roots).iter().filter_map(count).reduce(|a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine(tempfile::TempDir);

    impl Machine {
        /// Two CPUs, a disk `sda` and nothing done.
        fn new() -> Machine {
            let machine = Machine(tempfile::tempdir().unwrap());
            machine.cpu([100, 0, 100, 1000, 0, 0, 0, 0], 50);
            machine.write("proc/loadavg", "0.50 0.40 0.30 1/99 4711\n");
            machine.disk(1000, 2000);
            machine.own(0);
            for (cpu, khz) in [("cpu0", "1200000"), ("cpu1", "3400000")] {
                let folder = format!("sys/devices/system/cpu/{cpu}");
                machine.write(&format!("{folder}/cpufreq/scaling_cur_freq"), khz);
                machine.write(
                    &format!("{folder}/thermal_throttle/core_throttle_count"),
                    "3",
                );
            }
            machine.write("sys/class/hwmon/hwmon0/name", "nvme\n");
            machine.write("sys/class/hwmon/hwmon0/temp1_input", "99000\n");
            machine.write("sys/class/hwmon/hwmon1/name", "coretemp\n");
            machine.write("sys/class/hwmon/hwmon1/temp1_input", "51000\n");
            machine.write("sys/class/hwmon/hwmon1/temp2_input", "54500\n");
            machine
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn cpu(&self, ticks: [u64; 8], own: u64) {
            let ticks = ticks.map(|ticks| ticks.to_string()).join(" ");
            self.write("proc/stat", &format!("cpu  {ticks} 0 0\ncpu0 1 2 3\n"));
            let own = format!("7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 {own} 0 20 0\n");
            self.write("proc/self/stat", &own);
        }

        fn disk(&self, read: u64, written: u64) {
            let text = format!(
                "8 0 sda 5 0 {read} 9 5 0 {written} 9 0 0 0\n8 1 sda1 5 0 77 9 5 0 77 9 0 0 0\n"
            );
            self.write("proc/diskstats", &text);
        }

        fn own(&self, bytes: u64) {
            let text = format!("rchar: 1\nread_bytes: {bytes}\nwrite_bytes: 0\ncancelled: 9\n");
            self.write("proc/self/io", &text);
        }

        fn roots(&self) -> Roots {
            Roots::under(self.0.path())
        }

        fn sda(&self) -> BlockDevice {
            BlockDevice {
                folder: self.0.path().join("sys/block/sda"),
                name: "sda".to_owned(),
                number: (8, 0),
            }
        }

        fn look(&self) -> Look {
            Look::take(&self.roots(), Some(&self.sda()))
        }
    }

    /// 1,000 ticks of two CPUs: fio used 300 of the 450 that programs used, 20 were stolen.
    #[test]
    fn the_time_of_fio_of_others_and_of_the_hypervisor_are_kept_apart() {
        let machine = Machine::new();
        let before = machine.look();
        machine.cpu([400, 50, 200, 1500, 30, 0, 0, 20], 350);
        let noise = machine.look().since(&before);
        assert_eq!(noise.steal, Some(0.02));
        assert_eq!(noise.other_cpu, Some(0.15));
        assert_eq!(
            noise.faults(),
            [
                "the hypervisor took 2.0 % of the CPU time (allowed: 1 %)",
                "other programs used 15.0 % of the CPU time (allowed: 10 %)",
            ]
        );
    }

    /// 30,000 sectors of 512 bytes; 10 MB of these 15.36 MB were fio's.
    #[test]
    fn bytes_of_neighbours_are_what_fio_did_not_move() {
        let machine = Machine::new();
        let before = machine.look();
        machine.disk(1000 + 20_000, 2000 + 10_000);
        machine.own(10_000_000);
        let noise = machine.look().since(&before);
        assert_eq!(noise.other_bytes, Some(5_360_000));
        assert_eq!(noise.own_bytes, Some(10_000_000));
        assert!(noise.faults()[0].contains("moved 5.11 MiB for others and 9.54 MiB for fio"));
        machine.own(15_300_000);
        assert!(machine.look().since(&before).faults().is_empty());
    }

    #[test]
    fn clock_temperature_load_and_throttling_are_stated() {
        let machine = Machine::new();
        let roots = machine.roots();
        let mut watch = Watch::new(&roots, Some(&machine.sda()));
        machine.disk(1002, 2000);
        watch.begin();
        machine.write("sys/class/hwmon/hwmon1/temp2_input", "61000\n");
        machine.write(
            "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count",
            "5",
        );
        machine.write("proc/loadavg", "2.25 0 0 1/1 1\n");
        let noise = watch.end();
        assert_eq!(noise.cpu_mhz, Some([3400.0, 3400.0]));
        assert_eq!(noise.cpu_temperature_c, [Some(54.5), Some(61.0)]);
        assert_eq!(noise.load, [Some(0.5), Some(2.25)]);
        assert_eq!(noise.throttled, Some(2));
        assert_eq!(noise.faults(), ["a hot CPU was slowed down 2 times"]);
        let rest = noise.rest.unwrap();
        assert_eq!(rest.bytes, 1024);
        assert!(rest.seconds >= PAUSE.as_secs_f64());
    }

    #[test]
    fn a_machine_that_shows_nothing_is_not_noisy() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::under(folder.path());
        let mut watch = Watch::new(&roots, None);
        watch.begin();
        let noise = watch.end();
        assert!(noise.faults().is_empty());
        assert_eq!((noise.steal, noise.other_bytes), (None, None));
    }

    /// The kernel's own counters: what a child reads from the disk is ours once it has ended.
    #[test]
    fn a_childs_work_is_counted_as_ones_own() {
        let roots = Roots::default();
        let before = cpu(&roots).expect("Linux shows them").own;
        let spin = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let ended = std::process::Command::new("sh").args(["-c", spin]).status();
        assert!(ended.unwrap().success());
        assert!(cpu(&roots).unwrap().own > before + 5);
    }
}
