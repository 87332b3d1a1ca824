//! What a run is made of: drives, arrays, controllers, loads and their records.

pub(crate) mod arrivals;
pub(crate) mod backlog;
pub(crate) mod block_layer;
pub(crate) mod drive;
pub(crate) mod event;
pub(crate) mod flushes;
pub(crate) mod latency_map;
pub(crate) mod load;
pub(crate) mod log;
pub(crate) mod measure;
pub(crate) mod owner;
pub(crate) mod read_balance;
pub(crate) mod records;
pub(crate) mod shares;
pub(crate) mod slowest;
pub(crate) mod traced;
