//! Clocks, sleeps, timers and the waits that end with them.

use super::{fail, real};
use crate::threads::NEVER;
use crate::{baton, clock, setup};
use libc::{
    c_int, c_uint, c_void, clockid_t, fd_set, itimerspec, rusage, timespec, timeval, useconds_t,
};
use std::cell::Cell;

pub(super) const NANOS: u64 = 1_000_000_000;

/// fio's main thread sleeps so long, in microseconds, between two looks for jobs that ended.
const LOOK_US: c_uint = 10_000;

/// fio measures how short a sleep can be, in whole microseconds, and sleeps again until it has
/// slept for long enough: a sleep of no time would never do.
const SHORTEST_SLEEP_NS: u64 = 1000;

/// A thread that only reads the clock lets the others go on for so long at each read.
const SPINNING_TICK_NS: u64 = 250;

thread_local! {
    /// The timer that this thread set last: its descriptor, and when it goes off.
    static TIMER: Cell<Option<(c_int, u64)>> = const { Cell::new(None) };
}

pub(super) fn nanos(time: &timespec) -> u64 {
    (time.tv_sec as u64)
        .saturating_mul(NANOS)
        .saturating_add(time.tv_nsec as u64)
}

/// The virtual clock for `CLOCK_MONOTONIC`, the system's for the rest.
///
/// # Safety
/// `time` points to a `timespec`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    if clock == libc::CLOCK_MONOTONIC && baton::thread().is_some() {
        let now = clock::read(|| baton::sleep_until(clock::present() + SPINNING_TICK_NS));
        // SAFETY: the caller gives room for a `timespec`.
        unsafe {
            (*time).tv_sec = (now / NANOS) as i64;
            (*time).tv_nsec = (now % NANOS) as i64;
        }
        return 0;
    }
    // SAFETY: the system call that the caller asked for.
    unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) as c_int }
}

/// fio's threads sleep in virtual time, all others in real time.
///
/// # Safety
/// `wanted` points to a `timespec`; `left` is null or does too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(wanted: *const timespec, left: *mut timespec) -> c_int {
    if baton::thread().is_some() {
        // SAFETY: the caller hands over a `timespec`.
        let duration = nanos(unsafe { &*wanted }).max(SHORTEST_SLEEP_NS);
        baton::sleep_until(clock::present().saturating_add(duration));
        return 0;
    }
    // SAFETY: the system call that the caller asked for.
    unsafe { libc::syscall(libc::SYS_nanosleep, wanted, left) as c_int }
}

/// As `nanosleep`, for a duration or until a time of the virtual clock.
///
/// # Safety
/// As `nanosleep`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    wanted: *const timespec,
    left: *mut timespec,
) -> c_int {
    if baton::thread().is_some() {
        // SAFETY: the caller hands over a `timespec`.
        let time = nanos(unsafe { &*wanted });
        let absolute = flags & libc::TIMER_ABSTIME != 0;
        let begin = if absolute { 0 } else { clock::present() };
        let least = clock::present() + SHORTEST_SLEEP_NS;
        baton::sleep_until(begin.saturating_add(time).max(least));
        return 0;
    }
    // SAFETY: the system call that the caller asked for.
    unsafe { libc::syscall(libc::SYS_clock_nanosleep, clock, flags, wanted, left) as c_int }
}

/// As `nanosleep`. Where fio's main thread only looks for jobs that ended, it waits for that.
#[unsafe(no_mangle)]
pub extern "C" fn usleep(micros: useconds_t) -> c_int {
    if baton::thread() == Some(0) && micros == LOOK_US {
        baton::sleep_between_looks(u64::from(LOOK_US) * 1000, NANOS);
        return 0;
    }
    let wanted = timespec {
        tv_sec: i64::from(micros / 1_000_000),
        tv_nsec: i64::from(micros % 1_000_000) * 1000,
    };
    // SAFETY: the argument lives on this stack.
    unsafe { nanosleep(&raw const wanted, std::ptr::null_mut()) }
}

/// As `nanosleep`.
#[unsafe(no_mangle)]
pub extern "C" fn sleep(seconds: c_uint) -> c_uint {
    let wanted = timespec {
        tv_sec: i64::from(seconds),
        tv_nsec: 0,
    };
    // SAFETY: the argument lives on this stack.
    unsafe { nanosleep(&raw const wanted, std::ptr::null_mut()) };
    0
}

/// A timer of the virtual clock, for the next `select` of this thread.
///
/// # Safety
/// `wanted` points to an `itimerspec`; `former` is null or does too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timerfd_settime(
    timer: c_int,
    flags: c_int,
    wanted: *const itimerspec,
    former: *mut itimerspec,
) -> c_int {
    if baton::thread().is_none() {
        let real =
            real!(timerfd_settime: fn(c_int, c_int, *const itimerspec, *mut itimerspec) -> c_int);
        // SAFETY: the call that the caller asked for.
        return unsafe { real(timer, flags, wanted, former) };
    }
    // SAFETY: the caller hands over an `itimerspec`.
    let duration = nanos(unsafe { &(*wanted).it_value });
    TIMER.set((duration > 0).then(|| (timer, clock::present().saturating_add(duration))));
    0
}

/// Waits for descriptors in virtual time: fio's helper does, for its timer and its pipe.
///
/// # Safety
/// As of the C library's `select`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn select(
    count: c_int,
    reads: *mut fd_set,
    writes: *mut fd_set,
    faults: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    type Select =
        unsafe extern "C" fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *mut timeval) -> c_int;
    let real: Select =
        real!(select: fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *mut timeval) -> c_int);
    if baton::thread().is_none() {
        // SAFETY: the call that the caller asked for.
        return unsafe { real(count, reads, writes, faults, timeout) };
    }
    let given = [reads, writes, faults];
    // SAFETY: the caller hands over sets, or null.
    let wanted = given.map(|set| (!set.is_null()).then(|| unsafe { *set }));
    let timer = TIMER.take();
    // SAFETY: the caller hands over a `timeval`, or null.
    let until = (!timeout.is_null()).then(|| unsafe {
        let micros = (*timeout).tv_sec as u64 * 1_000_000 + (*timeout).tv_usec as u64;
        clock::present().saturating_add(micros.saturating_mul(1000))
    });
    let goes_off = timer.map_or(NEVER, |(_, at)| at);
    loop {
        let mut now = timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        // SAFETY: the sets as the caller gave them, and no wait.
        let ready = unsafe { real(count, reads, writes, faults, &raw mut now) };
        if ready != 0 || until.is_some_and(|until| until <= clock::present()) {
            return ready;
        }
        for (set, wanted) in given.into_iter().zip(wanted) {
            if let Some(wanted) = wanted {
                // SAFETY: the caller's own set.
                unsafe { *set = wanted };
            }
        }
        if goes_off <= clock::present() {
            return go_off(timer.map_or(-1, |(timer, _)| timer), count, reads);
        }
        baton::poll_until(until.unwrap_or(NEVER).min(goes_off));
    }
}

/// A timer goes off at once, in real time: `reads` holds it alone when this returns.
fn go_off(timer: c_int, count: c_int, reads: *mut fd_set) -> c_int {
    let soon = itimerspec {
        it_interval: timespec {
            tv_sec: 0,
            tv_nsec: 0,
        },
        it_value: timespec {
            tv_sec: 0,
            tv_nsec: 1,
        },
    };
    let none: *mut c_void = std::ptr::null_mut();
    let set = real!(timerfd_settime: fn(c_int, c_int, *const itimerspec, *mut itimerspec) -> c_int);
    let wait =
        real!(select: fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *mut timeval) -> c_int);
    if reads.is_null() {
        return fail(libc::EINVAL);
    }
    // SAFETY: the caller's set and descriptor; the timer is that of an earlier call.
    unsafe {
        set(timer, 0, &raw const soon, none.cast());
        libc::FD_ZERO(reads);
        libc::FD_SET(timer, reads);
        wait(count, reads, none.cast(), none.cast(), none.cast())
    }
}

/// A thread of fio has used no CPU time of this host: what the simulator needs is not its.
///
/// # Safety
/// `usage` points to room for a `rusage`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrusage(who: c_int, usage: *mut rusage) -> c_int {
    if setup::is_there() && who == libc::RUSAGE_THREAD {
        // SAFETY: the caller gives room; all bytes zero are a valid value.
        unsafe { usage.write(std::mem::zeroed()) };
        return 0;
    }
    // SAFETY: the system call that the caller asked for.
    unsafe { libc::syscall(libc::SYS_getrusage, who, usage) as c_int }
}
