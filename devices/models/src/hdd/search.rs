//! Searches in short arrays in which mostly nothing is found.

/// Values that are tested together.
const TOGETHER: usize = 8;

/// The first of the values that passes a test. Eight are tested without a branch between them, so
/// that the processor can compare several at once.
#[inline]
pub fn position<T: Copy>(values: &[T], passes: impl Fn(T) -> bool) -> Option<usize> {
    let none_of = |some: &&[T]| !some.iter().fold(false, |any, &value| any | passes(value));
    let chunks = values.chunks_exact(TOGETHER).take_while(none_of);
    let skipped = TOGETHER * chunks.count();
    let found = values[skipped..].iter().position(|&value| passes(value))?;
    Some(skipped + found)
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn the_first_is_found_wherever_it_is() {
        for length in 0..40 {
            for first in 0..=length {
                let values: Vec<u32> = (0..length).collect();
                let found = position(&values, |value| value >= first);
                let expected = (first < length).then_some(first as usize);
                assert_eq!(found, expected, "{first} of {length}");
            }
        }
    }
}
