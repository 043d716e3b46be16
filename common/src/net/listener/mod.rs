//! What the listeners of the network tools share: on which addresses they listen, whom they refuse and why, the threads
//! that serve clients, and what those print.

mod families;
mod journal;
mod places;
mod refusal;

pub use families::on_all_families;
pub use journal::Journal;
pub use places::Places;
pub use refusal::Refusal;
