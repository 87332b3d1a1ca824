//! The disk through its link: every test of more than one module, in one program.
//!
//! One program instead of one for each file: the engine inside of it is compiled once.

mod common;

mod hdd_link;
mod hdd_mutated;
mod hdd_scsi;
mod hdd_shingled;
mod hdd_streams;
