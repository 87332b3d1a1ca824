//! Tokens by sector: the content of a drive, of a cache, of what a request has read.

use crate::integrity::pages::{PAGE, Pages, has, marked};
use crate::layout::Token;

#[derive(Clone, Debug)]
struct Page {
    /// A bit for each sector that has a token.
    present: u64,
    tokens: [Token; PAGE as usize],
}

impl Default for Page {
    fn default() -> Page {
        Page {
            present: 0,
            tokens: [Token::UNWRITTEN; PAGE as usize],
        }
    }
}

impl Page {
    fn token(&self, sector: u64) -> Option<Token> {
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
    pub fn get(&self, sector: u64) -> Option<Token> {
        self.0.get(sector)?.token(sector)
    }

    /// Gives a sector a token and returns its former one.
    pub fn insert(&mut self, sector: u64, token: Token) -> Option<Token> {
        let (page, nth) = (self.0.at(sector), sector % PAGE);
        let former = page.token(sector);
        page.present |= 1 << nth;
        page.tokens[nth as usize] = token;
        former
    }

    /// Gives a sector a token if it has none.
    pub fn insert_new(&mut self, sector: u64, token: Token) {
        if self.get(sector).is_none() {
            self.insert(sector, token);
        }
    }

    /// Removes a sector's token.
    pub fn remove(&mut self, sector: u64) {
        if self.0.get(sector).is_some() {
            self.0.at(sector).present &= !(1 << (sector % PAGE));
        }
    }

    /// Removes all tokens.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Every sector that has a token, with it.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Token)> + '_ {
        self.0.iter().flat_map(|(first, page)| {
            let present = marked(first, page.present);
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
            steps in prop::collection::vec((0u64..200, prop::option::of((0u64..9).prop_map(Token::new))), 0..300),
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
