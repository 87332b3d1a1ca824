//! The controller's cache: requests that meet it, read-ahead, destaging.

pub(crate) mod destage;
pub(crate) mod memory;
pub(crate) mod read_ahead;
pub(crate) mod readers;
pub(crate) mod requests;
pub(crate) mod streams;
pub(crate) mod view;
