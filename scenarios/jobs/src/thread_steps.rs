//! The steps of a thread, in the order of fio's own loop.
//!
//! Source: the behaviour of fio 3.33; its manual on `iodepth`, `thinktime`, `latency_target`.

use crate::generator::{Next, Request};
use crate::pace::Pace;
use crate::plan::Direction;
use crate::record::{Record, direction};
use crate::thread::{Port, Search, Step, Thread, Wait, sync_slot};
use raidlab_io::Op;
use raidlab_kernel::{Nanos, Time};

/// Decisions in a row without a change before a greater depth is tried.
const STABLE: u32 = 3;

const FLUSH: Request = Request {
    op: Op::Flush,
    offset: 0,
    bytes: 0,
};

impl Thread {
    /// Goes on at `now` until it has to wait.
    ///
    /// # Errors
    /// An I/O does not fit the array.
    pub fn go_on(&mut self, now: Time, port: &mut impl Port) -> Result<Wait, String> {
        loop {
            let wait = match self.step {
                Step::Begin => {
                    self.begin(now);
                    None
                }
                Step::Next => self.next(now, port)?,
                Step::Reap { full } => self.reap_some(full, now, port)?,
                Step::Syncing { since } => self.wait_for_sync(since, now),
                Step::Quiesce { pause } => self.quiesce(pause, now, port)?,
                Step::Think { until } => {
                    if now >= until {
                        self.step = Step::Next;
                    }
                    (now < until).then_some(Wait::Until(until))
                }
                Step::Drain => self.drain(now, port)?,
                Step::LastSync => {
                    // fio counts it to no flush.
                    if self.sync_done {
                        self.end_pass(now);
                    }
                    (!self.sync_done).then_some(Wait::Sync)
                }
                Step::Over => Some(Wait::Over),
            };
            if let Some(wait) = wait {
                return Ok(wait);
            }
        }
    }

    fn begin(&mut self, now: Time) {
        (self.began, self.epoch, self.pass_began) = (now, now, now);
        self.thought_since = now;
        self.record = Record::new(&self.plan, now);
        self.pace = Pace::new(&self.plan, now);
        self.loops -= 1;
        self.begin_search(now);
        self.step = Step::Next;
    }

    fn next(&mut self, now: Time, port: &mut impl Port) -> Result<Option<Wait>, String> {
        if self.ramping && now.since(self.epoch) >= self.plan.extent.ramp_ns {
            self.end_ramp(now);
        }
        if self.is_done(now) {
            self.step = Step::Drain;
            return Ok(None);
        }
        if self.is_full() {
            self.step = Step::Reap { full: true };
            return Ok(None);
        }
        if let Some(read) = self.read_back() {
            self.hold(read, now);
            return self.issued(now, port);
        }
        if self.verifying {
            self.step = Step::Drain;
            return Ok(None);
        }
        match self.draw(now) {
            Next::Nothing => self.step = Step::Drain,
            Next::Later(direction) => {
                let mut until = self.pace.ready(direction, now);
                // The runtime begins when the ramp is over, which a pause does not put off.
                let extent = &self.plan.extent;
                let part = if self.ramping {
                    extent.ramp_ns
                } else {
                    extent.runtime_ns
                };
                if part > Nanos::ZERO {
                    until = until.min(self.epoch + part);
                }
                // fio waits for what is in flight before it sleeps.
                let pause = until.since(now);
                self.step = Step::Quiesce { pause };
            }
            Next::Sync if self.plan.syncs.queued => {
                self.hold(FLUSH, now);
                return self.issued(now, port);
            }
            Next::Sync => {
                self.commit(now, port)?;
                // It takes a place of the depth, as far as fio counts.
                self.record.submitted(1, self.depth + 1);
                self.record.reaped(1);
                self.sync(port)?;
                self.step = Step::Syncing { since: now };
            }
            Next::Io(request) => {
                let side = direction(request.op);
                self.issued_bytes[side] += request.bytes;
                self.issued_ios[side] += 1;
                self.hold(request, now);
                return self.issued(now, port);
            }
        }
        Ok(None)
    }

    /// The read of what was written that comes next, if one is due.
    #[inline]
    fn read_back(&mut self) -> Option<Request> {
        let history = self.history.as_mut()?;
        if self.verifying {
            history.next()
        } else {
            history.due()
        }
    }

    /// There is another I/O: it is handed in once its batch is full.
    #[inline]
    fn issued(&mut self, now: Time, port: &mut impl Port) -> Result<Option<Wait>, String> {
        if self.queued.len() >= self.plan.depth.batch as usize {
            self.commit(now, port)?;
        }
        let polls = self.plan.depth.complete_min == 0 && self.plan.depth.complete_max == 0;
        let full = self.is_full();
        if full || polls {
            self.step = Step::Reap { full };
        } else {
            self.after_reap(now);
        }
        Ok(None)
    }

    /// What comes next; of a mixture the direction that its cap lets come.
    fn draw(&mut self, now: Time) -> Next {
        let (pace, mixed) = (&self.pace, self.plan.direction == Direction::ReadWrite);
        self.generator.next_of(|drawn| {
            let ready = pace.ready(drawn, now);
            if ready <= now {
                return Ok(drawn);
            }
            let other = 1 - drawn.min(1);
            if !mixed {
                return Err(drawn);
            }
            match pace.ready(other, now) {
                at if at <= now => Ok(other),
                at if at < ready => Err(other),
                _ => Err(drawn),
            }
        })
    }

    /// True if no further I/O comes in this pass.
    fn is_done(&mut self, now: Time) -> bool {
        let extent = &self.plan.extent;
        if extent.runtime_ns > Nanos::ZERO
            && !self.ramping
            && now.since(self.epoch) >= extent.runtime_ns
        {
            self.stopped = true;
        }
        if self.stopped {
            return true;
        }
        if self.verifying || extent.time_based && self.history.is_none() {
            return false;
        }
        let limit = if extent.io_size > 0 {
            extent.io_size
        } else {
            extent.size
        };
        let both = if self.plan.direction == Direction::TrimWrite {
            2
        } else {
            1
        };
        let bytes: u64 = self.issued_bytes.iter().sum();
        let many = self
            .most_ios()
            .is_some_and(|most| self.ios() >= both * most);
        let writes = matches!(self.plan.direction, Direction::Write | Direction::ReadWrite);
        let read_back = match self.plan.verify {
            Some(verify) if verify.backlog > 0 => extent.size,
            _ => 0,
        };
        let of_pass = if writes && self.plan.random && !self.plan.random_map {
            extent.size.max(extent.io_size)
        } else {
            extent.size
        };
        if self.pass_bytes >= both * of_pass + read_back {
            return true;
        }
        !extent.time_based && (many || bytes >= both * limit.saturating_mul(extent.loops.max(1)))
    }

    /// I/Os so far, those that are read back among them.
    fn ios(&self) -> u64 {
        self.done_ios + self.depth as u64
    }

    /// I/Os of all passes, where `number_ios` says so.
    fn most_ios(&self) -> Option<u64> {
        let extent = &self.plan.extent;
        let most = extent.number_ios.saturating_mul(extent.loops.max(1));
        (most > 0).then_some(most)
    }

    fn is_full(&self) -> bool {
        let searched = self.plan.latency_target.is_some();
        self.free.is_empty() || searched && self.depth >= self.search.depth as usize
    }

    fn reap_some(
        &mut self,
        full: bool,
        now: Time,
        port: &mut impl Port,
    ) -> Result<Option<Wait>, String> {
        self.commit(now, port)?;
        let depth = &self.plan.depth;
        let wanted = (depth.complete_min as usize).min(self.depth).max(1);
        if self.depth > 0 && self.back.len() < wanted {
            return Ok(Some(Wait::Completions(wanted)));
        }
        let (most, low) = (depth.complete_max as usize, depth.low as usize);
        self.reap(most.max(wanted), now);
        if !(full && self.depth > low) {
            self.after_reap(now);
        }
        Ok(None)
    }

    /// Behind a completion, or an I/O for which there was a place: a pause, or the next one.
    fn after_reap(&mut self, now: Time) {
        self.step = Step::Next;
        if self.verifying {
            return;
        }
        if !self.ramping && self.plan.latency_target.is_some() {
            self.decide(now);
        }
        let think = self.plan.think.map_or(Nanos::ZERO, |think| think.pause_ns);
        if self.wants_to_think(now) {
            self.step = Step::Quiesce { pause: think };
        } else if self.search.settles {
            let pause = Nanos::ZERO;
            self.step = Step::Quiesce { pause };
        }
    }

    fn wants_to_think(&mut self, now: Time) -> bool {
        let Some(think) = self.plan.think else {
            return false;
        };
        let by_time = think.after_ns > Nanos::ZERO
            && now.since(self.thought_since) >= think.after_ns + think.pause_ns;
        let count = if think.completed {
            self.done_ios
        } else {
            self.issued_ios.iter().sum()
        };
        let by_count = think.blocks > 0 && count >= self.thought_at + think.blocks;
        if by_time || by_count {
            self.thought_at = count;
            self.thought_since = now;
        }
        by_time || by_count
    }

    fn quiesce(
        &mut self,
        pause: Nanos,
        now: Time,
        port: &mut impl Port,
    ) -> Result<Option<Wait>, String> {
        self.commit(now, port)?;
        if !self.back.is_empty() {
            self.reap(1, now);
        }
        if !self.back.is_empty() {
            return Ok(None);
        }
        if self.in_flight > 0 {
            return Ok(Some(Wait::Completions(1)));
        }
        if std::mem::take(&mut self.search.settles) {
            self.new_window(now);
        }
        self.step = Step::Think { until: now + pause };
        Ok(None)
    }

    fn sync(&mut self, port: &mut impl Port) -> Result<(), String> {
        self.sync_done = false;
        port.submit(FLUSH, sync_slot(&self.plan))
    }

    fn wait_for_sync(&mut self, since: Time, now: Time) -> Option<Wait> {
        if !self.sync_done {
            return Some(Wait::Sync);
        }
        self.record.synced(now.since(since));
        self.step = Step::Next;
        None
    }

    /// Waits for all I/Os at once, as fio does.
    fn drain(&mut self, now: Time, port: &mut impl Port) -> Result<Option<Wait>, String> {
        self.commit(now, port)?;
        if self.back.len() < self.depth {
            return Ok(Some(Wait::Completions(self.depth)));
        }
        if self.depth > 0 {
            self.reap(self.depth, now);
        }
        if self.verifying {
            self.end_verify(now);
            return Ok(None);
        }
        let writes = !matches!(self.plan.direction, Direction::Read);
        if self.plan.syncs.at_end && writes && self.error == 0 {
            self.sync(port)?;
            self.step = Step::LastSync;
        } else {
            self.end_pass(now);
        }
        Ok(None)
    }

    /// A pass over the files is done; what it wrote is read back.
    fn end_pass(&mut self, now: Time) {
        let reads = match self.plan.verify {
            Some(verify) => verify.backlog > 0 || self.plan.direction == Direction::ReadWrite,
            None => true,
        };
        self.record.ran([reads, true, true], self.pass_began, now);
        if self.stopped || self.error != 0 || self.pass_done == 0 {
            self.end(now);
        } else if self.history.is_some() {
            self.pass_began = now;
            self.verifying = true;
            self.step = Step::Next;
        } else {
            self.begin_pass(now);
        }
    }

    /// All that a pass wrote was read back.
    fn end_verify(&mut self, now: Time) {
        self.record.ran([true, false, false], self.pass_began, now);
        self.verifying = false;
        if let Some(history) = &mut self.history {
            history.clear();
        }
        if self.stopped || self.error != 0 {
            self.end(now);
        } else {
            self.begin_pass(now);
        }
    }

    fn end(&mut self, now: Time) {
        self.ended = now;
        self.step = Step::Over;
    }

    /// Another pass, if there is to be one.
    fn begin_pass(&mut self, now: Time) {
        if !self.runs_again() {
            self.end(now);
            return;
        }
        (self.pass_bytes, self.pass_done, self.pass_began) = (0, 0, now);
        self.generator.reopen();
        self.begin_search(now);
        self.step = Step::Next;
    }

    /// True if another pass over the files follows.
    fn runs_again(&mut self) -> bool {
        let extent = &self.plan.extent;
        if extent.time_based {
            return true;
        }
        if self.loops > 0 {
            self.loops -= 1;
            return true;
        }
        let most = self.plan.sizes.iter().map(|sizes| sizes.max).max();
        let limit = match &self.history {
            // What was read back leaves the files as if they were not done.
            Some(_) if extent.io_size == 0 => extent.size,
            _ => extent.io_size,
        };
        let left = limit.saturating_sub(self.done_bytes);
        let more = self.most_ios().is_none_or(|most| self.ios() < most);
        more && left >= most.unwrap_or(1)
    }

    fn end_ramp(&mut self, now: Time) {
        self.ramping = false;
        (self.epoch, self.pass_began) = (now, now);
        self.record = Record::new(&self.plan, now);
        (self.issued_bytes, self.issued_ios) = ([0; 3], [0; 3]);
        (self.done_bytes, self.done_ios, self.thought_at) = (0, 0, 0);
        self.generator.forget_counts();
        self.pace = Pace::new(&self.plan, now);
        self.begin_search(now);
    }

    fn begin_search(&mut self, now: Time) {
        if self.plan.latency_target.is_some() && !self.search.last_run {
            self.search = Search {
                depth: 1,
                low: 1,
                high: self.plan.depth.depth,
                since: now,
                ios: self.done_ios,
                ..Search::default()
            };
        }
    }

    /// A latency beside the limit.
    pub(crate) fn judge(&mut self, took: Nanos, now: Time) {
        let Some(limit) = self.plan.latency_target else {
            return;
        };
        if self.ramping || took <= limit.target_ns {
            return;
        }
        if limit.percentile >= 100.0 {
            self.go_down(now);
        } else {
            self.search.failed += 1;
        }
    }

    fn decide(&mut self, now: Time) {
        let Some(limit) = self.plan.latency_target else {
            return;
        };
        if now.since(self.search.since) < limit.window_ns {
            return;
        }
        let ios = self.done_ios - self.search.ios;
        if ios == 0 {
            return;
        }
        let good = ios.saturating_sub(self.search.failed) as f64 / ios as f64 * 100.0;
        if good >= limit.percentile {
            self.go_up(limit.runs_on, now);
        } else {
            self.go_down(now);
        }
    }

    fn go_down(&mut self, now: Time) {
        let search = &mut self.search;
        if search.depth == 1 {
            self.stopped = true;
            return;
        }
        search.high = search.depth;
        if search.depth == search.low {
            search.low -= 1;
        }
        search.depth = (search.depth + search.low) / 2;
        search.stable = 0;
        search.settles = true;
        self.new_window(now);
    }

    fn go_up(&mut self, runs_on: bool, now: Time) {
        let before = self.search.depth;
        let most = self.plan.depth.depth;
        let search = &mut self.search;
        search.low = search.depth;
        if search.depth + 1 == search.high {
            search.stable += 1;
            if search.stable >= STABLE {
                (search.high, search.stable) = (search.high + 1, 0);
            }
        }
        search.depth = if search.high == most {
            2 * search.depth
        } else {
            (search.depth + search.high) / 2
        };
        search.depth = search.depth.min(most);
        if !runs_on && search.depth == before {
            if search.last_run {
                self.stopped = true;
            } else {
                search.last_run = true;
                self.record = Record::new(&self.plan, now);
                (self.epoch, self.pass_began) = (now, now);
            }
        }
        self.new_window(now);
    }

    fn new_window(&mut self, now: Time) {
        self.search.since = now;
        self.search.ios = self.done_ios;
        self.search.failed = 0;
    }
}
