//! A thread takes its completions one at a time.
//!
//! A thread that has taken a completion goes straight on to the next I/O, as a load generator does
//! that reaps one and issues one. What completes meanwhile waits. A load of the plan says at once what
//! comes next (`count_and_issue`); an outside caller is asked when its I/O is back. If further
//! completions were taken until then, the next I/O would be issued behind them.
//!
//! Where cores have run queues loads wait, too: between a completion and the next I/O an interrupt may
//! come, and a time slice may end.

use crate::path::Path;
use crate::path::agenda::Up;
use crate::path::loads::Loads;
use crate::state::event::LoadsEvent;
use crate::state::owner::Owner;
use raidlab_io::IoId;
use raidlab_kernel::Time;

impl Loads {
    /// Whether a completion has to wait until its thread has done what it is at.
    #[inline]
    pub(crate) fn waits_for_thread(&self, path: &Path, id: IoId, thread: u32, now: Time) -> bool {
        (self.host.has_run_queues() || matches!(path.ios[id].owner.into(), Owner::Outside(_)))
            && (!self.signalled[thread as usize].is_empty() || self.host.free_at(thread) > now)
    }

    /// The thread looks for further completions when it has done what it is at.
    pub(crate) fn look_again(&mut self, path: &mut Path, thread: u32, now: Time) {
        let looks = &mut self.reaping[thread as usize];
        if !*looks {
            *looks = true;
            let at = self.host.free_at(thread).max(now);
            path.calendar.push(at, LoadsEvent::Reap(thread).into());
        }
    }

    /// A thread has done what it was at, unless it has been given more since.
    pub(crate) fn reap_due(&mut self, path: &mut Path, thread: u32, now: Time) -> Up {
        self.reaping[thread as usize] = false;
        if self.signalled[thread as usize].is_empty() {
            return Up::None;
        }
        if self.host.free_at(thread) > now {
            self.look_again(path, thread, now);
        } else if self.host.may_begin(thread, now) {
            return self.work_off(path, thread, now);
        } else {
            self.look_for_core(path, now);
        }
        Up::None
    }
}
