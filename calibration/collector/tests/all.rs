//! The collector as a program: every test that starts it, in one program.
//!
//! One program instead of one for each file: the engine inside of it is compiled once.

mod common;

mod fio_faults;
mod loop_device;
mod noise;
mod refusals;
mod resume;
