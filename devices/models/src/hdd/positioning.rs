//! The positioning estimate: how long the arm needs at most to get to a sector.
//!
//! A choice by position looks at every command that waits. An estimate therefore costs a table
//! look-up ([`super::seek_bounds`]) and two multiplications.

use super::geometry::Target;
use super::mechanics::Arm;
use super::media_op::MediaOp;
use super::model::Model;
use raidlab_kernel::{Nanos, Time};

/// Estimates from one arm at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Estimate<'a> {
    model: &'a Model,
    cylinder: u32,
    head: u32,
    /// The platter's angle now, 2^64 a revolution.
    angle: u64,
}

impl<'a> Estimate<'a> {
    /// From `arm`, free to move from `now` on.
    #[inline]
    pub fn new(model: &'a Model, arm: &Arm, now: Time) -> Estimate<'a> {
        Estimate {
            model,
            cylinder: arm.cylinder,
            head: arm.head,
            angle: model.rotation.fine_angle(arm.phase, now),
        }
    }

    /// The longest movement over `distance` cylinders under the same head.
    #[inline]
    pub fn movement(&self, distance: u32, op: MediaOp) -> Nanos {
        Nanos(u64::from(self.model.seek_bounds.before(op).over(distance)))
    }

    /// The longest time to a sector: movement, and the wait after it.
    #[inline(always)]
    pub fn access(&self, target: &Target, op: MediaOp) -> Nanos {
        let bounds = self.model.seek_bounds.before(op);
        let distance = self.cylinder.abs_diff(target.cylinder);
        let switch = if target.head == self.head {
            0
        } else {
            bounds.head_switch_ns
        };
        let seek = Nanos(u64::from(bounds.over(distance).max(switch)));
        let rotation = &self.model.rotation;
        seek + rotation.wait(rotation.angle(self.angle, Time(seek.0)), target.angle)
    }
}
