//! Tokens by sector.

use crate::integrity::pages::{PAGE, Pages, has, sectors};

#[derive(Clone, Debug)]
struct Page {
    /// A bit for each sector that has a token.
    present: u64,
    tokens: [u64; PAGE as usize],
}

impl Default for Page {
    fn default() -> Page {
        Page {
            present: 0,
            tokens: [0; PAGE as usize],
        }
    }
}

impl Page {
    fn token(&self, sector: u64) -> Option<u64> {
        has(self.present, sector).then(|| self.tokens[(sector % PAGE) as usize])
    }
}

/// A token for each of some sectors.
#[derive(Clone, Debug)]
pub(crate) struct Tokens(Pages<Page>);

impl Default for Tokens {
    fn default() -> Tokens {
        Tokens(Pages::with_capacity(4))
    }
}

impl Tokens {
    /// The token of a sector, if it has one.
    pub fn get(&self, sector: u64) -> Option<u64> {
        self.0.get(sector)?.token(sector)
    }

    /// Gives a sector a token; its former one comes back.
    pub fn insert(&mut self, sector: u64, token: u64) -> Option<u64> {
        let (page, nth) = (self.0.at(sector), sector % PAGE);
        let former = page.token(sector);
        page.present |= 1 << nth;
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
        if self.0.get(sector).is_some() {
            self.0.at(sector).present &= !(1 << (sector % PAGE));
        }
    }

    /// Takes all tokens away.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Every sector that has a token, with it.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().flat_map(|(first, page)| {
            let present = sectors(first, page.present);
            present.map(|sector| (sector, page.tokens[(sector % PAGE) as usize]))
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
