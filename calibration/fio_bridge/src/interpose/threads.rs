//! Threads, and what they wait for of each other: locks, conditions, ends.
//!
//! A thread that would wait in the C library waits in the world instead, so that the virtual clock
//! knows of it. Locks themselves are the C library's: they are tried, never waited for.

use super::real;
use super::time::nanos;
use crate::baton;
use crate::threads::NEVER;
use libc::{
    c_int, c_void, pthread_attr_t, pthread_cond_t, pthread_mutex_t, pthread_rwlock_t, pthread_t,
    timespec,
};

type Routine = extern "C" fn(*mut c_void) -> *mut c_void;

/// What a new thread shall do.
struct Start {
    index: usize,
    routine: Routine,
    argument: *mut c_void,
}

extern "C" fn run(start: *mut c_void) -> *mut c_void {
    // SAFETY: made by `pthread_create` below, for this thread alone.
    let start = unsafe { Box::from_raw(start.cast::<Start>()) };
    baton::enter(start.index);
    let result = (start.routine)(start.argument);
    baton::leave();
    result
}

/// A thread that runs when the world lets it.
///
/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    let real = real!(pthread_create: fn(*mut pthread_t, *const pthread_attr_t, Routine, *mut c_void) -> c_int);
    if baton::thread().is_none() {
        // SAFETY: the call that the caller asked for.
        return unsafe { real(thread, attributes, routine, argument) };
    }
    let index = baton::create();
    let start = Box::into_raw(Box::new(Start {
        index,
        routine,
        argument,
    }));
    // SAFETY: as the caller asked, but with a start of our own.
    let result = unsafe { real(thread, attributes, run, start.cast()) };
    if result == 0 {
        // SAFETY: the call succeeded, so the number is there.
        baton::name(index, unsafe { *thread } as usize);
    } else {
        baton::abandon(index);
        // SAFETY: no thread was made that could have taken it.
        drop(unsafe { Box::from_raw(start) });
    }
    result
}

/// Waits in virtual time for the end of a thread.
///
/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int {
    if baton::thread().is_some() {
        baton::join(thread as usize);
    }
    // SAFETY: the call that the caller asked for; the thread is about to end.
    unsafe { real!(pthread_join: fn(pthread_t, *mut *mut c_void) -> c_int)(thread, result) }
}

/// Tries until it succeeds, and waits between tries for a release of `key`.
fn take(key: usize, attempt: impl Fn() -> c_int) -> c_int {
    loop {
        let result = attempt();
        if result != libc::EBUSY {
            return result;
        }
        baton::wait_for(key, NEVER);
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int {
    type Lock = unsafe extern "C" fn(*mut pthread_mutex_t) -> c_int;
    if baton::thread().is_none() {
        let real: Lock = real!(pthread_mutex_lock: fn(*mut pthread_mutex_t) -> c_int);
        // SAFETY: the call that the caller asked for.
        return unsafe { real(mutex) };
    }
    let attempt: Lock = real!(pthread_mutex_trylock: fn(*mut pthread_mutex_t) -> c_int);
    // SAFETY: the caller's mutex.
    take(mutex as usize, || unsafe { attempt(mutex) })
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the call that the caller asked for.
    let result = unsafe { real!(pthread_mutex_unlock: fn(*mut pthread_mutex_t) -> c_int)(mutex) };
    baton::release(mutex as usize, 1);
    result
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int {
    let attempt = real!(pthread_rwlock_tryrdlock: fn(*mut pthread_rwlock_t) -> c_int);
    // SAFETY: the caller's lock.
    take(lock as usize, || unsafe { attempt(lock) })
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int {
    let attempt = real!(pthread_rwlock_trywrlock: fn(*mut pthread_rwlock_t) -> c_int);
    // SAFETY: the caller's lock.
    take(lock as usize, || unsafe { attempt(lock) })
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the call that the caller asked for.
    let result = unsafe { real!(pthread_rwlock_unlock: fn(*mut pthread_rwlock_t) -> c_int)(lock) };
    baton::release(lock as usize, usize::MAX);
    result
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_wait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
) -> c_int {
    if baton::thread().is_none() {
        let real = real!(pthread_cond_wait: fn(*mut pthread_cond_t, *mut pthread_mutex_t) -> c_int);
        // SAFETY: the call that the caller asked for.
        return unsafe { real(condition, mutex) };
    }
    // SAFETY: the caller's condition and mutex.
    unsafe { wait_until(condition, mutex, NEVER) };
    0
}

/// Deadlines are those of the virtual clock, as fio's conditions have it.
///
/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_timedwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    deadline: *const timespec,
) -> c_int {
    if baton::thread().is_none() {
        let real = real!(pthread_cond_timedwait: fn(*mut pthread_cond_t, *mut pthread_mutex_t, *const timespec) -> c_int);
        // SAFETY: the call that the caller asked for.
        return unsafe { real(condition, mutex, deadline) };
    }
    // SAFETY: the caller's condition, mutex and `timespec`.
    let woken = unsafe { wait_until(condition, mutex, nanos(&*deadline)) };
    if woken { 0 } else { libc::ETIMEDOUT }
}

/// # Safety
/// The caller's condition, and a mutex that it holds.
unsafe fn wait_until(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    wake: u64,
) -> bool {
    // Nobody runs between the two: the caller has the baton until it waits.
    // SAFETY: the caller holds the mutex.
    unsafe { pthread_mutex_unlock(mutex) };
    let woken = baton::wait_for(condition as usize, wake);
    // SAFETY: the caller's mutex.
    unsafe { pthread_mutex_lock(mutex) };
    woken
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int {
    baton::release(condition as usize, 1);
    // SAFETY: the call that the caller asked for.
    unsafe { real!(pthread_cond_signal: fn(*mut pthread_cond_t) -> c_int)(condition) }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int {
    baton::release(condition as usize, usize::MAX);
    // SAFETY: the call that the caller asked for.
    unsafe { real!(pthread_cond_broadcast: fn(*mut pthread_cond_t) -> c_int)(condition) }
}
