//! What a job's records say of who stands above it.

use crate::ids::JobId;
use crate::path::IoPath;
use crate::raid::jobs::Work;
use crate::raid::jobs::table::Jobs;
use crate::state::owner::job_of;
use raidlab_io::{Io, IoId, Ios, Op};

impl Jobs {
    /// Who has the data of a write below `parent`: itself, or the request whose write to the SSD cache it is.
    pub(super) fn writer(&self, ios: &Ios, parent: IoId) -> IoId {
        let above = (parent != Io::NONE).then(|| job_of(&ios[parent])).flatten();
        match above.map(|above| self[above].work) {
            Some(Work::Bypass) => ios[parent].parent,
            _ => parent,
        }
    }

    /// The job that copies a line, if what a job writes belongs to one.
    pub(super) fn copy_above(&self, ios: &Ios, index: JobId) -> Option<JobId> {
        let parent = ios[self[index].io].parent;
        let above = (parent != Io::NONE).then(|| job_of(&ios[parent]))??;
        matches!(self[above].work, Work::Copy(_)).then_some(above)
    }

    /// Whether the data of a command below `parent` come from its controller's memory or end there.
    /// True of three kinds: commands of the controller's own work, for which no request waits; the
    /// copies that it writes of a request's data; and data that it has computed and writes back.
    #[inline]
    pub(super) fn is_from_memory(&self, path: &IoPath, parent: IoId, op: Op) -> bool {
        if parent == Io::NONE {
            return false;
        }
        let parent = &path.ios[parent];
        let Some(job) = job_of(parent) else {
            return false;
        };
        if parent.parent == Io::NONE {
            return true;
        }
        // Reads below a request need no look at the job.
        if op != Op::Write {
            return false;
        }
        let job = &self[job];
        matches!(job.work, Work::Recover) || path.arrays[job.array].mirrors
    }
}
