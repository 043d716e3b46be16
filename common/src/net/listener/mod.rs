//! What the listeners of the network tools share: on which addresses they listen, whom they refuse and why, the threads
//! that serve clients, and what those print.

mod company;
mod families;
mod journal;
mod places;
mod refusal;
mod turned_away;
mod visit;

pub use company::{Company, Presence};
pub use families::on_all_families;
pub use journal::Journal;
pub use places::Places;
pub use refusal::Refusal;
pub use turned_away::TurnedAway;
pub use visit::{Beginning, Stay, Visit};
