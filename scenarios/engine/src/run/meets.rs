//! Which loads can meet which components: what is busy beside the path of a load does not hold it
//! up.

use crate::plan::Plan;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The loads that can meet a component: those on some arrays, and some loads alone.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Met {
    /// Arrays whose loads can; left out where those of all arrays can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrays: Option<Arc<[String]>>,
    /// Loads that can; left out where all can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loads: Option<Arc<[String]>>,
}

impl Met {
    /// One load alone.
    pub(crate) fn by(load: &str) -> Met {
        Met {
            loads: Some([load.to_owned()].into()),
            ..Met::default()
        }
    }
}

/// Who can meet each component of a plan, by its index there.
#[derive(Debug)]
pub(crate) struct Meets {
    pub(crate) threads: Vec<Met>,
    pub(crate) controllers: Vec<Met>,
    pub(crate) arrays: Vec<Met>,
    pub(crate) links: Vec<Met>,
    pub(crate) drives: Vec<Met>,
}

/// Arrays that loads are on, by what they meet.
type Users = Vec<BTreeSet<usize>>;

impl Meets {
    pub(crate) fn of(plan: &Plan) -> Meets {
        let mut controllers: Users = vec![BTreeSet::new(); plan.controllers.len()];
        let mut links: Users = vec![BTreeSet::new(); plan.links.len()];
        let mut drives: Users = vec![BTreeSet::new(); plan.drives.len()];
        let arrays: Users = (0..plan.arrays.len())
            .map(|at| users_of(plan, at))
            .collect();
        for (array, users) in plan.arrays.iter().zip(&arrays) {
            if let Some(at) = array.controller {
                controllers[at as usize].extend(users);
                if let Some(link) = plan.controllers[at as usize].link {
                    links[link as usize].extend(users);
                }
            }
            for &drive in array.drives.iter().chain(&array.spares) {
                drives[drive as usize].extend(users);
                for &link in &plan.drives[drive as usize].path {
                    links[link as usize].extend(users);
                }
            }
        }
        let named = |users: Users| -> Vec<Met> {
            let all = arrays.iter().flatten().collect::<BTreeSet<_>>().len();
            let users = users.iter();
            users.map(|found| on_arrays(plan, found, all)).collect()
        };
        let mut links = named(links);
        for (link, met) in (0..).zip(&mut links) {
            let is_theirs = |at: usize| {
                let client = plan.workloads[at].client.as_ref();
                client.is_some_and(|client| client.link == link || client.target == link)
            };
            let loads: Vec<usize> = (0..plan.workloads.len())
                .filter(|&at| is_theirs(at))
                .collect();
            if !loads.is_empty() {
                *met = by_loads(plan, &loads);
            }
        }
        let threads = plan
            .workloads
            .iter()
            .enumerate()
            .flat_map(|(load, workload)| {
                std::iter::repeat_n(by_loads(plan, &[load]), workload.threads as usize)
            });
        Meets {
            threads: threads.collect(),
            controllers: named(controllers),
            links,
            drives: named(drives),
            arrays: named(arrays.clone()),
        }
    }
}

/// Arrays whose SSD cache an array is, or itself.
fn users_of(plan: &Plan, array: usize) -> BTreeSet<usize> {
    let cached = plan.arrays.iter().enumerate().filter(|(_, other)| {
        let tier = other.tier.as_ref();
        tier.is_some_and(|tier| tier.array as usize == array)
    });
    let cached: BTreeSet<usize> = cached.map(|(at, _)| at).collect();
    match cached.is_empty() {
        true => BTreeSet::from([array]),
        false => cached,
    }
}

/// The loads on these arrays, of `all` that loads can be on.
fn on_arrays(plan: &Plan, arrays: &BTreeSet<usize>, all: usize) -> Met {
    let names = arrays.iter().map(|&at| plan.arrays[at].name.clone());
    Met {
        arrays: (arrays.len() < all).then(|| names.collect()),
        loads: None,
    }
}

/// These loads.
fn by_loads(plan: &Plan, loads: &[usize]) -> Met {
    let names = loads.iter().map(|&at| plan.workloads[at].name.clone());
    Met {
        arrays: None,
        loads: (loads.len() < plan.workloads.len()).then(|| names.collect()),
    }
}
