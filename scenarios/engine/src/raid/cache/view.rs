//! An array together with the controller's cache that serves it.

use crate::raid::Raid;
use crate::raid::cache::store::{Caching, Store};
use crate::raid::redirect::Redirect;
use crate::raid::volume::Volume;
use raidlab_models::Sectors;

/// What a request needs to know when it meets the cache. `S` is the cache, shared or exclusive.
pub(crate) struct Cached<'a, S> {
    pub volume: &'a Volume,
    pub caching: &'a Caching,
    pub store: S,
    /// The SSD cache of the array, if it has one.
    pub tier: Option<&'a Redirect>,
}

impl<'a> Cached<'a, &'a mut Store> {
    /// The view of an array out of the owner's tables; none if no cache serves it.
    #[inline]
    pub fn of(
        array: u32,
        volumes: &'a [Option<Volume>],
        stores: &'a mut [Option<Store>],
        tiers: &'a [Option<Redirect>],
    ) -> Option<Cached<'a, &'a mut Store>> {
        let volume = volumes[array as usize].as_ref()?;
        let caching = volume.caching.as_ref()?;
        Some(Cached {
            volume,
            caching,
            store: stores[caching.controller as usize].as_mut()?,
            tier: tiers[array as usize].as_ref(),
        })
    }

    /// Marks sectors of a line dirty, in the space where they wait; true if the line was there.
    #[inline]
    pub fn write(&mut self, key: u64, sectors: Sectors) -> bool {
        let (space, group) = self.place_of(key);
        self.store.cache.write(key, sectors, space, group)
    }

    /// The space and the group in which new data of a line wait.
    #[inline]
    pub fn place_of(&self, key: u64) -> (u32, u64) {
        let group = self.volume.group_at(self.caching.offset(key));
        let space = self.caching.space_of(&self.store.cache, self.tier, group);
        (space, group)
    }
}

impl Raid {
    /// An array and the cache that serves it, to look things up.
    #[inline]
    pub fn cached(&self, array: u32) -> Option<Cached<'_, &Store>> {
        let volume = self.volumes[array as usize].as_ref()?;
        let caching = volume.caching.as_ref()?;
        Some(Cached {
            volume,
            caching,
            store: self.stores[caching.controller as usize].as_ref()?,
            tier: self.tiers[array as usize].as_ref(),
        })
    }

    /// An array and the cache that serves it, to change what the cache holds.
    #[inline]
    pub fn cached_mut(&mut self, array: u32) -> Option<Cached<'_, &mut Store>> {
        Cached::of(array, &self.volumes, &mut self.stores, &self.tiers)
    }
}
