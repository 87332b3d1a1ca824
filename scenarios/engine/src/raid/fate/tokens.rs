//! Tokens by sector. Neighbours are written and read together, so they lie together in pages.

use raidlab_models::Table;

/// Sectors of a page.
const PAGE: u64 = 64;

#[derive(Clone, Debug)]
struct Page {
    /// The first of its sectors.
    first: u64,
    /// A bit for each sector that has a token.
    known: u64,
    tokens: [u64; PAGE as usize],
}

/// A token for each of some sectors.
#[derive(Clone, Debug)]
pub(in crate::raid) struct Tokens {
    index: Table,
    pages: Vec<Page>,
}

impl Default for Tokens {
    fn default() -> Tokens {
        Tokens {
            index: Table::with_capacity(4),
            pages: Vec::new(),
        }
    }
}

impl Tokens {
    fn page(&self, sector: u64) -> Option<&Page> {
        let at = self.index.get(sector / PAGE)?;
        Some(&self.pages[at as usize])
    }

    fn page_mut(&mut self, sector: u64) -> &mut Page {
        let number = sector / PAGE;
        let at = self.index.get(number).unwrap_or_else(|| {
            let at = self.pages.len() as u32;
            self.index.insert(number, at);
            self.pages.push(Page {
                first: number * PAGE,
                known: 0,
                tokens: [0; PAGE as usize],
            });
            at
        });
        &mut self.pages[at as usize]
    }

    /// The token of a sector, if it has one.
    pub fn get(&self, sector: u64) -> Option<u64> {
        let (page, nth) = (self.page(sector)?, sector % PAGE);
        (page.known >> nth & 1 == 1).then(|| page.tokens[nth as usize])
    }

    /// Gives a sector a token; its former one comes back.
    pub fn insert(&mut self, sector: u64, token: u64) -> Option<u64> {
        let (page, nth) = (self.page_mut(sector), sector % PAGE);
        let former = (page.known >> nth & 1 == 1).then(|| page.tokens[nth as usize]);
        page.known |= 1 << nth;
        page.tokens[nth as usize] = token;
        former
    }

    /// Gives a sector a token if it has none.
    pub fn insert_new(&mut self, sector: u64, token: u64) {
        if self.get(sector).is_none() {
            self.insert(sector, token);
        }
    }

    /// Takes a sector's token away.
    pub fn remove(&mut self, sector: u64) {
        if self.page(sector).is_some() {
            self.page_mut(sector).known &= !(1 << (sector % PAGE));
        }
    }

    /// Takes all tokens away.
    pub fn clear(&mut self) {
        self.index.clear();
        self.pages.clear();
    }

    /// Every sector that has a token, with it.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.pages.iter().flat_map(|page| {
            let known = (0..PAGE).filter(|nth| page.known >> nth & 1 == 1);
            known.map(|nth| (page.first + nth, page.tokens[nth as usize]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn behaves_as_a_map(
            steps in prop::collection::vec((0u64..200, prop::option::of(0u64..9)), 0..300),
        ) {
            let (mut tokens, mut map) = (Tokens::default(), BTreeMap::new());
            for (sector, token) in steps {
                match token {
                    Some(token) => {
                        prop_assert_eq!(tokens.insert(sector, token), map.insert(sector, token));
                    }
                    None => {
                        tokens.remove(sector);
                        map.remove(&sector);
                    }
                }
                prop_assert_eq!(tokens.get(sector), map.get(&sector).copied());
            }
            prop_assert_eq!(tokens.iter().collect::<BTreeMap<_, _>>(), map);
        }
    }
}
