//! Solid-state drives: NAND, translation, garbage collection, buffers, firmware, heat.

// The device that gives these operations their time stands on them.
#![allow(dead_code)]

mod allocation;
mod collection;
mod divider;
mod layout;
mod mapping;
mod state;
mod translation;
