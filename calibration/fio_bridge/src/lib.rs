//! Lets the system's own, unmodified fio drive a simulated system in virtual time.
//!
//! The library is preloaded into fio (`LD_PRELOAD`). It stands in for block I/O, behind which the
//! engine runs, and for the clock, the sleeps and the waits of fio's threads. 60 seconds of fio
//! take what the engine takes. Described in `docs/how-to/run-fio.md`.
//!
//! - `setup`: what the environment hands over;
//! - `clock`: the virtual clock;
//! - `threads`: what each thread waits for, and who runs next;
//! - `engine`: I/Os in, completions out; `content`: what was written;
//! - `world`: threads, engine and time together, without any threads of its own;
//! - `baton`: lets one of the real threads run at a time, as the world decides;
//! - `interpose`: the C functions, the only place with unsafe code.

mod baton;
mod clock;
mod content;
mod engine;
mod interpose;
mod setup;
mod threads;
mod world;
