//! An array together with the controller's cache that serves it.

use crate::raid::Stripes;
use crate::raid::cache::memory::{Caching, ControllerMemory};
use crate::raid::redirect::Redirect;
use crate::raid::volume::Volume;
use raidlab_models::Sectors;

/// What a request needs to know when it meets the cache. `S` is the cache, shared or exclusive.
pub(crate) struct Cached<'a, S> {
    pub volume: &'a Volume,
    pub caching: &'a Caching,
    pub memory: S,
    /// The SSD cache of the array, if it has one.
    pub redirect: Option<&'a Redirect>,
}

impl<'a> Cached<'a, &'a mut ControllerMemory> {
    /// The view of an array out of the owner's tables; none if no cache serves it.
    #[inline]
    pub fn of(
        array: u32,
        volumes: &'a [Option<Volume>],
        memories: &'a mut [Option<ControllerMemory>],
        redirects: &'a [Option<Redirect>],
    ) -> Option<Cached<'a, &'a mut ControllerMemory>> {
        let volume = volumes[array as usize].as_ref()?;
        let caching = volume.caching.as_ref()?;
        Some(Cached {
            volume,
            caching,
            memory: memories[caching.controller as usize].as_mut()?,
            redirect: redirects[array as usize].as_ref(),
        })
    }

    /// Marks sectors of a line dirty, in the space where they wait; true if the line was there.
    #[inline]
    pub fn write(&mut self, key: u64, sectors: Sectors) -> bool {
        let (space, group) = self.place_of(key);
        self.memory.cache.write(key, sectors, space, group)
    }

    /// The space and the group in which new data of a line wait.
    #[inline]
    pub fn place_of(&self, key: u64) -> (u32, u64) {
        let group = self.volume.group_at(self.caching.offset(key));
        let space = self
            .caching
            .space_of(&self.memory.cache, self.redirect, group);
        (space, group)
    }
}

impl Stripes {
    /// An array and the cache that serves it, to look things up.
    #[inline]
    pub fn cached(&self, array: u32) -> Option<Cached<'_, &ControllerMemory>> {
        let volume = self.volumes[array as usize].as_ref()?;
        let caching = volume.caching.as_ref()?;
        Some(Cached {
            volume,
            caching,
            memory: self.memories[caching.controller as usize].as_ref()?,
            redirect: self.redirects[array as usize].as_ref(),
        })
    }

    /// An array and the cache that serves it, to change what the cache holds.
    #[inline]
    pub fn cached_mut(&mut self, array: u32) -> Option<Cached<'_, &mut ControllerMemory>> {
        Cached::of(array, &self.volumes, &mut self.memories, &self.redirects)
    }
}
