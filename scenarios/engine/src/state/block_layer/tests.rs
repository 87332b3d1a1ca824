use crate::state::block_layer::*;
use raidlab_io::{ByteRange, Io, Ios, Op};

struct Bench {
    ios: Ios,
    layer: BlockLayer,
}

impl Bench {
    fn new(scheduler: Scheduler, requests: u32, threads: usize) -> Bench {
        let params = BlockLayerParams {
            scheduler,
            requests,
        };
        Bench {
            ios: Ios::with_capacity(64),
            layer: BlockLayer::new(params, threads, 64),
        }
    }

    fn push(&mut self, op: Op, offset: u64, thread: u32, now: u64) {
        let id = self.ios.claim();
        self.ios[id] = Io::new(op, ByteRange::new(offset, 4096), Time(now));
        self.layer
            .push(&mut self.ios, id, ThreadId::new(thread), Time(now));
    }

    fn pop(&mut self, now: u64) -> Option<u64> {
        let id = self.layer.pop(&mut self.ios, Time(now))?;
        Some(self.ios[id].offset)
    }

    fn all(&mut self, now: u64) -> Vec<u64> {
        std::iter::from_fn(|| self.pop(now)).collect()
    }
}

#[test]
fn none_keeps_the_order_of_arrival() {
    let mut bench = Bench::new(Scheduler::None, 0, 1);
    for offset in [5, 1, 9] {
        bench.push(Op::Read, offset, 0, 0);
    }
    assert_eq!(bench.all(0), [5, 1, 9]);
}

#[test]
fn deadline_starts_at_the_oldest_and_goes_up() {
    let mut bench = Bench::new(Scheduler::Deadline, 0, 1);
    for offset in [50, 10, 90, 70] {
        bench.push(Op::Read, offset, 0, 0);
    }
    assert_eq!(bench.all(0), [50, 70, 90, 10]);
}

#[test]
fn deadline_passes_by_what_arrives_before_the_settled_next() {
    let mut bench = Bench::new(Scheduler::Deadline, 0, 1);
    for offset in [10, 50, 90] {
        bench.push(Op::Read, offset, 0, 0);
    }
    assert_eq!(bench.pop(0), Some(10));
    bench.push(Op::Read, 20, 0, 0);
    assert_eq!(bench.all(0), [50, 90, 20]);
}

#[test]
fn deadline_jumps_between_batches_to_a_read_that_has_waited_half_a_second() {
    let mut bench = Bench::new(Scheduler::Deadline, 0, 1);
    bench.push(Op::Read, 50, 0, 0);
    bench.push(Op::Read, 10, 0, 0);
    for offset in 60..100 {
        bench.push(Op::Read, offset, 0, 0);
    }
    assert_eq!(bench.pop(0), Some(50));
    for offset in 60..75 {
        assert_eq!(bench.pop(0), Some(offset));
    }
    for offset in 75..91 {
        assert_eq!(bench.pop(500_000_000), Some(offset));
    }
    assert_eq!(bench.pop(500_000_001), Some(10));
}

#[test]
fn deadline_serves_two_batches_of_reads_before_writes() {
    let mut bench = Bench::new(Scheduler::Deadline, 0, 1);
    for n in 0..40 {
        bench.push(Op::Read, n, 0, 0);
    }
    bench.push(Op::Write, 1000, 0, 0);
    let order = bench.all(0);
    assert_eq!(order.iter().position(|&offset| offset == 1000), Some(32));
}

/// Of four places two threads have taken three. Who takes the last one may go on to six.
#[test]
fn who_takes_the_last_place_goes_on_for_half_as_many_more() {
    let mut bench = Bench::new(Scheduler::None, 4, 3);
    for (offset, thread) in [(0, 0), (1, 0), (10, 1), (11, 1), (12, 1), (13, 1), (14, 1)] {
        bench.push(Op::Read, offset, thread, 0);
    }
    bench.push(Op::Read, 20, 2, 0);
    assert_eq!(bench.all(0), [0, 1, 10, 11, 12, 13]);
}

/// Six are inside: thread 1 sleeps, then 2. At the third return a place is free of four, and the
/// thread that has slept longest sends all that it holds back.
#[test]
fn a_thread_that_has_slept_sends_what_it_holds_back() {
    let mut bench = Bench::new(Scheduler::None, 4, 3);
    for offset in 0..6 {
        bench.push(Op::Read, offset, 0, 0);
    }
    for (offset, thread) in [(10, 1), (20, 2), (11, 1), (12, 1)] {
        bench.push(Op::Read, offset, thread, 0);
    }
    assert_eq!(bench.all(0).len(), 6);
    for _ in 0..2 {
        bench
            .layer
            .returned(&mut bench.ios, ThreadId::new(0), Time(1));
    }
    assert!(bench.all(1).is_empty());
    bench
        .layer
        .returned(&mut bench.ios, ThreadId::new(0), Time(2));
    assert_eq!(bench.all(2), [10, 11, 12]);
    // Six again, so three must return before the next one is woken.
    for _ in 0..3 {
        bench
            .layer
            .returned(&mut bench.ios, ThreadId::new(0), Time(3));
    }
    assert_eq!(bench.all(3), [20]);
}

/// 20 ms after the last place was taken its taker waits like anyone else.
#[test]
fn going_on_ends_with_its_time() {
    let mut bench = Bench::new(Scheduler::None, 4, 1);
    for offset in 0..4 {
        bench.push(Op::Read, offset, 0, 0);
    }
    bench.push(Op::Read, 4, 0, 19_999_999);
    bench.push(Op::Read, 5, 0, 20_000_000);
    assert_eq!(bench.all(20_000_000), [0, 1, 2, 3, 4]);
}

#[test]
fn a_deep_thread_has_four_and_then_eight_requests_at_the_drive_while_another_waits() {
    let mut bench = Bench::new(Scheduler::Fair, 0, 2);
    for n in 0..16 {
        bench.push(Op::Read, n, 0, 0);
        bench.push(Op::Read, 100 + n, 1, 0);
    }
    assert_eq!(bench.all(0), [0, 1, 2, 3]);
    bench
        .layer
        .returned(&mut bench.ios, ThreadId::new(0), Time(1));
    assert_eq!(bench.all(1), [4, 5, 6, 7, 8]);
    // Its time slice is over after 100 ms; the other one starts with four.
    assert_eq!(bench.all(100_000_000), [100, 101, 102, 103]);
}

#[test]
fn who_comes_while_few_wait_overtakes_who_came_while_many_did() {
    let mut bench = Bench::new(Scheduler::Fair, 0, 3);
    for thread in 0..3 {
        bench.push(Op::Read, 100 * u64::from(thread), thread, 0);
    }
    // Keys 0, 80 and 160 ms.
    assert_eq!(bench.pop(0), Some(0));
    assert_eq!(bench.pop(0), Some(100));
    // One waits: 1 + 80 ms, before 160.
    bench.push(Op::Read, 1, 0, 1_000_000);
    assert_eq!(bench.all(1_000_000), [1, 200]);
}

#[test]
fn shallow_threads_fill_the_drive_and_a_lone_one_has_no_limit() {
    let mut bench = Bench::new(Scheduler::Fair, 0, 3);
    for thread in 0..3 {
        for n in 0..4 {
            bench.push(Op::Read, u64::from(thread) * 100 + n, thread, 0);
        }
    }
    assert_eq!(bench.all(0).len(), 12);
    for n in 0..20 {
        bench.push(Op::Read, n, 1, 0);
    }
    assert_eq!(bench.all(0).len(), 20);
}
