//! What the network tools share: the other end and the way there, who may ask for what, and how two ends talk.

pub mod access;
pub mod address;
pub mod habits;
pub mod listener;
pub mod peer;
pub mod peer_line;
pub mod queue;
pub mod resolve;
pub mod route;
pub mod turn;
pub mod wire;
