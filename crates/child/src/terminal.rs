//! A terminal for a command: our end of it, and what the guard does so that the command has it as
//! its own. The guard leads the session, the command's group is in the foreground, and a terminal
//! that is closed ends both.

use std::{io, os::fd::OwnedFd};

use rustix::{
    process::{Pid, Signal, kill_process_group},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, isatty, tcsetpgrp, tcsetwinsize},
};

/// Wide enough for the lines of most programs, none of which asks a person for more.
const SIZE: Winsize = Winsize { ws_row: 40, ws_col: 160, ws_xpixel: 0, ws_ypixel: 0 };

/// A new terminal: our end, and the command's.
pub(super) fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::fs::{Mode, OFlags, open};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    tcsetwinsize(&ours, SIZE)?;
    Ok((ours, theirs))
}

/// Makes standard input the terminal of this session, which has none yet. False where it is none.
pub(super) fn take() -> bool {
    let stdin = rustix::stdio::stdin();
    isatty(stdin) && rustix::process::ioctl_tiocsctty(stdin).is_ok()
}

/// Gives the foreground to a group that was just started. One that asked for input before it had
/// the foreground was stopped, and goes on.
pub(super) fn hand_over(group: Pid) {
    let _ = tcsetpgrp(rustix::stdio::stdin(), group);
    let _ = kill_process_group(group, Signal::CONT);
}
