//! Non-operational power states of a drive: what its commands wait for, and what it draws.

use super::*;
use crate::idle_states::IdleStateParams;
use crate::power::FlashPowerParams;

const MS: u64 = 1_000_000;

/// It sleeps after 10 ms at 1 W instead of 5 W; 2 ms to enter, 3 ms to leave.
fn sleeping() -> SsdParams {
    let mut params = params();
    sleeps(&mut params, Nanos(2 * MS));
    params
}

/// Gives a drive a state of 1 W that it enters after 10 ms, in so long, and leaves in 3 ms.
pub(super) fn sleeps(params: &mut SsdParams, entry_ns: Nanos) {
    params.power = Some(FlashPowerParams {
        idle_w: 5.0,
        read_nj: 0.0,
        program_slc_nj: None,
        program_nj: 0.0,
        erase_nj: 0.0,
        byte_nj: 0.0,
        limit_w: None,
    });
    params.idle_states = vec![IdleStateParams {
        after_ns: Nanos(10 * MS),
        entry_ns,
        exit_ns: Nanos(3 * MS),
        watts: 1.0,
    }];
}

#[test]
fn the_first_read_after_a_rest_pays_the_exit_and_the_next_does_not() {
    let mut ssd = drive(&sleeping());
    let mut bench = Bench::new();
    // A read takes 57 us, as without states.
    let awake = bench.submit(&mut ssd, Op::Read, 0, 4096, 9 * MS);
    assert_eq!(bench.end(awake), 9 * MS + 57_000);
    // Idle since 9.057 ms: entered at 21.057 ms, left from 40 ms to 43 ms. What comes meanwhile
    // waits for its end, and for a core of 2 us behind the first one.
    let first = bench.submit(&mut ssd, Op::Read, 0, 4096, 40 * MS);
    let second = bench.submit(&mut ssd, Op::Read, 16384, 4096, 41 * MS);
    assert_eq!(bench.end(first), 43 * MS + 57_000);
    assert_eq!(bench.end(second), 43 * MS + 59_000);
    let later = bench.submit(&mut ssd, Op::Read, 0, 4096, 50 * MS);
    assert_eq!(bench.end(later), 50 * MS + 57_000);
    assert!(ssd.figures().contains(&("idle_state_exits", 1.0)));
}

#[test]
fn a_state_draws_its_own_watts_from_its_entry_to_its_exit() {
    let mut ssd = drive(&sleeping());
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Read, 0, 4096, 40 * MS);
    // Idle from the start: in the state from 12 ms to 40 ms, 4 W less.
    let joules = ssd.joules(Time(45 * MS)).unwrap();
    assert!(
        (joules - (5.0 * 0.045 - 4.0 * 0.028)).abs() < 1e-12,
        "{joules}"
    );
}

#[test]
fn states_need_the_power_of_the_idle_drive_and_a_map_of_its_own() {
    let faults = |params: &SsdParams| Ssd::<Direct>::new(params, 1, "drive").unwrap_err();
    let mut without = sleeping();
    without.power = None;
    assert!(faults(&without)[0].to_string().contains("idle_states"));
    let mut on_host = sleeping();
    on_host.sector_mapping = true;
    assert!(faults(&on_host)[0].to_string().contains("idle_states"));
}
