//! What makes writes durable: calls of loads behind their writes, file systems and bitmaps.

use raidlab_kernel::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

/// A load's calls behind its writes: `fsync`, `fdatasync`, or a file that is opened so.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct SyncPlan {
    /// Writes of a place between two calls, at least 1.
    pub every: u32,
    /// True if the file's times must be durable, too: `fsync`, `O_SYNC`.
    pub times: bool,
    /// True if each write lengthens the file or has blocks allocated.
    pub allocates: bool,
    /// True if each write carries FUA: the drives answer once the medium has its data.
    #[serde(default)]
    pub fua: bool,
}

/// How a file system makes its metadata durable.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum JournalKind {
    /// Blocks of the transaction, a flush, a commit block that is flushed.
    Ext4,
    /// A flush, one log record that is flushed.
    Xfs,
}

/// How a drive takes flushes.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum FlushCommand {
    /// As any other command.
    #[default]
    Queued,
    /// While no other command is at the drive.
    Alone,
    /// Not at all: the operating system knows of no volatile cache.
    Dropped,
}

/// A file system on an array.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct FileSystemPlan {
    /// Its journal.
    pub journal: JournalKind,
    /// First byte of the journal on the array.
    pub start_bytes: u64,
    /// Bytes of the journal.
    pub bytes: u64,
    /// Granularity of the times of files: a write changes them once in that time.
    pub tick_ns: Nanos,
    /// True if it flushes the drives' caches, as far as the drives have volatile ones.
    pub flushes: bool,
    /// True if the drives take FUA: the commit block carries it, and no flush follows.
    #[serde(default)]
    pub fua: bool,
    /// True if the commit block goes out beside the blocks of the transaction.
    pub async_commit: bool,
    /// CPU time of a thread that wakes up when its transaction is durable.
    pub wake_ns: Nanos,
}

/// The write-intent bitmap of an array in the host.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BitmapPlan {
    /// Bytes that a bit stands for: of each member where there is parity, else of the array.
    pub chunk_bytes: u64,
    /// True if members have volatile caches, which are flushed before and behind each update.
    pub flushes: bool,
    /// True if the members take FUA: an update carries it, and no flush follows.
    #[serde(default)]
    pub fua: bool,
}
