//! POSIX asynchronous I/O: what the C library does with threads of its own, the engine does here.

use super::fail;
use super::files::{gather, is_synced, leaves_times_out, on_array, scatter};
use super::time::nanos;
use crate::engine::{Completion, Request};
use crate::threads::NEVER;
use crate::{baton, clock};
use libc::{aiocb, c_int, c_void, iovec, timespec};
use raidlab_engine::io::Op;
use std::cell::RefCell;
use std::collections::HashMap;

thread_local! {
    /// This thread's I/Os by the address of their block: none while they are in flight.
    static RESULTS: RefCell<HashMap<usize, Option<i64>>> = RefCell::default();
}

fn buffer(block: &aiocb) -> [iovec; 1] {
    [iovec {
        iov_base: block.aio_buf,
        iov_len: block.aio_nbytes,
    }]
}

/// # Safety
/// `block` is a control block with its buffer, untouched until its I/O has ended.
unsafe fn submit(block: *mut aiocb, op: Op, data_only: bool) -> c_int {
    let Some(place) = baton::place() else {
        return fail(libc::EAGAIN);
    };
    // SAFETY: the caller's block.
    let given = unsafe { &*block };
    let flush = op == Op::Flush;
    let offset = if flush { 0 } else { given.aio_offset as u64 };
    let bytes = if flush {
        0
    } else {
        on_array(offset, given.aio_nbytes as u64)
    };
    if !flush && bytes == 0 {
        return fail(libc::ENOSPC);
    }
    let content = match op {
        // SAFETY: the caller's buffer.
        Op::Write => unsafe { gather(&buffer(given), bytes) },
        _ => Vec::new(),
    };
    let address = block.expose_provenance();
    RESULTS.with_borrow_mut(|results| results.insert(address, None));
    baton::submit(
        place,
        Request {
            op,
            offset,
            bytes,
            block: address,
            synced: op == Op::Write && is_synced(given.aio_fildes),
            data_only: data_only || leaves_times_out(given.aio_fildes),
            content,
            ..Request::default()
        },
    );
    0
}

fn ended(completion: Completion) {
    let block: *const aiocb = std::ptr::with_exposed_provenance(completion.block);
    // SAFETY: a block that was handed in, with its buffer.
    unsafe { scatter(&completion.content, &buffer(&*block)) };
    let result = Some(completion.result);
    RESULTS.with_borrow_mut(|results| results.insert(completion.block, result));
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aio_read64(block: *mut aiocb) -> c_int {
    // SAFETY: the caller's block.
    unsafe { submit(block, Op::Read, false) }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aio_write64(block: *mut aiocb) -> c_int {
    // SAFETY: the caller's block.
    unsafe { submit(block, Op::Write, false) }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aio_fsync64(op: c_int, block: *mut aiocb) -> c_int {
    // SAFETY: the caller's block.
    unsafe { submit(block, Op::Flush, op == libc::O_DSYNC) }
}

/// Nothing can be called back once it is submitted.
#[unsafe(no_mangle)]
pub extern "C" fn aio_cancel64(_file: c_int, _block: *mut aiocb) -> c_int {
    libc::AIO_NOTCANCELED
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aio_error64(block: *const aiocb) -> c_int {
    let known = || RESULTS.with_borrow(|results| results.get(&block.addr()).copied());
    if let (Some(None), Some(place)) = (known(), baton::place()) {
        baton::ready(place, ended);
    }
    match known() {
        Some(None) => libc::EINPROGRESS,
        Some(Some(result)) => (-result).max(0) as c_int,
        None => libc::EINVAL,
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aio_return64(block: *mut aiocb) -> isize {
    match RESULTS.with_borrow_mut(|results| results.remove(&block.addr())) {
        Some(Some(result)) if result >= 0 => result as isize,
        _ => -1,
    }
}

/// Waits in virtual time until one of the thread's I/Os has ended.
///
/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aio_suspend64(
    _blocks: *const *const c_void,
    _count: c_int,
    timeout: *const timespec,
) -> c_int {
    let wake = if timeout.is_null() {
        NEVER
    } else {
        // SAFETY: the caller hands over a `timespec`.
        clock::present().saturating_add(nanos(unsafe { &*timeout }))
    };
    if let Some(place) = baton::place() {
        baton::completions(place, 1, usize::MAX, wake, ended);
    }
    0
}
