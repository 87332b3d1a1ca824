//! Builds a system from a plan, generates its load, runs it and accounts for every nanosecond.

pub mod plan;
