//! `nfscopy` as a shell uses it. Nothing here asserts a speed.
