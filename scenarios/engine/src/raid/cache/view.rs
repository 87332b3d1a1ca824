//! An array together with the controller's cache that serves it.

use crate::ids::ArrayId;
use crate::path::IoPath;
use crate::raid::cache::memory::{Caching, ControllerMemory, Memories};
use crate::raid::jobs::Stripes;
use crate::raid::redirect::{Redirect, Redirects};
use crate::raid::volume::{Volume, Volumes};
use raidlab_io::ByteRange;
use raidlab_kernel::Time;
use raidlab_models::{ArrayLine, Found, GroupId, LineKey, SECTOR, Sectors, SpaceId};

/// What a request needs to know when it meets the cache. `S` is the cache, shared or exclusive.
pub(super) struct Cached<'a, S> {
    pub(super) volume: &'a Volume,
    pub(super) caching: &'a Caching,
    pub(super) memory: S,
    /// The SSD cache of the array, if it has one.
    pub(super) redirect: Option<&'a Redirect>,
}

impl Cached<'_, &mut ControllerMemory> {
    /// Marks sectors of a line dirty, in the space where they wait; true if the line was there.
    #[inline]
    pub(super) fn write(&mut self, key: LineKey, sectors: Sectors) -> bool {
        let (space, group) = self.place_of(key);
        self.memory.cache.write(key, sectors, space, group)
    }

    /// The space and the group in which new data of a line wait.
    #[inline]
    pub(super) fn place_of(&self, key: LineKey) -> (SpaceId, GroupId) {
        let group = self.volume.group_at(self.caching.offset(key));
        let space = self
            .caching
            .space_of(&self.memory.cache, self.redirect, group);
        (space, group)
    }
}

impl Memories {
    /// An array and the cache that serves it, to look things up.
    #[inline]
    pub(super) fn cached<'a>(
        &'a self,
        stripes: &'a Stripes,
        array: ArrayId,
    ) -> Option<Cached<'a, &'a ControllerMemory>> {
        let volume = stripes.state().volumes().get(array)?;
        let caching = self.caching(array)?;
        Some(Cached {
            volume,
            caching,
            memory: self.get(caching.controller)?,
            redirect: stripes.state().redirect(array),
        })
    }

    /// An array and the cache that serves it, to change what the cache holds.
    #[inline]
    pub(super) fn cached_mut<'a>(
        &'a mut self,
        stripes: &'a Stripes,
        array: ArrayId,
    ) -> Option<Cached<'a, &'a mut ControllerMemory>> {
        self.cached_beside(
            stripes.state().volumes(),
            stripes.state().redirects(),
            array,
        )
    }

    /// An array and its cache, beside a job.
    #[inline]
    pub(super) fn cached_beside<'a>(
        &'a mut self,
        volumes: &'a Volumes,
        redirects: &'a Redirects,
        array: ArrayId,
    ) -> Option<Cached<'a, &'a mut ControllerMemory>> {
        let volume = volumes.get(array)?;
        let (caching, memory) = self.serving(array)?;
        Some(Cached {
            volume,
            caching,
            memory,
            redirect: redirects.get(array),
        })
    }

    /// Whether a controller's memory has a sector of an array.
    pub(crate) fn has(&mut self, stripes: &Stripes, array: ArrayId, offset: u64) -> bool {
        let Some(cached) = self.cached_mut(stripes, array) else {
            return false;
        };
        let mut lines = cached.caching.lines(ByteRange::new(offset, SECTOR));
        let cache = &mut cached.memory.cache;
        lines.any(|(key, sectors)| cache.find(key, sectors) == Found::All)
    }

    /// Whether it has newer data for a sector.
    pub(crate) fn is_dirty(&self, stripes: &Stripes, array: ArrayId, offset: u64) -> bool {
        self.is_any_dirty(stripes, array, ByteRange::new(offset, SECTOR))
    }

    /// Whether it has newer data for a line of an SSD cache.
    pub(crate) fn is_line_dirty(&self, stripes: &Stripes, array: ArrayId, line: ArrayLine) -> bool {
        let redirect = stripes.state().redirect(array);
        redirect.is_some_and(|redirect| {
            self.is_any_dirty(stripes, array, line.range(redirect.line_bytes()))
        })
    }

    fn is_any_dirty(&self, stripes: &Stripes, array: ArrayId, range: ByteRange) -> bool {
        let Some(cached) = self.cached(stripes, array) else {
            return false;
        };
        let mut lines = cached.caching.lines(range);
        lines.any(|(key, sectors)| cached.memory.cache.is_dirty_at(key, sectors))
    }

    /// What the memory has of a range of an array that its SSD cache has lost becomes dirty there;
    /// true if that is all of it. Beside a request that writes the range and bypasses the memory it
    /// is forgotten: it may be older, and would reach the array after that.
    pub(crate) fn save(
        &mut self,
        stripes: &Stripes,
        path: &mut IoPath,
        array: ArrayId,
        range: ByteRange,
        now: Time,
    ) -> bool {
        let Some(mut cached) = self.cached_mut(stripes, array) else {
            return false;
        };
        let Some(redirect) = cached.redirect else {
            return false;
        };
        let controller = cached.caching.controller;
        let bypassed = redirect.is_bypassed(redirect.line_at(range.offset));
        let mut whole = true;
        for (key, sectors) in cached.caching.lines(range) {
            let clean = cached.memory.cache.clean_at(key, sectors);
            if clean != 0 && !bypassed {
                cached.write(key, clean);
            }
            cached.memory.cache.forget(key, sectors);
            whole &= cached.memory.cache.dirty_at(key, sectors) == sectors;
        }
        cached.memory.sweep = cached.memory.cache.groups().waiting();
        self.arm_flush(path, controller, now);
        whole
    }
}
