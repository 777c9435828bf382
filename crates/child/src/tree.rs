//! Ending all processes of one start, wherever they went. They are found by whom they descend
//! from, by the session they are in, and by the mark in their environment; nobody else is touched.

use std::{
    collections::{HashMap, HashSet},
    io::Read as _,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{
        Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group,
        pidfd_open, pidfd_send_signal, waitpid,
    },
};

use super::environment::MARK;

/// How long killing may take. A killed process is gone within a few milliseconds; what is still
/// there after this is one we may not kill, or one that hangs in the kernel.
const MOST: Duration = Duration::from_millis(900);
/// Between two looks: the time in which killed processes die.
const PAUSE: Duration = Duration::from_millis(2);
/// Holds the first 22 fields of a process's state at their longest.
const STAT: usize = 1024;
/// More than the kernel allows for arguments and environment together.
const MOST_ENVIRONMENT: u64 = 8 * 1024 * 1024;

/// Which processes are meant.
pub(super) struct Tree<'a> {
    /// The word in their environment.
    pub(super) mark: &'a str,
    /// The guard while it lives: it adopts whom others leave, so all that descends from it is meant.
    pub(super) root: Option<Pid>,
    /// The guard that led them, once it is dead: its session was theirs.
    pub(super) guard: Option<Pid>,
    /// The server itself: its process group holds nobody else.
    pub(super) leader: Option<Pid>,
}

impl Tree<'_> {
    /// Kills and reaps until nobody is left. False if somebody could not be killed in time.
    /// `reaped` hears of every child of ours that ended on the way.
    pub(super) fn clear(&self, reaped: &mut dyn FnMut(Pid, WaitStatus)) -> bool {
        let until = Instant::now() + MOST;
        let me = getpid();
        // The dead have no environment: whom the mark found once is remembered until he is reaped.
        let mut seen = HashMap::new();
        loop {
            let members = self.members(me, &seen);
            if !members.iter().any(|process| process.is_left(me)) {
                return true;
            }
            seen.extend(members.iter().map(|process| (process.pid, process.started)));
            self.kill(&members, me);
            for process in members.iter().filter(|process| process.parent == me.as_raw_pid()) {
                if let Ok(Some((pid, status))) = waitpid(Some(process.pid), WaitOptions::NOHANG) {
                    reaped(pid, status);
                }
            }
            if Instant::now() > until {
                return false;
            }
            thread::sleep(PAUSE);
        }
    }

    /// Who is there now. Reading environments costs more than reading states, and can hang where
    /// a process hangs, so marks are looked for only when nobody else is left.
    fn members(&self, me: Pid, seen: &HashMap<Pid, u64>) -> Vec<Process> {
        let all = everybody();
        let is_seen = |process: &Process| seen.get(&process.pid) == Some(&process.started);
        let is_below = |process: &Process| self.root.is_some_and(|root| process.parent == root.as_raw_pid());
        // A number stays taken while its session lives. A process that has it now is a new one, and
        // then no old session is left.
        let session = self.guard.filter(|guard| !all.iter().any(|process| process.pid == *guard));
        let is_led = |process: &Process| session.is_some_and(|guard| process.session == guard.as_raw_pid());

        let others = || all.iter().filter(|process| process.pid != me);
        let mut seeds: Vec<&Process> = others().filter(|p| is_seen(p) || is_below(p) || is_led(p)).collect();
        if !seeds.iter().any(|process| process.is_left(me)) {
            seeds.extend(others().filter(|process| process.carries(self.mark)));
        }
        with_descendants(&seeds, &all, me)
    }

    /// Whole groups first: the kernel kills a group at once, and no fork escapes. Then each alone.
    fn kill(&self, members: &[Process], me: Pid) {
        // Not asked of `getsid`: in a container the leaders of our session and group may be outside,
        // and then their numbers are 0, as in the kernel's table.
        let groups = self.groups(members, Process::look(me));
        for group in &groups {
            let _ = kill_process_group(*group, Signal::KILL);
        }
        let is_alone = |process: &&Process| !groups.iter().any(|group| group.as_raw_pid() == process.group);
        for process in members.iter().filter(is_alone) {
            process.kill();
        }
    }

    /// The groups that hold nobody but members.
    fn groups(&self, members: &[Process], us: Option<Process>) -> HashSet<Pid> {
        let is_theirs = |process: &&Process| {
            // In our own session another program may have joined a group; in any other, nobody could.
            let is_apart = us.is_some_and(|us| process.session != us.session);
            let is_led = self.leader.is_some_and(|leader| process.group == leader.as_raw_pid());
            (is_apart || is_led) && us.is_none_or(|us| process.group != us.group)
        };
        members.iter().filter(is_theirs).filter_map(|process| Pid::from_raw(process.group)).collect()
    }
}

/// One process as the kernel describes it.
#[derive(Clone, Copy, Debug)]
struct Process {
    pid: Pid,
    parent: i32,
    group: i32,
    session: i32,
    /// When it started, in ticks: with its number, a name that nobody else will ever have.
    started: u64,
    dead: bool,
}

impl Process {
    #[expect(clippy::disallowed_methods, reason = "the kernel's table of processes, not an agent's path")]
    fn look(pid: Pid) -> Option<Self> {
        let mut file = std::fs::File::open(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        // One read gives the whole line, of which the first half is enough.
        let mut stat = [0; STAT];
        let length = file.read(&mut stat).ok()?;
        Self::parse(pid, &stat[..length])
    }

    /// The program's name stands in brackets and may hold anything, brackets too.
    fn parse(pid: Pid, stat: &[u8]) -> Option<Self> {
        let after = memchr::memrchr(b')', stat)?;
        let text = std::str::from_utf8(&stat[after + 1..]).ok()?;
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        // None of them is negative but the terminal's.
        let number = |at: usize| fields.get(at)?.parse::<i32>().ok().filter(|number| *number >= 0);
        Some(Self {
            pid,
            dead: matches!(*fields.first()?, "Z" | "X" | "x"),
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    /// Whether there is something to do about it. A dead process that is not our child is reaped by
    /// its own parent, or by init.
    fn is_left(&self, me: Pid) -> bool {
        !self.dead || self.parent == me.as_raw_pid()
    }

    /// Whether the mark is in its environment. Another user's environment is closed to us.
    #[expect(clippy::disallowed_methods, reason = "the kernel's table of processes, not an agent's path")]
    fn carries(&self, mark: &str) -> bool {
        let path = format!("/proc/{}/environ", self.pid.as_raw_nonzero());
        let Ok(file) = std::fs::File::open(path) else { return false };
        let mut variables = Vec::new();
        // What was read before an error is still worth a look.
        let _ = file.take(MOST_ENVIRONMENT).read_to_end(&mut variables);
        memchr::memmem::find(&variables, format!("{MARK}={mark}").as_bytes()).is_some()
    }

    /// Kills this process and no other: the handle is opened first, and then it is made sure that
    /// the number still means whom we saw.
    fn kill(&self) {
        match pidfd_open(self.pid, PidfdFlags::empty()) {
            Ok(handle) => {
                if Self::look(self.pid).is_some_and(|now| now.started == self.started) {
                    let _ = pidfd_send_signal(handle, Signal::KILL);
                }
            }
            // An old kernel has no handles.
            Err(Errno::NOSYS) => _ = kill_process(self.pid, Signal::KILL),
            Err(_) => {}
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the kernel's table of processes, not an agent's path")]
fn everybody() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(Pid::from_raw).filter_map(Process::look).collect()
}

/// These processes and all below them.
fn with_descendants(seeds: &[&Process], all: &[Process], me: Pid) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<&Process>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut seen = HashSet::from([me]);
    let mut open: Vec<&Process> = seeds.to_vec();
    let mut found = Vec::new();
    while let Some(process) = open.pop() {
        if seen.insert(process.pid) {
            found.push(*process);
            open.extend(children.get(&process.pid.as_raw_pid()).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        let pid = Pid::from_raw(pid).expect("a number");
        Process { pid, parent, group: 1, session: 1, started: 1, dead: false }
    }

    #[test]
    fn a_name_with_brackets_is_no_trap() {
        let stat = b"42 (a) S 1 (x)) R 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1234 99\n";
        let found = Process::parse(Pid::from_raw(42).expect("a number"), stat).expect("parsed");
        assert_eq!((found.parent, found.group, found.session, found.started), (7, 8, 9, 1234));
        assert!(!found.dead);
        assert!(Process::parse(found.pid, b"42 (x").is_none());
        assert!(Process::parse(found.pid, b"42 (x) Z 1 2").is_none());
    }

    #[test]
    fn this_process_is_found_as_it_is() {
        let me = Process::look(getpid()).expect("we are there");
        assert!(everybody().iter().any(|process| process.pid == me.pid && process.started == me.started));
    }

    #[test]
    fn groups_are_killed_whole_only_where_nobody_else_is_in_them() {
        let place = |group, session| Process { group, session, ..process(9, 1) };
        let tree = |leader| Tree { mark: "", root: None, guard: None, leader: Pid::from_raw(leader) };
        let groups = |leader, members: &[Process], us| {
            let found = tree(leader).groups(members, us);
            let mut numbers: Vec<i32> = found.into_iter().map(Pid::as_raw_pid).collect();
            numbers.sort_unstable();
            numbers
        };
        let members = [place(20, 20), place(21, 20), place(30, 5), place(31, 5), place(4, 5), place(0, 0)];
        assert_eq!(groups(0, &members, Some(place(4, 5))), [20, 21]);
        assert_eq!(groups(31, &members, Some(place(4, 5))), [20, 21, 31]);
        // The leaders of our session and group are outside the container that we are in.
        assert_eq!(groups(31, &members, Some(place(0, 0))), [4, 20, 21, 30, 31]);
        assert_eq!(groups(31, &members, None), [31]);
    }

    #[test]
    fn descendants_end_even_where_numbers_went_in_a_circle() {
        let all = [process(2, 1), process(3, 2), process(4, 3), process(5, 1), process(6, 7), process(7, 6)];
        let me = Pid::from_raw(1).expect("a number");
        let below = |seeds: &[&Process]| {
            let found = with_descendants(seeds, &all, me);
            let mut numbers: Vec<i32> = found.iter().map(|p| p.pid.as_raw_pid()).collect();
            numbers.sort_unstable();
            numbers
        };
        assert_eq!(below(&[&all[0]]), [2, 3, 4]);
        assert_eq!(below(&[&all[4]]), [6, 7]);
    }
}
