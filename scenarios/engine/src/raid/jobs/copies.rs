//! Jobs that copy lines between an array and its SSD cache, and what the SSD cache has lost.

use crate::ids::{ArrayId, JobId};
use crate::layout::Extent;
use crate::path::Path;
use crate::raid::jobs::table::Phase;
use crate::raid::jobs::{CopyTo, Stripes, Work};

impl Stripes {
    /// The lines of an SSD cache that are just being written back, as they are, from the controller's
    /// memory; other copies are given up.
    pub(crate) fn lines_in_memory(&mut self, path: &mut Path, array: ArrayId) -> Vec<u32> {
        let Some(redirect) = self.redirects.get(array) else {
            return Vec::new();
        };
        let mut saved = Vec::new();
        for index in self.jobs.ids().collect::<Vec<_>>() {
            let job = &mut self.jobs[index];
            let Work::Copy(copy) = job.work else {
                continue;
            };
            if copy.to == CopyTo::Array && job.array == array {
                if job.phase == Phase::Finish && redirect.map().is_leaving(copy.slot) {
                    saved.push(copy.slot);
                } else {
                    job.flags.refused = true;
                }
            }
        }
        // What they had begun to write is older than what is lost.
        for index in self.jobs.ids().collect::<Vec<_>>() {
            if let Some(copy) = self.jobs.copy_above(&path.ios, index) {
                let copy = &self.jobs[copy];
                let older = copy.work.is_write_back() && copy.flags.refused;
                self.jobs[index].flags.older |= older;
            }
        }
        saved
    }

    /// Whether the SSD cache that a job copies to or from has failed.
    pub(crate) fn has_lost_ssd_cache(&self, copy: JobId) -> bool {
        let redirect = self.redirects.get(self.jobs[copy].array);
        redirect.is_some_and(|redirect| redirect.has_failed())
    }

    /// Nothing is copied to or from an array that is offline, nor while writes that an outage cut
    /// off are done again.
    pub(crate) fn may_copy(&self, path: &Path, array: ArrayId) -> bool {
        !path.can_fail || !self.volume(array).is_offline() && self.preserved.is_empty()
    }

    /// A job has written new data to an array: what was lost there is so no more.
    pub(crate) fn made_good(&mut self, index: JobId) {
        let job = &self.jobs[index];
        let redirect = self.redirects.get_mut(job.array);
        let Some(redirect) = redirect.filter(|redirect| redirect.has_lost() && !job.flags.older)
        else {
            return;
        };
        let Some(volume) = self.volumes.get(job.array) else {
            return;
        };
        let writes = job.work.is_write() && !volume.is_offline();
        let lost = &self.jobs.repair(index).lost;
        let readable = |e: &&Extent| volume.keeps(job.stripe, **e, lost);
        for extent in job.extents.iter().filter(|e| writes && readable(e)) {
            let unit = volume.geometry().offset(job.stripe, extent.column);
            redirect.made_good(unit + u64::from(extent.start), unit + u64::from(extent.end));
        }
    }
}
