//! Which loads can meet which components: what is busy beside the path of a load does not hold it
//! up.

use crate::plan::Plan;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
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
        let arrays = users(plan);
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
        let all = arrays.iter().flatten().collect::<BTreeSet<_>>().len();
        let named = |users: &Users| -> Vec<Met> {
            let of_each = users.iter().map(|found| on_arrays(plan, found, all));
            of_each.collect()
        };
        let mut links = named(&links);
        for (link, loads) in of_clients(plan) {
            links[link as usize] = by_loads(plan, &loads);
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
            controllers: named(&controllers),
            links,
            drives: named(&drives),
            arrays: named(&arrays),
        }
    }
}

/// By array: those whose SSD cache it is, or itself.
fn users(plan: &Plan) -> Users {
    let mut users: Users = vec![BTreeSet::new(); plan.arrays.len()];
    for (at, array) in plan.arrays.iter().enumerate() {
        if let Some(tier) = &array.tier {
            users[tier.array as usize].insert(at);
        }
    }
    for (at, users) in users.iter_mut().enumerate() {
        if users.is_empty() {
            users.insert(at);
        }
    }
    users
}

/// The loads of clients, by the links that their data cross: the client's and the target's.
fn of_clients(plan: &Plan) -> BTreeMap<u32, Vec<usize>> {
    let mut found: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, load) in plan.workloads.iter().enumerate() {
        if let Some(client) = &load.client {
            for link in BTreeSet::from([client.link, client.target]) {
                found.entry(link).or_default().push(at);
            }
        }
    }
    found
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
