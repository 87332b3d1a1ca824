//! What of the host stands between loads and arrays.

pub(crate) mod durability;
pub(crate) mod page_cache;
