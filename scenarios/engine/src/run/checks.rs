//! What must hold at the end of every run. A breach is a bug of the simulator, and is reported
//! as one.

use crate::run::stations::stations;
use crate::run::system::System;
use raidlab_io::Io;
use raidlab_kernel::Time;

/// Breaches found, in words.
struct Breaches(Vec<String>);

impl Breaches {
    fn must(&mut self, holds: bool, what: String) {
        if !holds {
            self.0.push(what);
        }
    }
}

/// Every breach found, in words; empty if all is well. All events up to `until` have been handled,
/// and none beyond.
pub fn check(system: &System, until: Time) -> Vec<String> {
    let mut breaches = Breaches(Vec::new());
    check_accounts(system, until, &mut breaches);
    check_components(system, until, &mut breaches);
    check_sectors(system, &mut breaches);
    for drive in &system.layers.path.drives {
        if let Err(what) = drive.device.check() {
            breaches.must(false, format!("drive {}: {what}", drive.name));
        }
    }
    breaches.0
}

/// Requests, their times and their bytes.
fn check_accounts(system: &System, until: Time, breaches: &mut Breaches) {
    let tally = system.layers.loads.records().tally();
    breaches.must(
        tally.wrong_bytes == 0,
        format!(
            "{} requests moved wrong numbers of bytes",
            tally.wrong_bytes
        ),
    );
    for workload in system.layers.loads.records().workloads() {
        let meter = &workload.meter;
        let parts = u128::from(meter.parts.total().0);
        let latencies = meter.reads.sum() + meter.writes.sum();
        breaches.must(
            parts == latencies,
            format!(
                "{}: accounted parts add up to {parts} ns, latencies to {latencies} ns",
                workload.name
            ),
        );
    }
    let in_flight: Vec<&Io> = system.requests_in_flight().collect();
    breaches.must(
        tally.issued == tally.completed + tally.abandoned + in_flight.len() as u64,
        format!(
            "{} requests issued, {} completed, {} abandoned, {} in flight",
            tally.issued,
            tally.completed,
            tally.abandoned,
            in_flight.len()
        ),
    );
    // Little's law, exactly: the integral of the number inside is the sum of the stays.
    let stays: u128 = in_flight
        .iter()
        .map(|io| u128::from(until.since(io.entered).0))
        .sum();
    let inside = system.layers.path.inside.area(until);
    breaches.must(
        inside == u128::from(tally.stay.0) + stays,
        format!(
            "Little's law: integral of I/Os inside {inside} ns, sum of stays {} ns",
            u128::from(tally.stay.0) + stays
        ),
    );
}

/// No component works longer than there is time, and what caches count fits.
fn check_components(system: &System, until: Time, breaches: &mut Breaches) {
    for station in stations(system, until) {
        let most = u128::from(until.0) * station.servers as u128;
        breaches.must(
            u128::from(station.busy.0) <= most,
            format!(
                "{} {} was busy for {} ns of {most}",
                station.kind, station.name, station.busy.0
            ),
        );
    }
    for memory in system.layers.raid.memories().iter().flatten() {
        if let Err(what) = memory.check() {
            breaches.must(false, what);
        }
    }
    for redirect in system
        .layers
        .raid
        .stripes()
        .state()
        .redirects()
        .iter()
        .flatten()
    {
        if let Err(what) = redirect.map().check() {
            breaches.must(false, what);
        }
    }
}

/// What arrays know of unreadable sectors is so.
fn check_sectors(system: &System, breaches: &mut Breaches) {
    let drives = &system.layers.path.drives;
    let volumes = system
        .layers
        .raid
        .stripes()
        .state()
        .volumes()
        .iter()
        .flatten();
    for member in volumes.flat_map(|volume| volume.places().all()) {
        let drive = &drives[member.drive()];
        breaches.must(
            member.unreadable().is_within(&drive.health.unreadable),
            format!(
                "drive {}: sectors that can be read are known as unreadable",
                drive.name
            ),
        );
    }
}
