//! What the caches of a run have done: the controllers' memories and the SSD caches.

use crate::raid::cache::memory::Counts;
use crate::raid::redirect::Redirect;
use crate::run::system::System;
use crate::ssd_cache::SsdCacheCounts;
use schemars::JsonSchema;
use serde::Serialize;

/// One cache's part of the result; counts are of the recorded time.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CacheReport {
    /// The controller, or the array whose SSD cache it is.
    pub name: String,
    /// memory or SSD cache.
    pub kind: &'static str,
    /// Reads that came to it.
    pub reads: u64,
    /// Reads that it served whole.
    pub read_hits: u64,
    /// Writes that came to it.
    pub writes: u64,
    /// Of a memory: writes whose lines were dirty already. Of an SSD cache: writes that it took whole.
    pub write_hits: u64,
    /// Of a memory: stripes (or units) written to drives. Of an SSD cache: lines written back.
    pub destages: u64,
    /// Of a memory: those among them that were full stripes.
    pub full_stripes: u64,
    /// Of a memory: bytes that were read ahead. Of an SSD cache: bytes copied to it.
    pub filled_bytes: u64,
    /// Of a memory: by how much what waits in it for the drives has grown.
    pub gathered_bytes: i64,
    /// Of a memory: what waits in it for the drives at the end.
    pub waiting_bytes: u64,
    /// Of an SSD cache at the end of the run: share of its lines that hold data, and dirty ones.
    pub used_share: Option<f64>,
    /// See `used_share`.
    pub dirty_share: Option<f64>,
}

/// What had been counted when recording began.
#[derive(Debug, Default)]
pub(crate) struct CountsBefore {
    memories: Vec<(Counts, u64)>,
    redirects: Vec<SsdCacheCounts>,
}

impl CountsBefore {
    pub(crate) fn take(system: &System) -> CountsBefore {
        CountsBefore {
            memories: memories(system).map(|(_, now)| now).collect(),
            redirects: redirects(system).map(|(_, _, counts)| counts).collect(),
        }
    }

    /// What has been done since.
    pub(crate) fn reports(&self, system: &System) -> Vec<CacheReport> {
        let memory =
            |((name, (now, dirty)), (then, before)): (Memory, &(Counts, u64))| CacheReport {
                name,
                gathered_bytes: dirty as i64 - *before as i64,
                waiting_bytes: dirty,
                kind: "memory",
                reads: now.reads - then.reads,
                read_hits: now.read_hits - then.read_hits,
                writes: now.writes - then.writes,
                write_hits: now.write_hits - then.write_hits,
                destages: now.destages - then.destages,
                full_stripes: now.full_stripes - then.full_stripes,
                filled_bytes: now.filled_bytes - then.filled_bytes,
                used_share: None,
                dirty_share: None,
            };
        let mut reports: Vec<CacheReport> =
            memories(system).zip(&self.memories).map(memory).collect();
        for ((name, redirect, now), then) in redirects(system).zip(&self.redirects) {
            let slots = f64::from(redirect.map().slots().max(1));
            reports.push(CacheReport {
                name,
                kind: "tier",
                reads: now.reads - then.reads,
                read_hits: now.read_hits - then.read_hits,
                writes: now.writes - then.writes,
                write_hits: now.write_hits - then.write_hits,
                destages: now.cleaned - then.cleaned,
                full_stripes: 0,
                gathered_bytes: 0,
                waiting_bytes: 0,
                filled_bytes: (now.promoted - then.promoted) * redirect.line_bytes(),
                used_share: Some(f64::from(redirect.map().len()) / slots),
                dirty_share: Some(f64::from(redirect.map().dirty()) / slots),
            });
        }
        reports
    }
}

/// A controller's name, what its memory has counted, and the bytes that wait in it.
type Memory = (String, (Counts, u64));

fn memories(system: &System) -> impl Iterator<Item = Memory> + '_ {
    let memories = system
        .layers
        .path
        .controllers
        .iter()
        .zip(system.layers.raid.memories().iter());
    memories.filter_map(|(controller, memory)| {
        let memory = memory?;
        let now = (memory.counts(), memory.dirty_bytes());
        Some((controller.name.clone(), now))
    })
}

/// The name of an array with an SSD cache, where the cache's lines lie, and what it has counted.
fn redirects(system: &System) -> impl Iterator<Item = (String, &Redirect, SsdCacheCounts)> + '_ {
    let (redirects, policies) = (
        system.layers.raid.stripes().state().redirects().iter(),
        &system.layers.ssd_caches.of_array,
    );
    let arrays = system.layers.path.arrays.iter();
    arrays
        .zip(redirects.zip(policies))
        .filter_map(|(array, (redirect, policy))| {
            let counts = policy.as_ref()?.counts;
            Some((array.name.clone(), redirect?, counts))
        })
}
