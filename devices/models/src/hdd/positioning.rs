//! The positioning estimate: how long the arm needs at most to get to a sector.
//!
//! A choice by position looks at every command that waits. An estimate therefore costs a table
//! look-up ([`super::seek_bounds`]) and two multiplications.

use super::geometry::Target;
use super::ids::{CylinderId, HeadId};
use super::mechanics::Arm;
use super::media_op::MediaOp;
use super::model::Model;
use super::rotation::Rotation;
use raidlab_kernel::{Nanos, Time};

/// Estimates from one arm at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Estimate<'a> {
    model: &'a Model,
    cylinder: CylinderId,
    head: HeadId,
    /// The platter's angle now, 2^64 a revolution.
    angle: u64,
    rotation: Rotation,
}

impl<'a> Estimate<'a> {
    /// From `arm`, free to move from `now` on.
    #[inline]
    pub fn new(model: &'a Model, arm: &Arm, now: Time) -> Estimate<'a> {
        Estimate {
            model,
            cylinder: arm.cylinder,
            head: arm.head,
            angle: arm.rotation.fine_angle(arm.phase, now),
            rotation: arm.rotation,
        }
    }

    /// Cylinders from the arm to `cylinder`.
    #[inline]
    pub fn distance(&self, cylinder: CylinderId) -> u32 {
        self.cylinder.distance(cylinder)
    }

    /// Cylinders from the first to the last.
    #[inline]
    pub fn full_stroke(&self) -> u32 {
        self.model.geometry.cylinders() - 1
    }

    /// The longest movement over `distance` cylinders under the same head.
    #[inline]
    pub fn movement(&self, distance: u32, op: MediaOp) -> Nanos {
        let (edge, inside) = (CylinderId::new(0), CylinderId::new(distance));
        self.model.seek_bounds.over(inside, edge, op)
    }

    /// The longest time to a sector: movement, and the wait after it.
    #[inline(always)]
    pub fn access(&self, target: Target, op: MediaOp) -> Nanos {
        let bounds = &self.model.seek_bounds;
        let switch = if target.head == self.head {
            Nanos::ZERO
        } else {
            bounds.head_switch(op)
        };
        let seek = bounds.over(self.cylinder, target.cylinder, op).max(switch);
        let rotation = &self.rotation;
        seek + rotation.wait(rotation.angle(self.angle, Time(seek.0)), target.angle)
    }
}
