//! A listener's lines until its client has them: bounded, whatever the client does.

use std::collections::VecDeque;

/// Most bytes that are kept for one client: thousands of lines.
const MOST: usize = 1 << 20;

/// Lines by their numbers, from 0; the oldest give way.
#[derive(Debug, Default)]
pub struct Kept {
    lines: VecDeque<String>,
    bytes: usize,
    /// The number of the first one that is kept.
    first: u64,
}

impl Kept {
    /// Keeps the next line; its number.
    pub fn keep(&mut self, line: String) -> u64 {
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.bytes > MOST && self.lines.len() > 1 {
            self.forget_one();
        }
        self.next() - 1
    }

    /// The client has all lines before this number.
    pub fn forget_before(&mut self, number: u64) {
        while self.first < number && !self.lines.is_empty() {
            self.forget_one();
        }
    }

    /// The number of the next line.
    pub fn next(&self) -> u64 {
        self.first + self.lines.len() as u64
    }

    /// A line, if it is kept.
    pub fn get(&self, number: u64) -> Option<&str> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.lines.get(place).map(String::as_str)
    }

    fn forget_one(&mut self) {
        if let Some(line) = self.lines.pop_front() {
            self.bytes -= line.len();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_has_is_forgotten_and_what_it_lacks_is_not() {
        let mut kept = Kept::default();
        assert_eq!([0, 1, 2].map(|n| kept.keep(format!("{n}\n"))), [0, 1, 2]);
        kept.forget_before(2);
        assert_eq!((kept.get(1), kept.get(2), kept.get(3), kept.next()), (None, Some("2\n"), None, 3));
        kept.forget_before(99);
        assert_eq!((kept.get(2), kept.next()), (None, 3), "no more than there were");
    }

    #[test]
    fn a_client_that_asks_for_nothing_costs_no_more() {
        let mut kept = Kept::default();
        for _ in 0..20_000 {
            kept.keep("x".repeat(300));
        }
        assert!(kept.bytes <= MOST && kept.next() == 20_000 && kept.get(19_999).is_some() && kept.get(0).is_none());
    }
}
