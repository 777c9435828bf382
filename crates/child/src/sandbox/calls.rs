//! Which calls to the kernel a command may not make: sockets that lead out of the plan, and the few
//! calls that go around the rules for files.
//!
//! The filter names what is refused. Calls that make namespaces or trace processes are not in it: under
//! Landlock they reach nothing outside.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use super::{plan::SandboxPlan, rules::Truncation};

/// A second table of numbers for the same calls.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;
/// The bits of a socket's type that are not options.
const TYPE: u64 = 0xf;

/// The filter for a plan.
pub(super) fn filter(
    plan: &SandboxPlan,
    truncation: Truncation,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::from([
        (libc::SYS_socket, sockets(plan)?),
        // It makes sockets, too, and no filter sees them.
        (libc::SYS_io_uring_setup, vec![]),
        // Keys of the user's session that are in no file.
        (libc::SYS_keyctl, vec![]),
        (libc::SYS_add_key, vec![]),
        (libc::SYS_request_key, vec![]),
        // Files without a path.
        (libc::SYS_open_by_handle_at, vec![]),
    ]);
    if !plan.unix_sockets {
        // One of a pair of datagram sockets can be turned to a name afterwards.
        let datagram = vec![is(1, SeccompCmpOp::MaskedEq(TYPE), libc::SOCK_DGRAM)?];
        refused.insert(libc::SYS_socketpair, vec![SeccompRule::new(datagram)?]);
    }
    if truncation == Truncation::Open {
        refuse_truncation(&mut refused)?;
    }
    #[cfg(target_arch = "x86_64")]
    refused.extend(refused.clone().into_iter().map(|(call, rules)| (call | X32, rules)));
    let refusal = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(refused, SeccompAction::Allow, refusal, std::env::consts::ARCH.try_into()?)?.try_into()
}

/// The sockets that are refused; none named means all.
fn sockets(plan: &SandboxPlan) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let mut allowed = Vec::new();
    if plan.network {
        // The last one tells programs which addresses the machine has.
        allowed.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    if plan.unix_sockets {
        allowed.push(libc::AF_UNIX);
    }
    if allowed.is_empty() {
        return Ok(vec![]);
    }
    let others =
        allowed.into_iter().map(|family| is(0, SeccompCmpOp::Ne, family)).collect::<Result<_, _>>()?;
    let netlink =
        vec![is(0, SeccompCmpOp::Eq, libc::AF_NETLINK)?, is(2, SeccompCmpOp::Ne, libc::NETLINK_ROUTE)?];
    Ok(vec![SeccompRule::new(others)?, SeccompRule::new(netlink)?])
}

/// What Landlock holds only since Linux 6.2: cutting a file short without opening it for writing.
fn refuse_truncation(refused: &mut BTreeMap<i64, Vec<SeccompRule>>) -> Result<(), seccompiler::BackendError> {
    let cuts = |flags: u8| -> Result<_, seccompiler::BackendError> {
        let mask = (libc::O_TRUNC | libc::O_ACCMODE).unsigned_abs().into();
        Ok(vec![SeccompRule::new(vec![is(flags, SeccompCmpOp::MaskedEq(mask), libc::O_TRUNC)?])?])
    };
    refused.insert(libc::SYS_truncate, vec![]);
    refused.insert(libc::SYS_openat, cuts(2)?);
    #[cfg(target_arch = "x86_64")]
    refused.insert(libc::SYS_open, cuts(1)?);
    // Its flags are behind a pointer.
    refused.insert(libc::SYS_openat2, vec![]);
    Ok(())
}

fn is(argument: u8, how: SeccompCmpOp, value: i32) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, Dword, how, value.unsigned_abs().into())
}

#[cfg(test)]
mod tests {
    use rustix::{
        fs::{Mode, OFlags, open},
        io::Errno,
    };

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes the file that is cut")]
    fn where_landlock_does_not_hold_truncation_the_filter_does() {
        let scratch = tempfile::tempdir().expect("a directory");
        let file = scratch.path().join("f");
        std::fs::write(&file, "content").expect("written");
        let plan = SandboxPlan { network: true, ..SandboxPlan::default() };
        let tried = std::thread::spawn(move || {
            let filter = filter(&plan, Truncation::Open).expect("made");
            seccompiler::apply_filter(&filter).expect("entered");
            let cut = |how| open(&file, how | OFlags::TRUNC, Mode::empty()).map(drop);
            assert_eq!(cut(OFlags::RDONLY), Err(Errno::PERM));
            assert_eq!(std::fs::read_to_string(&file).expect("read"), "content");
            // To open it for writing is for the rules about files.
            assert_eq!(cut(OFlags::WRONLY), Ok(()));
            assert_eq!(open(&file, OFlags::RDONLY, Mode::empty()).map(drop), Ok(()));
        });
        tried.join().expect("all as it should be");
    }
}
