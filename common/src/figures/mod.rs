//! What the readers do with numbers: medians that say how sure they are, and units that suit people.

pub mod median;
pub mod scale;
