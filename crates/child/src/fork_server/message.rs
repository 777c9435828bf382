//! The order of one command on its way to a fork server: a length, then words that each end with a zero
//! byte, which no path, argument or variable can hold.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Read},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::Path,
};

use crate::{Ready, sandbox::SandboxPlan};

/// The kernel starts no program whose arguments and variables are longer together.
const MOST: usize = 8 * 1024 * 1024;
/// Ends the words of the plan.
const END: &str = "--";

/// A command as a fork server reads it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CommandWords {
    pub(super) plan: Option<SandboxPlan>,
    /// The word in its environment.
    pub(super) mark: OsString,
    pub(super) directory: OsString,
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) variables: Vec<(OsString, OsString)>,
}

impl CommandWords {
    /// What is said where the command would have said something.
    pub(super) fn not_started(&self, error: &io::Error) -> String {
        format!("tectum guard: {} could not be started: {error}\n", self.program.display())
    }
}

/// The bytes of an order.
pub(super) fn encode(ready: &Ready, args: &[String], plan: Option<&SandboxPlan>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    let mut say = |word: &OsStr| {
        bytes.extend_from_slice(word.as_bytes());
        bytes.push(0);
    };
    plan.map(SandboxPlan::to_args).unwrap_or_default().into_iter().for_each(&mut say);
    let count = args.len().to_string();
    let head: [&OsStr; 5] =
        [END.as_ref(), ready.word.as_ref(), ready.directory.as_ref(), ready.program.as_ref(), count.as_ref()];
    head.into_iter().chain(args.iter().map(OsStr::new)).for_each(&mut say);
    ready.variables.iter().flat_map(|(name, value)| [name.as_os_str(), value]).for_each(&mut say);
    let length = bytes.len() - 4;
    if length > MOST {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is too long to be started"));
    }
    bytes[..4].copy_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    Ok(bytes)
}

/// Reads the bytes of an order to their end.
pub(super) fn read(mut from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    from.read_exact(&mut bytes)?;
    let length = bytes.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    let length = usize::try_from(length).ok().filter(|length| *length <= MOST).ok_or_else(broken)?;
    bytes.resize(4 + length, 0);
    from.read_exact(&mut bytes[4..])?;
    Ok(bytes)
}

/// The command of an order.
pub(super) fn decode(bytes: &[u8]) -> io::Result<CommandWords> {
    words(bytes).ok_or_else(broken)
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "an order that Tectum did not write")
}

fn words(bytes: &[u8]) -> Option<CommandWords> {
    let words = bytes.get(4..)?.strip_suffix(&[0])?.split(|byte| *byte == 0);
    let mut words = words.map(|word| OsString::from_vec(word.to_vec()));
    let mut plan = None;
    loop {
        match words.next()?.to_str()? {
            END => break,
            word => SandboxPlan::take_arg(&mut plan, word, &mut words)?,
        }
    }
    let [mark, directory, program] = [words.next()?, words.next()?, words.next()?];
    let count = words.next()?.to_str()?.parse().ok()?;
    let args: Vec<_> = words.by_ref().take(count).collect();
    let mut variables = Vec::new();
    while let Some(name) = words.next() {
        variables.push((name, words.next()?));
    }
    Path::new(&program).is_absolute().then_some(CommandWords {
        plan,
        mark,
        directory,
        program,
        args,
        variables,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn an_order_arrives_as_it_was_written() {
        let plan = SandboxPlan {
            writable: vec!["/p".into()],
            closed: vec!["/p/.env".into(), "/h/--".into()],
            network: true,
            unix_sockets: false,
        };
        let odd = OsString::from_vec(vec![b'/', 0xff, b'\n']);
        let ready = Ready {
            word: "w".into(),
            directory: odd.clone().into(),
            program: "/bin/sh".into(),
            variables: BTreeMap::from([("A".into(), OsString::new()), ("B".into(), odd.clone())]),
        };
        let args = ["-c".to_owned(), String::new(), "--closed".to_owned()];
        for plan in [None, Some(plan)] {
            let bytes = encode(&ready, &args, plan.as_ref()).expect("short enough");
            let read = read(bytes.as_slice()).and_then(|bytes| decode(&bytes)).expect("whole");
            assert_eq!(read.plan, plan);
            assert_eq!((&read.mark, &read.directory, &read.program), (&"w".into(), &odd, &"/bin/sh".into()));
            assert_eq!(read.args, args.each_ref().map(OsString::from));
            assert_eq!(read.variables, [("A".into(), "".into()), ("B".into(), odd.clone())]);
            for cut in [3, 10, bytes.len() - 1] {
                super::read(&bytes[..cut]).expect_err("cut off");
            }
        }
    }
}
