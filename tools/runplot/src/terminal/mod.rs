//! The chart in characters, for a look between two commands, and for watching.

pub mod canvas;
pub mod draw;
mod screen;

pub use screen::Screen;
