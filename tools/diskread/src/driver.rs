//! What does the reads: the way to the kernel that a plan asks for, as far as the kernel allows it.

use anyhow::{Context, bail};
use common::sys::ring;

use crate::args::{Engine, Method};
use crate::plan::{MAX_POOL, Plan};

/// What does the reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    Pread,
    PreadPool,
    IoUring,
    Mmap,
    Null,
}

impl Driver {
    /// The word in the engine column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pread => "pread",
            Self::PreadPool => "pread-pool",
            Self::IoUring => "io_uring",
            Self::Mmap => "mmap",
            Self::Null => "null",
        }
    }

    /// The one for a plan, as far as the kernel allows it.
    pub fn choose(plan: &Plan) -> anyhow::Result<Self> {
        let pread = if plan.depth > 1 { Self::PreadPool } else { Self::Pread };
        Ok(match (plan.method, plan.engine) {
            (Method::Mmap, _) => Self::Mmap,
            (Method::Null, _) => Self::Null,
            (_, Engine::Pread) => pread,
            (_, Engine::Auto) if plan.depth == 1 => pread,
            (_, Engine::Auto) => match ring::is_allowed() {
                Ok(()) => Self::IoUring,
                Err(error) if u64::from(plan.threads) * u64::from(plan.depth) > MAX_POOL => {
                    bail!(
                        "io_uring is refused ({error}), and more than {MAX_POOL} threads would have to stand in for it"
                    )
                }
                Err(_) => pread,
            },
            (_, Engine::IoUring) => {
                ring::is_allowed().context("io_uring is refused (--engine auto does without it)")?;
                Self::IoUring
            }
        })
    }
}
