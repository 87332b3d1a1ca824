//! fio's threads as plain data: what each waits for, and who runs next.
//!
//! One thread runs at a time, until it waits: for a time, for I/Os, for another thread. Of several
//! that can go on, the earliest does, then the one created first. So a run's course does not
//! depend on how the operating system schedules threads.

/// No time at all.
pub const NEVER: u64 = u64::MAX;

/// What a thread waits for, besides a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Nothing else: it sleeps.
    Asleep,
    /// The end of any thread: fio's main thread, which looks for those that ended.
    AnyEnd,
    /// This number of completions at a place of the engine.
    Completions {
        /// The place.
        place: u32,
        /// How many.
        wanted: usize,
    },
    /// The one I/O at a place of the engine that it waits for alone.
    One {
        /// The place.
        place: u32,
    },
    /// That another thread releases or signals what is at this address, or ends.
    Key(usize),
    /// That something is written to a pipe.
    Pipe,
}

impl Waits {
    /// True of a thread that wakes only to look whether others did something.
    fn only_looks(self) -> bool {
        matches!(self, Waits::AnyEnd | Waits::Pipe)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    /// It can go on since this time.
    Ready(u64),
    Waiting {
        on: Waits,
        wake: u64,
    },
    Ended,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    state: State,
    /// The C library's number of it; 0 until that is known.
    id: usize,
    /// True if it was woken, false if its time had come.
    woken: bool,
    /// Waits in the order in which they began.
    order: u64,
}

/// All threads of fio, in the order in which they were created.
#[derive(Debug, Default)]
pub struct Threads {
    list: Vec<Thread>,
    waits: u64,
    ends: u64,
}

impl Threads {
    /// Adds a thread that can run from `now` on; its index.
    pub fn add(&mut self, now: u64) -> usize {
        self.list.push(Thread {
            state: State::Ready(now),
            id: 0,
            woken: false,
            order: 0,
        });
        self.list.len() - 1
    }

    /// Says which number the C library gave a thread.
    pub fn name(&mut self, thread: usize, id: usize) {
        self.list[thread].id = id;
    }

    /// The thread that the C library gave a number last, if it has not ended.
    pub fn alive(&self, id: usize) -> Option<usize> {
        let thread = self.list.iter().rposition(|thread| thread.id == id)?;
        (self.list[thread].state != State::Ended).then_some(thread)
    }

    /// True if this thread runs.
    pub fn runs(&self, thread: usize) -> bool {
        self.list[thread].state == State::Running
    }

    /// True if any thread runs.
    pub fn someone_runs(&self) -> bool {
        self.list
            .iter()
            .any(|thread| thread.state == State::Running)
    }

    /// Lets a thread run.
    pub fn run(&mut self, thread: usize) {
        self.list[thread].state = State::Running;
    }

    /// The running thread waits, at most until `wake`.
    pub fn wait(&mut self, thread: usize, on: Waits, wake: u64) {
        self.waits += 1;
        self.list[thread] = Thread {
            state: State::Waiting { on, wake },
            woken: false,
            order: self.waits,
            ..self.list[thread]
        };
    }

    /// True if the thread's last wait ended because it was woken, not because its time had come.
    pub fn was_woken(&self, thread: usize) -> bool {
        self.list[thread].woken
    }

    /// How many threads have ended.
    pub fn ends(&self) -> u64 {
        self.ends
    }

    /// The running thread ends; who waits for that can go on.
    pub fn end(&mut self, thread: usize, now: u64) {
        self.list[thread].state = State::Ended;
        self.ends += 1;
        let id = self.list[thread].id;
        self.wake(now, usize::MAX, |on| {
            on == Waits::AnyEnd || on == Waits::Key(id)
        });
    }

    /// Up to `most` threads that wait for an address can go on, those that waited longest first.
    pub fn release(&mut self, key: usize, most: usize, now: u64) {
        self.wake(now, most, |on| on == Waits::Key(key));
    }

    /// Threads that wait for a pipe look at it.
    pub fn pipe_written(&mut self, now: u64) {
        self.wake(now, usize::MAX, |on| on == Waits::Pipe);
    }

    fn wake(&mut self, now: u64, most: usize, which: impl Fn(Waits) -> bool) {
        let mut found: Vec<usize> = (0..self.list.len())
            .filter(
                |&thread| matches!(self.list[thread].state, State::Waiting { on, .. } if which(on)),
            )
            .collect();
        found.sort_by_key(|&thread| self.list[thread].order);
        for thread in found.into_iter().take(most) {
            self.list[thread].state = State::Ready(now);
            self.list[thread].woken = true;
        }
    }

    /// The thread that can go on first and when, `NEVER` if none can by itself.
    ///
    /// Args: `at` says when a wait for I/Os is over, if it is.
    pub fn first(&self, at: impl Fn(Waits) -> Option<u64>) -> Option<First> {
        let able = self.list.iter().enumerate().filter_map(|(index, thread)| {
            let (time, on) = match thread.state {
                State::Ready(since) => (since, None),
                State::Waiting { on, wake } => {
                    (at(on).map_or(wake, |over| over.min(wake)), Some(on))
                }
                State::Running | State::Ended => return None,
            };
            Some((time, index, on))
        });
        let (time, thread, on) = able.min_by_key(|&(time, index, _)| (time, index))?;
        Some(First {
            thread,
            time,
            polls: on.is_some_and(Waits::only_looks),
        })
    }

    /// True if a thread other than those that only look can go on by itself.
    pub fn anyone_has_plans(&self, at: impl Fn(Waits) -> Option<u64>) -> bool {
        self.list.iter().any(|thread| match thread.state {
            State::Running | State::Ready(_) => true,
            State::Ended => false,
            State::Waiting { on, wake } => at(on).is_some() || (wake != NEVER && !on.only_looks()),
        })
    }
}

/// Who goes on first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    /// The thread.
    pub thread: usize,
    /// When it can; `NEVER` if only another thread or an I/O can let it.
    pub time: u64,
    /// True if it only looks whether others did something.
    pub polls: bool,
}
