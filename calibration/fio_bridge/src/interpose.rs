//! The C functions that fio finds here before those of libaio and the C library.
//!
//! The only unsafe code: reading and writing structures at the addresses that fio hands over,
//! as the functions' C interfaces demand. Structure layouts: `linux/aio_abi.h`. Nothing here
//! may use `std::time` or `std::thread::sleep`, which would come back to these functions.

#![allow(unsafe_code)]

use crate::world::Request;
use crate::{baton, clock, setup};
use libc::{c_char, c_int, c_long, c_uint, clockid_t, mode_t, timespec, useconds_t};
use raidlab_engine::kernel::Op;
use std::ffi::CStr;

/// The file descriptor of the file that stands for the array: high, so that fio's own do not
/// reach it, below the usual limit of 1024.
const ARRAY_FD: c_int = 999;

const ARRAY_PATH: &CStr = c"/proc/self/fd/999";

const NANOS: u64 = 1_000_000_000;

/// A poll for completions that finds none takes about a system call's time, or fio would poll
/// for ever at one instant.
const POLL_NS: u64 = 200;

/// `struct iocb`
#[repr(C)]
pub struct ControlBlock {
    data: u64,
    key: u32,
    flags_rw: u32,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// `struct io_event`
#[repr(C)]
pub struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

/// Runs when the library is loaded: makes the file that stands for the array, of its size and
/// without a byte of memory or disk.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    let setup = match setup::Setup::from_environment() {
        Ok(Some(setup)) => setup,
        Ok(None) => return,
        Err(fault) => {
            eprintln!("raidlab: {fault}");
            std::process::exit(2);
        }
    };
    // SAFETY: system calls on a constant name and on descriptors that this function made.
    unsafe {
        let file = libc::memfd_create(c"raidlab".as_ptr(), 0);
        let sized = libc::ftruncate64(file, setup.size_bytes as i64) == 0;
        if file < 0 || !sized || libc::dup2(file, ARRAY_FD) != ARRAY_FD {
            eprintln!("raidlab: cannot make a file of {} bytes", setup.size_bytes);
            libc::_exit(2);
        }
        libc::close(file);
    }
}

fn nanos(time: &timespec) -> u64 {
    time.tv_sec as u64 * NANOS + time.tv_nsec as u64
}

/// Memory files refuse direct I/O on some kernels; no I/O reaches this one.
///
/// # Safety
/// `path` is a C string. Called by C with two or three arguments; the third counts only if a
/// file is created.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller hands over a C string; the system call is the one it asked for.
    unsafe {
        let ours = !path.is_null() && CStr::from_ptr(path) == ARRAY_PATH;
        let flags = if ours { flags & !libc::O_DIRECT } else { flags };
        libc::syscall(
            libc::SYS_openat,
            libc::AT_FDCWD,
            path,
            flags,
            mode as c_uint,
        ) as c_int
    }
}

// -- syncs ---------------------------------------------------------------------------------------

/// Flushes the simulated system if a job asks it of the array, and waits in virtual time.
/// fio's libaio engine does its syncs so, not with `io_submit`.
#[unsafe(no_mangle)]
pub extern "C" fn fsync(file: c_int) -> c_int {
    sync(file, libc::SYS_fsync)
}

/// As `fsync`.
#[unsafe(no_mangle)]
pub extern "C" fn fdatasync(file: c_int) -> c_int {
    sync(file, libc::SYS_fdatasync)
}

fn sync(file: c_int, otherwise: c_long) -> c_int {
    if !clock::is_job() || !is_array(file) {
        // SAFETY: the system call that the caller asked for.
        return unsafe { libc::syscall(otherwise, file) as c_int };
    }
    let result = baton::flush();
    if result < 0 {
        // SAFETY: the address of this thread's own error number.
        unsafe { *libc::__errno_location() = -result as c_int };
        return -1;
    }
    0
}

/// True if the descriptor was opened with `O_DSYNC`, of which `O_SYNC` is a part.
fn is_synced(file: c_int) -> bool {
    // SAFETY: a query about a descriptor.
    let flags = unsafe { libc::fcntl(file, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_DSYNC != 0
}

/// True if the descriptor is of the file that stands for the array.
fn is_array(file: c_int) -> bool {
    let identity = |file: c_int| {
        let mut status = std::mem::MaybeUninit::<libc::stat64>::uninit();
        // SAFETY: room for a `stat64`, which is read only if the call filled it.
        unsafe {
            (libc::fstat64(file, status.as_mut_ptr()) == 0).then(|| {
                let status = status.assume_init();
                (status.st_dev, status.st_ino)
            })
        }
    };
    identity(file).is_some_and(|found| identity(ARRAY_FD) == Some(found))
}

// -- time ----------------------------------------------------------------------------------------

/// The virtual clock for `CLOCK_MONOTONIC`, the system's for the rest.
///
/// # Safety
/// `time` points to a `timespec`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    if clock == libc::CLOCK_MONOTONIC {
        let now = clock::read();
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

/// Jobs sleep in virtual time, all other threads in real time.
///
/// # Safety
/// `wanted` points to a `timespec`; `left` is null or does too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(wanted: *const timespec, left: *mut timespec) -> c_int {
    if clock::is_job() {
        // SAFETY: the caller hands over a `timespec`.
        let duration = nanos(unsafe { &*wanted });
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
    if clock::is_job() {
        // SAFETY: the caller hands over a `timespec`.
        let time = nanos(unsafe { &*wanted });
        let absolute = flags & libc::TIMER_ABSTIME != 0;
        let begin = if absolute { 0 } else { clock::present() };
        baton::sleep_until(begin.saturating_add(time));
        return 0;
    }
    // SAFETY: the system call that the caller asked for.
    unsafe { libc::syscall(libc::SYS_clock_nanosleep, clock, flags, wanted, left) as c_int }
}

/// As `nanosleep`.
#[unsafe(no_mangle)]
pub extern "C" fn usleep(micros: useconds_t) -> c_int {
    let wanted = timespec {
        tv_sec: i64::from(micros / 1_000_000),
        tv_nsec: i64::from(micros % 1_000_000) * 1000,
    };
    // SAFETY: the argument lives on this stack.
    unsafe { nanosleep(&raw const wanted, std::ptr::null_mut()) }
}

// -- libaio --------------------------------------------------------------------------------------

/// Sleeps about a millisecond of real time.
fn pause() {
    let wanted = timespec {
        tv_sec: 0,
        tv_nsec: 1_000_000,
    };
    let none: *mut timespec = std::ptr::null_mut();
    // SAFETY: the argument lives on this stack.
    unsafe { libc::syscall(libc::SYS_nanosleep, &raw const wanted, none) };
}

/// Registers the calling thread as a job.
///
/// # Safety
/// `context` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn io_queue_init(_events: c_int, context: *mut *mut libc::c_void) -> c_int {
    // Threads get their numbers in the order in which fio's main thread creates them.
    // SAFETY: a system call without arguments.
    let order = unsafe { libc::syscall(libc::SYS_gettid) } as u64;
    if !baton::join(order, pause) {
        return -libc::EAGAIN;
    }
    // The context is never read: the job is that of the calling thread.
    // SAFETY: the caller gives room for a pointer.
    unsafe { *context = std::ptr::without_provenance_mut(1) };
    0
}

/// As `io_queue_init`.
///
/// # Safety
/// As `io_queue_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn io_setup(events: c_int, context: *mut *mut libc::c_void) -> c_int {
    // SAFETY: the same interface.
    unsafe { io_queue_init(events, context) }
}

/// The calling job leaves.
#[unsafe(no_mangle)]
pub extern "C" fn io_destroy(_context: *mut libc::c_void) -> c_int {
    baton::leave();
    0
}

/// As `io_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn io_queue_release(context: *mut libc::c_void) -> c_int {
    io_destroy(context)
}

/// Nothing can be called back once it is submitted.
#[unsafe(no_mangle)]
pub extern "C" fn io_cancel(
    _context: *mut libc::c_void,
    _block: *mut ControlBlock,
    _event: *mut Event,
) -> c_int {
    -libc::EINVAL
}

/// Submits to the engine at the present of the virtual clock.
///
/// # Safety
/// `blocks` points to `count` pointers to control blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn io_submit(
    _context: *mut libc::c_void,
    count: c_long,
    blocks: *mut *mut ControlBlock,
) -> c_int {
    for index in 0..count as usize {
        // SAFETY: the caller hands over so many control blocks.
        let (address, block) = unsafe {
            let address = *blocks.add(index);
            (address, &*address)
        };
        let op = match block.opcode {
            0 | 7 => Op::Read,
            1 | 8 => Op::Write,
            2 | 3 => Op::Flush,
            _ if index > 0 => return index as c_int,
            _ => return -libc::EINVAL,
        };
        let vector = matches!(block.opcode, 7 | 8);
        let flush = op == Op::Flush;
        baton::submit(Request {
            op,
            offset: if flush { 0 } else { block.offset as u64 },
            bytes: match (flush, vector) {
                (true, _) => 0,
                // SAFETY: the caller hands over `bytes` entries at `buffer`.
                (_, true) => unsafe { vector_bytes(block) },
                _ => block.bytes,
            },
            block: address.expose_provenance(),
            data: block.data,
            alone: false,
            synced: op == Op::Write && is_synced(block.file as c_int),
        });
    }
    count as c_int
}

/// # Safety
/// `block` has a vector of buffers.
unsafe fn vector_bytes(block: &ControlBlock) -> u64 {
    let vector: *const libc::iovec = std::ptr::with_exposed_provenance(block.buffer as usize);
    (0..block.bytes as usize)
        // SAFETY: the caller vouches for `bytes` entries.
        .map(|index| unsafe { (*vector.add(index)).iov_len as u64 })
        .sum()
}

/// Completions of the calling job; waits in virtual time.
///
/// # Safety
/// `events` points to room for `most` events; `timeout` is null or points to a `timespec`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn io_getevents(
    _context: *mut libc::c_void,
    least: c_long,
    most: c_long,
    events: *mut Event,
    timeout: *mut timespec,
) -> c_int {
    let now = clock::present();
    let wake = match (least, timeout.is_null()) {
        (..=0, _) => now + POLL_NS,
        (_, true) => u64::MAX,
        // SAFETY: the caller hands over a `timespec`.
        (_, false) => now.saturating_add(nanos(unsafe { &*timeout }).max(POLL_NS)),
    };
    // A poll waits for the first completion or the time of a poll.
    let wanted = least.max(1) as usize;
    let mut taken = 0;
    baton::completions(wanted, most.max(0) as usize, wake, |completion| {
        let event = Event {
            data: completion.data,
            object: completion.block as u64,
            result: completion.result,
            result2: 0,
        };
        // SAFETY: no more than `most` completions are handed over.
        unsafe { events.add(taken).write(event) };
        taken += 1;
    });
    taken as c_int
}
