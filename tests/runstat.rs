//! `runstat` as a shell uses it.
