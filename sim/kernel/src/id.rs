//! Numbers of one kind of thing, and tables that are read by such numbers alone.
//!
//! A number of a drive is no number of an array: the compiler refuses one where the other is
//! asked for. An id is its number, of 32 bits where nothing else is said, so it costs nothing.

use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A number that says which one of its kind.
pub trait Id: Copy + Eq {
    /// None of them: a number that no table reaches.
    const NONE: Self;
    /// The one at a place in a table.
    fn at(index: usize) -> Self;
    /// Its place in a table.
    fn index(self) -> usize;
    /// It, unless it is none.
    #[inline]
    fn some(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

/// Declares kinds of numbers: for each a type that is its number, and no other one's. One that has
/// not 32 bits says how many: `Lbn: u64`.
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $(: $bits:ident)?;)*) => {
        $($crate::id!($(#[$doc])* $name $($bits)?);)*
    };
}

/// Declares one kind of numbers, for `ids`.
#[doc(hidden)]
#[macro_export]
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $crate::id!($(#[$doc])* $name u32);
    };
    ($(#[$doc:meta])* $name:ident $bits:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name($bits);

        #[allow(dead_code, reason = "not every kind is asked everything")]
        impl $name {
            /// None of them: a number that no table reaches.
            pub const NONE: $name = $name($bits::MAX);

            /// The one of this number.
            #[inline]
            pub const fn new(number: $bits) -> $name {
                $name(number)
            }

            /// Its number, from 0 on.
            #[inline]
            pub const fn number(self) -> $bits {
                self.0
            }

            /// Its place in a table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The one that is `further` numbers on.
            #[inline]
            pub const fn plus(self, further: $bits) -> $name {
                $name(self.0 + further)
            }

            /// How many numbers it is further than another one.
            #[inline]
            pub const fn since(self, first: $name) -> $bits {
                self.0 - first.0
            }

            /// How many numbers two are apart.
            #[inline]
            pub const fn distance(self, other: $name) -> $bits {
                self.0.abs_diff(other.0)
            }

            /// It, unless it is none.
            #[inline]
            pub fn some(self) -> Option<$name> {
                $crate::Id::some(self)
            }

            /// The first ones, as many as `count`.
            #[inline]
            pub fn first(count: $bits) -> impl DoubleEndedIterator<Item = $name> + Clone {
                $name(0).row(count)
            }

            /// `count` of them, this one first.
            #[inline]
            pub fn row(
                self,
                count: $bits,
            ) -> impl DoubleEndedIterator<Item = $name> + Clone {
                (self.0..self.0 + count).map($name)
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(to)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                $crate::serde::Deserialize::deserialize(from).map($name)
            }
        }

        impl $crate::Id for $name {
            const NONE: $name = $name::NONE;

            #[inline]
            fn at(index: usize) -> $name {
                $name(index as $bits)
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// All things of a kind, which are there from the beginning to the end, by their number.
///
/// It is saved as the list that it is.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Table<I, T> {
    things: Vec<T>,
    kind: PhantomData<I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Table<I, T> {
        Vec::new().into()
    }
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(things: Vec<T>) -> Table<I, T> {
        Table {
            things,
            kind: PhantomData,
        }
    }
}

impl<I, T> FromIterator<T> for Table<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(things: It) -> Table<I, T> {
        Vec::from_iter(things).into()
    }
}

impl<I: Id, T> Table<I, T> {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.things.len()
    }

    /// True if there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }

    /// All numbers, in ascending order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.things.len()).map(I::at)
    }

    /// Adds one, and gives its number.
    pub fn push(&mut self, thing: T) -> I {
        self.things.push(thing);
        I::at(self.things.len() - 1)
    }

    /// Takes all away; their memory stays.
    pub fn clear(&mut self) {
        self.things.clear();
    }

    /// The one of a number, if there is one.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.things.get(id.index())
    }

    /// As `get`, mutable.
    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.things.get_mut(id.index())
    }

    /// All, in the order of their numbers.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.things.iter()
    }

    /// As `iter`, mutable.
    #[inline]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.things.iter_mut()
    }

    /// All with their numbers.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        let all = self.things.iter().enumerate();
        all.map(|(index, thing)| (I::at(index), thing))
    }

    /// The number of the first one that passes a test.
    pub fn position(&self, passes: impl FnMut(&T) -> bool) -> Option<I> {
        self.things.iter().position(passes).map(I::at)
    }

    /// `count` of them, the one of this number first.
    #[inline]
    pub fn row(&self, first: I, count: u32) -> &[T] {
        &self.things[first.index()..][..count as usize]
    }

    /// As `row`, mutable.
    #[inline]
    pub fn row_mut(&mut self, first: I, count: u32) -> &mut [T] {
        &mut self.things[first.index()..][..count as usize]
    }

    /// All without their numbers.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.things
    }

    /// As `as_slice`, mutable.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.things
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.things[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.things[id.index()]
    }
}

impl<'a, I, T> IntoIterator for &'a Table<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> std::slice::Iter<'a, T> {
        self.things.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut Table<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;
    fn into_iter(self) -> std::slice::IterMut<'a, T> {
        self.things.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    ids! {
        /// A shelf.
        Shelf;
        /// A place on it.
        Place: u16;
    }

    #[test]
    fn a_table_is_read_by_its_own_numbers() {
        let mut shelves: Table<Shelf, &str> = ["low", "high"].into_iter().collect();
        let third = shelves.push("roof");
        assert_eq!((third, third.number()), (Shelf::new(2), 2));
        shelves[third] = "attic";
        let all: Vec<_> = shelves.entries().collect();
        assert_eq!(all[2], (third, &"attic"));
        assert_eq!(shelves.get(Shelf::NONE), None);
        assert_eq!(Shelf::NONE.some(), None);
        assert_eq!(
            shelves.position(|name| *name == "high"),
            Shelf::new(1).some()
        );
        assert_eq!(shelves.ids().last(), Some(third));
        assert_eq!((size_of::<Shelf>(), size_of::<Place>()), (4, 2));
        assert_eq!(Place::at(7).distance(Place::new(9)), 2u16);
        assert_eq!(format!("{third}"), "2");
        let two: Vec<_> = Shelf::new(1).row(2).collect();
        assert_eq!(two, [Shelf::new(1), Shelf::new(0).plus(2)]);
        assert_eq!(third.since(two[0]), 1);
        shelves.row_mut(two[0], 2)[1] = "loft";
        assert_eq!(shelves.row(two[0], 2), ["high", "loft"]);
    }
}
