//! What must hold at the end of every run. A breach is a bug of the simulator, and is reported
//! as one.

use crate::run::single::stations;
use crate::run::system::System;
use raidlab_kernel::{Io, Time};

/// Every breach found, in words; empty if all is well. All events up to `until` have been handled,
/// and none beyond.
pub fn check(system: &System, until: Time) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut must = |holds: bool, what: String| {
        if !holds {
            breaches.push(what);
        }
    };
    let tally = &system.layers.loads.tally;
    must(
        tally.wrong_bytes == 0,
        format!(
            "{} requests moved wrong numbers of bytes",
            tally.wrong_bytes
        ),
    );
    for workload in &system.layers.loads.workloads {
        let meter = &workload.meter;
        let parts = u128::from(meter.parts.total().0);
        let latencies = meter.reads.sum() + meter.writes.sum();
        must(
            parts == latencies,
            format!(
                "{}: accounted parts add up to {parts} ns, latencies to {latencies} ns",
                workload.name
            ),
        );
    }
    let under_way: Vec<&Io> = system.requests_under_way().collect();
    must(
        tally.issued == tally.completed + tally.abandoned + under_way.len() as u64,
        format!(
            "{} requests issued, {} completed, {} under way",
            tally.issued,
            tally.completed,
            under_way.len()
        ),
    );
    // Little's law, exactly: the integral of the number inside is the sum of the stays.
    let stays: u128 = under_way
        .iter()
        .map(|io| u128::from(until.since(io.entered).0))
        .sum();
    let inside = system.layers.path.inside.area(until);
    must(
        inside == u128::from(tally.stay.0) + stays,
        format!(
            "Little's law: integral of I/Os inside {inside} ns, sum of stays {} ns",
            u128::from(tally.stay.0) + stays
        ),
    );
    for station in stations(system, until) {
        let most = u128::from(until.0) * station.servers as u128;
        must(
            u128::from(station.busy.0) <= most,
            format!(
                "{} {} was busy for {} ns of {most}",
                station.kind, station.name, station.busy.0
            ),
        );
    }
    for store in system.layers.raid.stores.iter().flatten() {
        if let Err(what) = store.cache.check() {
            must(false, what);
        }
    }
    for tier in system.layers.raid.tiers.iter().flatten() {
        if let Err(what) = tier.tier.check() {
            must(false, what);
        }
    }
    for member in system
        .layers
        .raid
        .volumes
        .iter()
        .flatten()
        .flat_map(|v| &v.members)
    {
        let unreadable = &system.layers.path.drives[member.drive as usize]
            .health
            .unreadable;
        must(
            member.unreadable.is_within(unreadable),
            format!(
                "drive {}: sectors that can be read are known as unreadable",
                system.layers.path.drives[member.drive as usize].name
            ),
        );
    }
    for drive in &system.layers.path.drives {
        if let Err(what) = drive.device.check() {
            must(false, format!("drive {}: {what}", drive.name));
        }
    }
    breaches
}
