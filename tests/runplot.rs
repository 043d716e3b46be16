//! `runplot` as a shell uses it.
