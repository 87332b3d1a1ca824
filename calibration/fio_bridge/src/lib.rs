//! Lets the system's own, unmodified fio drive a simulated system in virtual time.
//!
//! The library is preloaded into fio (`LD_PRELOAD`). It stands in for libaio, behind which the
//! engine runs, and for the monotonic clock and the sleeps of fio's job threads. 60 seconds of
//! fio take what the engine takes. Described in `docs/how-to/run-fio.md`.
//!
//! - `setup`: what the environment hands over;
//! - `world`: job threads, the engine and the virtual time, without any threads of its own;
//! - `clock`: the virtual clock;
//! - `baton`: lets one of the real threads run at a time, as the world decides;
//! - `interpose`: the C functions, the only place with unsafe code.

mod baton;
mod clock;
mod interpose;
mod setup;
mod world;
