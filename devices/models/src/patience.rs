//! Work before a run's first event, which the caller can stop.
//!
//! The past of a drive is simulated while the drive is built, far below who knows of Ctrl-C. So
//! this thread keeps whom to ask, and a stop unwinds to there; nobody in between takes part in it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

type Ask = Box<dyn FnMut() -> bool>;

thread_local! {
    static ASKED: RefCell<Option<Ask>> = const { RefCell::new(None) };
}

/// What unwinds: not a fault, so no message belongs to it.
struct Stopped;

/// What `work` gives; none if `should_continue` said no where the work asked. It is asked often.
pub fn patiently<T>(should_continue: Ask, work: impl FnOnce() -> T) -> Option<T> {
    let outer = ASKED.replace(Some(should_continue));
    let done = catch_unwind(AssertUnwindSafe(work));
    ASKED.set(outer);
    match done {
        Ok(result) => Some(result),
        Err(stopped) if stopped.is::<Stopped>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

/// Asks whether to go on, if anybody is there to be asked.
pub(crate) fn ask() {
    let Some(mut should_continue) = ASKED.take() else {
        return;
    };
    let go_on = should_continue();
    ASKED.set(Some(should_continue));
    if !go_on {
        resume_unwind(Box::new(Stopped));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_steps() -> u32 {
        (0..3).inspect(|_| ask()).count() as u32
    }

    #[test]
    fn work_is_stopped_where_it_asks_and_others_are_left_alone() {
        assert_eq!(three_steps(), 3);
        let mut asked = 0;
        let second_is_too_many = Box::new(move || {
            asked += 1;
            asked < 2
        });
        let outer = patiently(Box::new(|| true), || {
            assert_eq!(patiently(second_is_too_many, three_steps), None);
            three_steps()
        });
        assert_eq!(outer, Some(3));
    }

    #[test]
    #[should_panic(expected = "a fault of its own")]
    fn a_panic_stays_one() {
        patiently(Box::new(|| true), || panic!("a fault of its own"));
    }
}
