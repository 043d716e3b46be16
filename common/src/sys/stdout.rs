//! Whether stdout was there when the process began. std opens `/dev/null` in the place of a closed descriptor before `main`,
//! where every line would be lost without a word; so this looks before std does.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether whoever started us closed stdout (`>&-`).
pub fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}

extern "C" fn look() {
    // SAFETY: it takes numbers and touches no memory.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// The loader calls what stands in this section before the program begins (System V ABI, initialization functions).
// SAFETY: `look` has the signature that the section's entries are called with (further arguments are ignored), and needs
// nothing of std's runtime.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;
