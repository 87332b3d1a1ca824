//! A thread takes its completions one at a time.
//!
//! A thread that has taken a completion goes straight on to the next I/O, as a load generator does
//! that reaps one and issues one. What completes meanwhile waits. A load of the plan says at once what
//! comes next (`count_and_issue`); an outside caller is asked when its I/O is back. If further
//! completions were taken until then, the next I/O would be issued behind them.
//!
//! Where cores have run queues loads wait, too: between a completion and the next I/O an interrupt may
//! come, and a time slice may end.

use crate::ids::ThreadId;
use crate::path::IoPath;
use crate::path::agenda::Up;
use crate::path::loads::Loads;
use raidlab_kernel::Time;

impl Loads {
    /// A thread has done what it was at, unless it has been given more since.
    pub(crate) fn reap_due(&mut self, path: &mut IoPath, thread: ThreadId, now: Time) -> Up {
        match self.threads.look(path, thread, now) {
            true => self.work_off(path, thread, now),
            false => Up::None,
        }
    }
}
