//! Who is measured at the same time: figures of two measurements that share a listener are not those of either alone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// All measurements that a listener serves; a clone is the same.
#[derive(Debug, Clone, Default)]
pub struct Company(Arc<Mutex<Vec<Arc<Party>>>>);

/// One of them.
#[derive(Debug)]
struct Party {
    /// Tests of one call of a client are no strangers to each other.
    visit: u64,
    is_shared: AtomicBool,
}

/// A measurement that goes on until this is dropped.
#[derive(Debug)]
pub struct Presence {
    company: Company,
    party: Arc<Party>,
}

impl Company {
    /// A measurement of this visit begins.
    pub fn join(&self, visit: u64) -> Presence {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let others = || all.iter().filter(|other| other.visit != visit);
        others().for_each(|other| other.is_shared.store(true, Ordering::Relaxed));
        let party = Arc::new(Party { visit, is_shared: AtomicBool::new(others().next().is_some()) });
        all.push(Arc::clone(&party));
        Presence { company: self.clone(), party }
    }
}

impl Presence {
    /// Whether the listener has served a measurement of another visit since this one began.
    pub fn was_shared(&self) -> bool {
        self.party.is_shared.load(Ordering::Relaxed)
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let mut all = self.company.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|party| !Arc::ptr_eq(party, &self.party));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_meet_know_of_each_other() {
        let company = Company::default();
        let early = company.join(1);
        drop(company.join(1));
        assert!(!early.was_shared(), "a test beside another one of the same client");
        drop(company.join(2));
        let late = company.join(3);
        assert!(early.was_shared() && late.was_shared());
        drop((early, late));
        assert!(!company.join(1).was_shared(), "all have left");
    }
}
