//! The array as fio sees it: a block device of its size, whose I/O is the engine's.

use super::{fail, real};
use crate::engine::{End, Request};
use crate::{baton, setup};
use libc::{c_char, c_int, c_long, c_uint, c_ulong, c_void, iovec, mode_t, off64_t};
use raidlab_engine::io::Op;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU8, Ordering};

/// The descriptor of the file in memory that stands for the array: high, so that fio's own do not
/// reach it, below the usual limit of 1024. It has no content: no I/O reaches it.
const ARRAY_FD: c_int = 999;

const ARRAY_PATH: &CStr = c"/proc/self/fd/999";

const SECTOR: c_int = 512;

// Requests of `ioctl`, as in `linux/fs.h`.
const BLKFLSBUF: c_ulong = 0x1261;
const BLKSSZGET: c_ulong = 0x1268;
const BLKPBSZGET: c_ulong = 0x127b;
const BLKDISCARD: c_ulong = 0x1277;
const BLKGETSIZE64: c_ulong = 0x8008_1272;

/// What a descriptor is open for: `ARRAY`, perhaps with `SYNCED`.
static OPEN: [AtomicU8; 65_536] = [const { AtomicU8::new(0) }; 65_536];
const ARRAY: u8 = 1;
/// Opened with `O_DSYNC`, of which `O_SYNC` is a part.
const SYNCED: u8 = 2;
/// The file's times are left out: `O_DSYNC`, not `O_SYNC`.
const DATA_ONLY: u8 = 4;

/// Makes the file that stands for the array.
pub(super) fn make_array() {
    let bytes = setup::size_bytes();
    // SAFETY: system calls on a constant name and on descriptors that this function made.
    unsafe {
        let file = libc::memfd_create(c"raidlab".as_ptr(), 0);
        let sized = libc::ftruncate64(file, bytes as i64) == 0;
        if file < 0 || !sized || libc::dup2(file, ARRAY_FD) != ARRAY_FD {
            eprintln!("raidlab: cannot make a file of {bytes} bytes");
            libc::_exit(2);
        }
        libc::syscall(libc::SYS_close, file);
    }
}

fn open_for(file: c_int) -> u8 {
    let slot = usize::try_from(file).ok().and_then(|file| OPEN.get(file));
    slot.map_or(0, |slot| slot.load(Ordering::Relaxed))
}

fn set_open_for(file: c_int, what: u8) {
    if let Some(slot) = usize::try_from(file).ok().and_then(|file| OPEN.get(file)) {
        slot.store(what, Ordering::Relaxed);
    }
}

fn is_array(file: c_int) -> bool {
    open_for(file) & ARRAY != 0
}

/// True if a write to the descriptor is complete when it is on stable media.
pub(super) fn is_synced(file: c_int) -> bool {
    open_for(file) & SYNCED != 0
}

/// True if such a write leaves the file's times out.
pub(super) fn leaves_times_out(file: c_int) -> bool {
    open_for(file) & DATA_ONLY != 0
}

/// # Safety
/// `path` is a C string or null.
unsafe fn is_array_path(path: *const c_char) -> bool {
    // SAFETY: the caller vouches for the string.
    setup::is_there() && !path.is_null() && unsafe { CStr::from_ptr(path) } == ARRAY_PATH
}

/// Memory files refuse direct I/O on some kernels; no I/O reaches this one.
///
/// # Safety
/// `path` is a C string. Called by C with two or three arguments; the third counts only if a
/// file is created.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller hands over a C string.
    let ours = unsafe { is_array_path(path) };
    let real_flags = if ours { flags & !libc::O_DIRECT } else { flags };
    let mode = mode as c_uint;
    // SAFETY: the system call that the caller asked for.
    let file = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, real_flags, mode) };
    let synced = match flags & libc::O_SYNC {
        0 => 0,
        libc::O_DSYNC => SYNCED | DATA_ONLY,
        _ => SYNCED,
    };
    set_open_for(file as c_int, if ours { ARRAY | synced } else { 0 });
    file as c_int
}

/// Forgets what the descriptor was open for.
#[unsafe(no_mangle)]
pub extern "C" fn close(file: c_int) -> c_int {
    set_open_for(file, 0);
    // SAFETY: the system call that the caller asked for.
    unsafe { libc::syscall(libc::SYS_close, file) as c_int }
}

// -- a block device ------------------------------------------------------------------------------

/// # Safety
/// `status` points to a `stat64` that a call filled.
unsafe fn as_block_device(status: *mut libc::stat64) {
    // SAFETY: the caller vouches for it.
    unsafe {
        (*status).st_mode = (*status).st_mode & !libc::S_IFMT | libc::S_IFBLK;
        (*status).st_size = 0;
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stat64(path: *const c_char, status: *mut libc::stat64) -> c_int {
    // SAFETY: the call that the caller asked for, and what it filled.
    unsafe {
        let result = real!(stat64: fn(*const c_char, *mut libc::stat64) -> c_int)(path, status);
        if result == 0 && is_array_path(path) {
            as_block_device(status);
        }
        result
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lstat64(path: *const c_char, status: *mut libc::stat64) -> c_int {
    // SAFETY: the call that the caller asked for; the link itself is of no interest.
    unsafe {
        if is_array_path(path) {
            return stat64(path, status);
        }
        real!(lstat64: fn(*const c_char, *mut libc::stat64) -> c_int)(path, status)
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fstat64(file: c_int, status: *mut libc::stat64) -> c_int {
    // SAFETY: the call that the caller asked for, and what it filled.
    unsafe {
        let result = real!(fstat64: fn(c_int, *mut libc::stat64) -> c_int)(file, status);
        if result == 0 && is_array(file) {
            as_block_device(status);
        }
        result
    }
}

/// What fio asks of a block device.
///
/// # Safety
/// As of the C library's; called by C with two or three arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ioctl(file: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    if !is_array(file) {
        // SAFETY: the system call that the caller asked for.
        return unsafe { libc::syscall(libc::SYS_ioctl, file, request, argument) as c_int };
    }
    match request {
        BLKFLSBUF => 0,
        BLKGETSIZE64 => {
            // SAFETY: room for 64 bits, as the request demands.
            unsafe { argument.cast::<u64>().write(setup::size_bytes()) };
            0
        }
        BLKSSZGET | BLKPBSZGET => {
            // SAFETY: room for an integer, as the request demands.
            unsafe { argument.cast::<c_int>().write(SECTOR) };
            0
        }
        BLKDISCARD => {
            // SAFETY: first byte and number of bytes, as the request demands.
            let [offset, bytes] = unsafe { *argument.cast::<[u64; 2]>() };
            let trim = Request {
                op: Op::Trim,
                offset,
                bytes,
                ..Request::default()
            };
            ended(&baton::io(trim)).min(0) as c_int
        }
        _ => fail(libc::ENOTTY),
    }
}

/// The result as C functions give it.
fn ended(end: &End) -> isize {
    if end.result < 0 {
        return fail(-end.result as c_int) as isize;
    }
    end.result as isize
}

// -- syncs ---------------------------------------------------------------------------------------

/// Flushes the simulated system if it is asked of the array, and waits in virtual time.
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
    if !is_array(file) {
        // SAFETY: the system call that the caller asked for.
        return unsafe { libc::syscall(otherwise, file) as c_int };
    }
    let flush = Request {
        op: Op::Flush,
        data_only: otherwise == libc::SYS_fdatasync,
        ..Request::default()
    };
    ended(&baton::io(flush)) as c_int
}

// -- reads and writes ----------------------------------------------------------------------------

/// Bytes of an I/O that lie on the array, which ends where it ends.
pub(super) fn on_array(offset: u64, bytes: u64) -> u64 {
    bytes.min(setup::size_bytes().saturating_sub(offset))
}

/// What buffers hold, one after the other, if contents are followed.
///
/// # Safety
/// The buffers can be read.
pub(super) unsafe fn gather(buffers: &[iovec], bytes: u64) -> Vec<u8> {
    let mut content = Vec::new();
    if setup::follows_content() {
        for buffer in buffers {
            // SAFETY: the caller vouches for the buffers.
            let part =
                unsafe { std::slice::from_raw_parts(buffer.iov_base.cast::<u8>(), buffer.iov_len) };
            content.extend_from_slice(part);
        }
        content.truncate(bytes as usize);
    }
    content
}

/// Fills buffers one after the other.
///
/// # Safety
/// The buffers can be written.
pub(super) unsafe fn scatter(mut content: &[u8], buffers: &[iovec]) {
    for buffer in buffers {
        let count = content.len().min(buffer.iov_len);
        // SAFETY: the caller vouches for the buffers; no more than they hold.
        unsafe {
            std::ptr::copy_nonoverlapping(content.as_ptr(), buffer.iov_base.cast(), count);
        }
        content = &content[count..];
    }
}

/// A synchronous I/O on the array.
///
/// # Safety
/// `buffers` can be read or written, as `op` demands.
unsafe fn transfer(file: c_int, op: Op, buffers: &[iovec], offset: off64_t) -> isize {
    let offset = offset as u64;
    let wanted: u64 = buffers.iter().map(|buffer| buffer.iov_len as u64).sum();
    let bytes = on_array(offset, wanted);
    if bytes == 0 {
        let full = op == Op::Write && wanted > 0;
        return if full { fail(libc::ENOSPC) as isize } else { 0 };
    }
    let content = match op {
        // SAFETY: the caller vouches for the buffers.
        Op::Write => unsafe { gather(buffers, bytes) },
        _ => Vec::new(),
    };
    let end = baton::io(Request {
        op,
        offset,
        bytes,
        synced: op == Op::Write && is_synced(file),
        data_only: leaves_times_out(file),
        content,
        ..Request::default()
    });
    // SAFETY: the caller vouches for the buffers.
    unsafe { scatter(&end.content, buffers) };
    ended(&end)
}

/// A buffer as a vector of one.
fn one(buffer: *mut c_void, bytes: usize) -> [iovec; 1] {
    [iovec {
        iov_base: buffer,
        iov_len: bytes,
    }]
}

/// # Safety
/// `vector` points to `count` entries.
unsafe fn many<'a>(vector: *const iovec, count: c_int) -> &'a [iovec] {
    // SAFETY: the caller vouches for the entries.
    unsafe { std::slice::from_raw_parts(vector, count.max(0) as usize) }
}

/// A synchronous I/O at the descriptor's position, which it moves on.
///
/// # Safety
/// As of `transfer`.
unsafe fn transfer_here(file: c_int, op: Op, buffers: &[iovec]) -> isize {
    // SAFETY: the position of a descriptor, and the caller's buffers.
    unsafe {
        let here = libc::lseek64(file, 0, libc::SEEK_CUR);
        let moved = transfer(file, op, buffers, here);
        if moved > 0 {
            libc::lseek64(file, moved as off64_t, libc::SEEK_CUR);
        }
        moved
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(file: c_int, buffer: *mut c_void, bytes: usize) -> isize {
    // SAFETY: the caller's buffer.
    unsafe {
        if is_array(file) {
            return transfer_here(file, Op::Read, &one(buffer, bytes));
        }
        libc::syscall(libc::SYS_read, file, buffer, bytes) as isize
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(file: c_int, buffer: *const c_void, bytes: usize) -> isize {
    // SAFETY: the caller's buffer.
    unsafe {
        if is_array(file) {
            return transfer_here(file, Op::Write, &one(buffer.cast_mut(), bytes));
        }
        let written = libc::syscall(libc::SYS_write, file, buffer, bytes) as isize;
        baton::written();
        written
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readv(file: c_int, vector: *const iovec, count: c_int) -> isize {
    // SAFETY: the caller's vector.
    unsafe {
        if is_array(file) {
            return transfer_here(file, Op::Read, many(vector, count));
        }
        libc::syscall(libc::SYS_readv, file, vector, count) as isize
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn writev(file: c_int, vector: *const iovec, count: c_int) -> isize {
    // SAFETY: the caller's vector.
    unsafe {
        if is_array(file) {
            return transfer_here(file, Op::Write, many(vector, count));
        }
        libc::syscall(libc::SYS_writev, file, vector, count) as isize
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread64(
    file: c_int,
    buffer: *mut c_void,
    bytes: usize,
    offset: off64_t,
) -> isize {
    // SAFETY: the caller's buffer.
    unsafe {
        if is_array(file) {
            return transfer(file, Op::Read, &one(buffer, bytes), offset);
        }
        libc::syscall(libc::SYS_pread64, file, buffer, bytes, offset) as isize
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(
    file: c_int,
    buffer: *const c_void,
    bytes: usize,
    offset: off64_t,
) -> isize {
    // SAFETY: the caller's buffer.
    unsafe {
        if is_array(file) {
            return transfer(file, Op::Write, &one(buffer.cast_mut(), bytes), offset);
        }
        libc::syscall(libc::SYS_pwrite64, file, buffer, bytes, offset) as isize
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn preadv64(
    file: c_int,
    vector: *const iovec,
    count: c_int,
    offset: off64_t,
) -> isize {
    // SAFETY: the caller's vector.
    unsafe {
        if is_array(file) {
            return transfer(file, Op::Read, many(vector, count), offset);
        }
        real!(preadv64: fn(c_int, *const iovec, c_int, off64_t) -> isize)(
            file, vector, count, offset,
        )
    }
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwritev64(
    file: c_int,
    vector: *const iovec,
    count: c_int,
    offset: off64_t,
) -> isize {
    // SAFETY: the caller's vector.
    unsafe {
        if is_array(file) {
            return transfer(file, Op::Write, many(vector, count), offset);
        }
        real!(pwritev64: fn(c_int, *const iovec, c_int, off64_t) -> isize)(
            file, vector, count, offset,
        )
    }
}

/// Flags have no effect on the array.
///
/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn preadv64v2(
    file: c_int,
    vector: *const iovec,
    count: c_int,
    offset: off64_t,
    flags: c_int,
) -> isize {
    // SAFETY: the caller's vector.
    unsafe {
        if is_array(file) {
            return transfer(file, Op::Read, many(vector, count), offset);
        }
        real!(preadv64v2: fn(c_int, *const iovec, c_int, off64_t, c_int) -> isize)(
            file, vector, count, offset, flags,
        )
    }
}

/// Flags have no effect on the array.
///
/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwritev64v2(
    file: c_int,
    vector: *const iovec,
    count: c_int,
    offset: off64_t,
    flags: c_int,
) -> isize {
    // SAFETY: the caller's vector.
    unsafe {
        if is_array(file) {
            return transfer(file, Op::Write, many(vector, count), offset);
        }
        real!(pwritev64v2: fn(c_int, *const iovec, c_int, off64_t, c_int) -> isize)(
            file, vector, count, offset, flags,
        )
    }
}
