//! A client's pipe carried on to the house that serves its project already: bytes, in both directions.
//!
//! What was passed on is looked at afterwards, while the other side works, for as much as another house
//! would have to know to take the client over. That may be one in this process, or one that this relay
//! joins: it hears what it has to know before anything else, and its answers to that are kept from the client.

mod passed;
mod taken_over;

use std::{
    io::{self, Read as _, Write as _},
    net::Shutdown,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::UnixStream,
    },
};

use memchr::memrchr;
use rustix::event::{PollFd, PollFlags, poll};

use self::passed::{Passed, house_id, request_id};
pub use self::taken_over::TakenOver;
use crate::wire::{backlog::Backlog, on_one_line, pipe};

/// The bytes of one read.
const CHUNK: usize = 64 * 1024;
/// Unwritten bytes towards either side beyond which the other one is not read.
const MOST_UNWRITTEN: usize = 1024 * 1024;
/// The part of a line that is held back until the line is whole, so that a client gets no half line from a
/// house that dies. A longer line is passed on as it comes.
const MOST_HELD: usize = 1024 * 1024;

/// The reason why a relay ended.
#[derive(Debug)]
pub enum Relayed {
    /// The client left.
    ClientLeft,
    /// The house ended, and the client is still there.
    HouseEnded(Box<TakenOver>),
}

/// Carries the client on standard input and output to a house until one of them ends. A client that another
/// house left behind goes on where it was. It needs no runtime.
pub fn relay(house: UnixStream, carried: Option<TakenOver>) -> io::Result<Relayed> {
    let input = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    Relay::new(input, pipe::own_stdout()?, house, carried.unwrap_or_default())?.run()
}

/// The first bytes of a relay to a house: the number of the last question that its client was asked, whose
/// answer may still come.
pub(super) type FirstWord = [u8; 8];

struct Relay {
    input: OwnedFd,
    output: OwnedFd,
    house: UnixStream,
    to_house: Backlog,
    to_client: Backlog,
    /// The beginning of a line of the house.
    held: Vec<u8>,
    /// Set while the client has a part of a line that is longer.
    mid_line: bool,
    passed: Passed,
    /// The ids of answers that the client had from another house.
    unwanted: Vec<String>,
    /// Bytes of the client that no house got.
    unsent: Vec<u8>,
    client_left: bool,
    house_heard_end: bool,
    house_ended: bool,
}

impl Relay {
    fn new(input: OwnedFd, output: OwnedFd, house: UnixStream, carried: TakenOver) -> io::Result<Self> {
        house.set_nonblocking(true)?;
        let (mut to_house, mut to_client) = (Backlog::default(), Backlog::default());
        for mut message in carried.told() {
            on_one_line(&mut message);
            to_client.bytes.extend_from_slice(&message);
            to_client.bytes.push(b'\n');
        }
        let TakenOver { known, last_question, input: again, .. } = carried;
        let word: FirstWord = last_question.to_be_bytes();
        to_house.bytes.extend_from_slice(&word);
        for (_, line) in &known {
            to_house.bytes.extend_from_slice(line);
            to_house.bytes.push(b'\n');
        }
        to_house.bytes.extend_from_slice(&again);
        let unwanted = known.iter().filter_map(|(_, line)| request_id(line)).collect();
        let mut passed = Passed::after(known, last_question);
        passed.by_client(&again);
        Ok(Self {
            input,
            output,
            house,
            to_house,
            to_client,
            held: Vec::new(),
            mid_line: false,
            passed,
            unwanted,
            unsent: Vec::new(),
            client_left: false,
            house_heard_end: false,
            house_ended: false,
        })
    }

    fn run(mut self) -> io::Result<Relayed> {
        let mut chunk = vec![0; CHUNK];
        loop {
            if self.house_ended && self.to_client.is_empty() {
                return self.ended();
            }
            let (input, house, output) = self.ready()?;
            if output {
                self.write_to_client()?;
            }
            if house.contains(PollFlags::OUT) {
                self.write_to_house();
            }
            // A house that died is readable as well: nothing is left to read.
            if house.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                self.read_house(&mut chunk)?;
            }
            if input && self.reads_client() {
                self.read_client(&mut chunk)?;
            }
            if self.client_left && self.to_house.is_empty() && !self.house_heard_end {
                self.house_heard_end = true;
                // One that is gone already needs no word.
                let _ = self.house.shutdown(Shutdown::Write);
            }
        }
    }

    /// Waits until something can be done: the client has bytes, this is so of the house, the client takes some.
    fn ready(&self) -> io::Result<(bool, PollFlags, bool)> {
        let (reads_client, writes_client) = (self.reads_client(), !self.to_client.is_empty());
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::IN, self.to_client.len() < MOST_UNWRITTEN);
        wanted.set(PollFlags::OUT, !self.to_house.is_empty());
        let mut ends = Vec::with_capacity(3);
        // One that nothing is wanted of is left out: its end would be told again and again.
        if !self.house_ended && !wanted.is_empty() {
            ends.push(PollFd::new(&self.house, wanted));
        }
        let has_house = !ends.is_empty();
        if reads_client {
            ends.push(PollFd::new(&self.input, PollFlags::IN));
        }
        if writes_client {
            ends.push(PollFd::new(&self.output, PollFlags::OUT));
        }
        while let Err(error) = poll(&mut ends, None) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
        let mut told = ends.iter().map(PollFd::revents);
        let mut next = |asked: bool| if asked { told.next() } else { None }.unwrap_or(PollFlags::empty());
        let house = next(has_house);
        let input = next(reads_client);
        Ok((!input.is_empty(), house, !next(writes_client).is_empty()))
    }

    fn reads_client(&self) -> bool {
        let deaf = self.house_ended || !self.unsent.is_empty();
        !self.client_left && !deaf && self.to_house.len() < MOST_UNWRITTEN
    }

    fn read_client(&mut self, chunk: &mut [u8]) -> io::Result<()> {
        let read = match rustix::io::read(&self.input, &mut *chunk) {
            Ok(read) => read,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(()),
            // As with any other end of its input.
            Err(_) => 0,
        };
        if read == 0 {
            self.client_left = true;
            return Ok(());
        }
        let chunk = &chunk[..read];
        let waits = !self.to_house.is_empty();
        self.to_house.bytes.extend_from_slice(chunk);
        if self.write_to_house() || waits {
            self.passed.by_client(chunk);
        } else {
            self.unsent = chunk.to_vec();
        }
        Ok(())
    }

    fn read_house(&mut self, chunk: &mut [u8]) -> io::Result<()> {
        match self.house.read(chunk) {
            Ok(0) => self.house_ended = true,
            Ok(read) => {
                self.hand_over(&chunk[..read]);
                self.write_to_client()?;
                self.passed.by_house(&chunk[..read]);
            }
            Err(error) if pipe::again(&error) => {}
            Err(_) => self.house_ended = true,
        }
        Ok(())
    }

    /// Puts the whole lines of the house into the queue towards the client.
    fn hand_over(&mut self, bytes: &[u8]) {
        let whole = memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        let (lines, rest) = bytes.split_at(whole);
        if !lines.is_empty() {
            if self.unwanted.is_empty() {
                self.to_client.bytes.append(&mut self.held);
                self.to_client.bytes.extend_from_slice(lines);
            } else {
                self.held.extend_from_slice(lines);
                self.hand_over_wanted();
            }
            self.mid_line = false;
        }
        self.held.extend_from_slice(rest);
        if self.mid_line || self.held.len() > MOST_HELD {
            self.mid_line = !self.held.is_empty() || self.mid_line;
            self.to_client.bytes.append(&mut self.held);
        }
    }

    /// The same for what is held, without answers that the client had from another house.
    fn hand_over_wanted(&mut self) {
        let held = std::mem::take(&mut self.held);
        let mut mid_line = self.mid_line;
        for line in held.split_inclusive(|byte| *byte == b'\n') {
            // The rest of a line that was passed on already is no beginning.
            let answer = if mid_line { None } else { house_id(line).filter(|(_, question)| !question) };
            mid_line = false;
            match answer.and_then(|(id, _)| self.unwanted.iter().position(|unwanted| unwanted == id)) {
                Some(at) => drop(self.unwanted.swap_remove(at)),
                None => self.to_client.bytes.extend_from_slice(line),
            }
        }
    }

    fn write_to_client(&mut self) -> io::Result<()> {
        let output = self.output.as_fd();
        self.to_client.flush(|bytes| pipe::written(rustix::io::write(output, bytes).map_err(Into::into)))
    }

    /// False if the house takes nothing any more; it is read to its end then.
    fn write_to_house(&mut self) -> bool {
        let mut house = &self.house;
        let written = self.to_house.flush(|bytes| pipe::written(house.write(bytes)));
        if written.is_err() {
            self.to_house = Backlog::default();
        }
        written.is_ok()
    }

    fn ended(mut self) -> io::Result<Relayed> {
        if self.client_left {
            return Ok(Relayed::ClientLeft);
        }
        if self.mid_line {
            self.to_client.bytes.push(b'\n');
            self.write_to_client()?;
        }
        let mut carried = self.passed.carried();
        carried.input.append(&mut self.unsent);
        Ok(Relayed::HouseEnded(Box::new(carried)))
    }
}

#[cfg(test)]
mod tests {
    use std::{io::BufRead as _, thread::JoinHandle};

    use super::*;

    /// A relay with a client and a house that a test plays.
    struct Played {
        client: UnixStream,
        house: UnixStream,
        relay: JoinHandle<io::Result<Relayed>>,
    }

    fn played() -> Played {
        taking_over(TakenOver::default())
    }

    fn taking_over(carried: TakenOver) -> Played {
        let last_question = carried.last_question;
        let pair = || UnixStream::pair().expect("a pair");
        let ((client, ours), (house, theirs)) = (pair(), pair());
        ours.set_nonblocking(true).expect("set");
        let (input, output) = (ours.try_clone().expect("cloned").into(), ours.into());
        let relay = std::thread::spawn(move || Relay::new(input, output, theirs, carried)?.run());
        assert_eq!(received(&house, 8), last_question.to_be_bytes());
        Played { client, house, relay }
    }

    impl Played {
        fn carried(self) -> TakenOver {
            drop(self.house);
            match self.relay.join().expect("ends").expect("works") {
                Relayed::HouseEnded(carried) => *carried,
                Relayed::ClientLeft => panic!("the client is still there"),
            }
        }
    }

    const CALL: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}}\n";
    const ANSWER: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";

    fn received(mut stream: &UnixStream, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        stream.read_exact(&mut bytes).expect("there");
        bytes
    }

    #[test]
    fn bytes_pass_as_they_are_and_the_end_of_the_client_reaches_the_house() {
        let Played { mut client, mut house, relay } = played();
        client.write_all(CALL).expect("written");
        assert_eq!(received(&house, CALL.len()), CALL);
        client.shutdown(Shutdown::Write).expect("closed");
        assert_eq!(house.read(&mut [0; 8]).expect("read"), 0);
        house.write_all(ANSWER).expect("written");
        assert_eq!(received(&client, ANSWER.len()), ANSWER, "what was under way still comes");
        drop(house);
        assert!(matches!(relay.join().expect("ends").expect("works"), Relayed::ClientLeft));
    }

    /// The lines that are there until the other side says this one.
    fn until(mut stream: impl io::BufRead, last: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line| line != last) {
            let mut line = String::new();
            assert!(stream.read_line(&mut line).expect("read") > 0, "no {last} after {lines:?}");
            lines.push(line.trim_end().to_owned());
        }
        lines
    }

    #[test]
    fn the_next_house_hears_what_the_last_one_knew_and_the_client_only_what_is_new() {
        const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        const THERE: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
        const WELCOME: &str = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
        const QUESTION: &str = r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}"#;
        let mut first = played();
        let mut client = io::BufReader::new(first.client.try_clone().expect("cloned"));
        writeln!(first.client, "{HELLO}").expect("written");
        let mut house = io::BufReader::new(first.house.try_clone().expect("cloned"));
        until(&mut house, HELLO);
        writeln!(first.house, "{WELCOME}").expect("written");
        writeln!(first.client, "{THERE}").expect("written");
        writeln!(first.house, "{QUESTION}").expect("written");
        first.client.write_all(CALL).expect("written");
        until(&mut client, QUESTION);
        writeln!(first.client, "{LIST}").expect("written");
        until(&mut house, LIST);
        drop(house);
        let mut carried = first.carried();
        assert_eq!((carried.known.len(), carried.last_question), (2, 7));
        // It holds for as many houses as it takes.
        for cut in [1, 9, 10_000] {
            let mut next = taking_over(carried);
            let heard = until(io::BufReader::new(&next.house), LIST);
            assert_eq!(heard, [HELLO, THERE, LIST]);
            let mut client = io::BufReader::new(next.client.try_clone().expect("cloned"));
            let told = format!("{WELCOME}\n{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}}\n");
            told.as_bytes().chunks(cut).for_each(|piece| next.house.write_all(piece).expect("written"));
            let said = until(&mut client, r#"{"jsonrpc":"2.0","method":"notifications/x"}"#);
            assert!(!said.iter().any(|line| line == WELCOME), "{said:?}");
            let words = said.join("\n");
            // The first one tells of what ended with the last house.
            assert_eq!(words.contains(r#""requestId":7"#), cut == 1, "{said:?}");
            assert_eq!(words.contains("ended before it answered"), cut == 1, "{said:?}");
            carried = next.carried();
        }
    }

    #[test]
    fn half_an_answer_of_a_dead_house_is_not_passed_on() {
        let mut played = played();
        played.client.write_all(CALL).expect("written");
        received(&played.house, CALL.len());
        played.house.write_all(&ANSWER[..20]).expect("written");
        let client = played.client.try_clone().expect("cloned");
        let carried = played.carried();
        assert_eq!(carried.lost.len(), 1);
        assert_eq!((&client).read(&mut [0; 64]).expect("read"), 0, "nothing came");
    }

    #[test]
    fn a_longer_answer_that_was_cut_ends_its_line() {
        let mut played = played();
        played.client.write_all(CALL).expect("written");
        received(&played.house, CALL.len());
        let client = played.client.try_clone().expect("cloned");
        let reading = std::thread::spawn(move || {
            let mut line = Vec::new();
            io::BufReader::new(client).read_until(b'\n', &mut line).expect("read");
            line
        });
        let long = [&ANSWER[..30], &vec![b'x'; 2 * MOST_HELD]].concat();
        played.house.write_all(&long).expect("written");
        let carried = played.carried();
        let line = reading.join().expect("ends");
        assert_eq!((line.len(), line.last()), (long.len() + 1, Some(&b'\n')));
        assert_eq!(carried.lost.len(), 1, "it was not whole");
    }

    #[test]
    fn what_comes_when_the_house_is_gone_is_for_the_next() {
        let mut played = played();
        played.house.shutdown(Shutdown::Read).expect("closed");
        played.client.write_all(CALL).expect("written");
        // It is read once the relay found out that nobody takes it.
        let carried = played.carried();
        let known = (carried.lost.len(), carried.input.as_slice());
        // The end of the house may be seen before the client is read.
        assert!(known == (0, CALL) || known == (0, b""), "{known:?}");
    }
}
