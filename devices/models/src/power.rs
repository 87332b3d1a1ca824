//! Power by activity: what a drive draws idle, and what each of its operations costs beside that.
//!
//! The energy of a time t is P_idle t and the operations' own: of a disk the time that its arm works
//! at the difference of two powers, of flash so much for each read, program and erase of a die and
//! for each byte that passes a channel and the link. docs/explanation/power.md has the equations.
//!
//! A limit, as of a power state of NVMe, is a token bucket of energy: it takes in what the limit
//! leaves beside idling, and an operation of a die begins when its own energy is there.

use crate::bounds::Bounds;
use crate::fault::Fault;
use raidlab_kernel::{Nanos, Time, TokenBucket};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The bucket of a limit holds what flows in within this time. Assumed: makers average over 1 s and
/// more, control loops of voltage regulators act within milliseconds.
const BURST: Nanos = Nanos(1_000_000);
const NANO_PER_UNIT: f64 = 1e9;
const MILLI: f64 = 1e3;

/// Power of a disk in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ArmPowerParams {
    /// While it turns and nothing else.
    pub idle_w: f64,
    /// While its arm seeks, reads or writes.
    pub active_w: f64,
}

impl ArmPowerParams {
    /// Joules up to `now`, of which the arm worked for `busy`.
    pub(crate) fn joules(&self, busy: Nanos, now: Time) -> f64 {
        let lapsed = now.since(Time::ZERO).seconds();
        self.idle_w * lapsed + (self.active_w - self.idle_w) * busy.seconds()
    }
}

/// Power of a solid-state drive in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct FlashPowerParams {
    /// Without activity.
    pub idle_w: f64,
    /// Energy of an array read.
    #[schemars(transform = Self::ENERGY_NJ.said())]
    pub read_nj: f64,
    /// Energy of a program of a page set.
    #[schemars(transform = Self::ENERGY_NJ.said())]
    pub program_nj: f64,
    /// Energy of such a program with one bit a cell; none for as much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = Self::ENERGY_NJ.said())]
    pub program_slc_nj: Option<f64>,
    /// Energy of a block's erase.
    #[schemars(transform = Self::ENERGY_NJ.said())]
    pub erase_nj: f64,
    /// Energy of a byte of the host through the controller and over the link.
    #[schemars(transform = Self::BYTE_NJ.said())]
    pub byte_nj: f64,
    /// Most that the drive may draw, averaged over a millisecond.
    #[serde(default)]
    pub limit_w: Option<f64>,
}

impl FlashPowerParams {
    const IDLE_W: Bounds<f64> = Bounds::new(0.0, 1e12);
    /// Nanojoules of an operation of a die: up to a joule.
    const ENERGY_NJ: Bounds<f64> = Bounds::new(0.0, 1e9);
    /// Nanojoules of a byte.
    const BYTE_NJ: Bounds<f64> = Bounds::new(0.0, 1e6);

    /// Energy of a program with one bit a cell.
    pub(crate) fn slc_nj(&self) -> f64 {
        self.program_slc_nj.unwrap_or(self.program_nj)
    }

    pub(crate) fn faults(&self) -> Vec<Fault> {
        let costs = [
            ("power.idle_w", self.idle_w, Self::IDLE_W),
            ("power.read_nj", self.read_nj, Self::ENERGY_NJ),
            ("power.program_nj", self.program_nj, Self::ENERGY_NJ),
            ("power.program_slc_nj", self.slc_nj(), Self::ENERGY_NJ),
            ("power.erase_nj", self.erase_nj, Self::ENERGY_NJ),
            ("power.byte_nj", self.byte_nj, Self::BYTE_NJ),
        ];
        let costs = costs.into_iter();
        let mut faults: Vec<Fault> = costs
            .filter_map(|(key, value, bounds)| bounds.fault(key, value))
            .collect();
        if let Some(limit) = self
            .limit_w
            .filter(|&limit| limit.is_nan() || limit <= self.idle_w)
        {
            let allowed = format!("above the {} W of the idle drive", self.idle_w);
            faults.push(Fault::new("power.limit_w", limit, allowed));
        }
        faults
    }
}

/// What a limit leaves for operations.
#[derive(Debug)]
pub(crate) struct PowerBudget {
    /// A token is a nanojoule.
    bucket: TokenBucket,
    pub(crate) read_nj: u64,
    pub(crate) program_nj: u64,
    pub(crate) program_slc_nj: u64,
    pub(crate) erase_nj: u64,
    /// Picojoules of a byte.
    byte_pj: u64,
}

impl PowerBudget {
    /// None without a limit.
    pub(crate) fn of(params: &FlashPowerParams) -> Option<Box<PowerBudget>> {
        let left = params.limit_w? - params.idle_w;
        let rate = (left * NANO_PER_UNIT * MILLI) as u64;
        Some(Box::new(PowerBudget {
            bucket: TokenBucket::new(rate, BURST),
            read_nj: params.read_nj as u64,
            program_nj: params.program_nj as u64,
            program_slc_nj: params.slc_nj() as u64,
            erase_nj: params.erase_nj as u64,
            byte_pj: (params.byte_nj * 1e3) as u64,
        }))
    }

    /// When an operation of `nj` that moves `bytes` can begin, from `at` on; it takes its energy.
    pub(crate) fn begins(&mut self, nj: u64, bytes: u32, at: Time) -> Time {
        let nj = nj + self.byte_pj * u64::from(bytes) / 1000;
        let begins = self.bucket.ready(nj, at);
        self.bucket.take(nj, begins);
        begins
    }

    /// For how long up to `now` the bucket was not full.
    pub(crate) fn busy_until(&self, now: Time) -> Nanos {
        self.bucket.busy_until(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 10 s at 5 W and 4 s at 3 W more.
    #[test]
    fn a_disk_draws_its_idle_power_and_more_while_the_arm_works() {
        let power = ArmPowerParams {
            idle_w: 5.0,
            active_w: 8.0,
        };
        let joules = power.joules(Nanos(4_000_000_000), Time(10_000_000_000));
        assert_eq!(joules, 62.0);
    }

    /// By hand: 10 W of which 5 are idle leave 5,000 programs of 1 mJ a second: after the 5 that the
    /// bucket of 1 ms holds, one each 200 us.
    #[test]
    fn a_limit_spaces_operations_by_their_energy() {
        let params = FlashPowerParams {
            idle_w: 5.0,
            read_nj: 0.0,
            program_nj: 1e6,
            program_slc_nj: None,
            erase_nj: 0.0,
            byte_nj: 0.0,
            limit_w: Some(10.0),
        };
        let mut budget = PowerBudget::of(&params).unwrap();
        let begins: Vec<u64> = (0..8)
            .map(|_| budget.begins(budget.program_nj, 0, Time::ZERO).0)
            .collect();
        assert_eq!(begins, [0, 0, 0, 0, 0, 200_000, 400_000, 600_000]);
        // 8 mJ at 5 W.
        assert_eq!(budget.busy_until(Time(2_000_000)), Nanos(1_600_000));
        assert!(
            PowerBudget::of(&FlashPowerParams {
                limit_w: None,
                ..params
            })
            .is_none()
        );
        let faults = FlashPowerParams {
            limit_w: Some(5.0),
            ..params
        }
        .faults();
        assert_eq!(faults.len(), 1, "{faults:?}");
    }
}
