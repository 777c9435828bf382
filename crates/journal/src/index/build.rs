//! Reading the record into the index: one thread reads and cuts texts into words, the other writes.

use std::{
    collections::HashMap,
    io,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
};

use rusqlite::{Connection, Statement, params};

use super::{
    Index, Watch, broken,
    row::{Row, signed},
    words::Words,
};
use crate::{Entry, Piece, Record, Segment, segments};

/// Calls that are read before they are handed on, and the bytes of their words.
const BATCH: usize = 5_000;
const MOST_WORDS: usize = 8 << 20;
/// Calls that wait for those behind them. A call is recorded when it ends and sorted by when it began; the full
/// text takes calls fastest in that order, and closes a part of itself for each that comes late.
const HELD: usize = 5_000;
/// Batches that wait to be written: with the one at each end they bound the memory.
const WAITING: usize = 1;
/// Calls of one transaction. Each makes a part of the full text of its own, and parts are merged later.
const COMMIT: u64 = 1_000_000;

/// How far the index has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// The bytes of the record that were read.
    pub done: u64,
    /// All that were to be read.
    pub total: u64,
    /// The calls that were found in them.
    pub calls: u64,
}

/// What is still to be read of a segment.
#[derive(Debug)]
struct Unread {
    segment: Segment,
    known: Known,
}

/// What the index knows of a segment.
#[derive(Clone, Debug, Default)]
struct Known {
    id: i64,
    /// How far it was read.
    read: u64,
    /// The project's directory, as the records of its processes have it.
    directory: String,
}

/// Some calls, and how far their segments were read with them.
#[derive(Debug, Default)]
struct Batch {
    rows: Vec<Row>,
    /// The bytes of their words.
    words: usize,
    /// Tools and sessions that no batch before had.
    news: News,
    /// How far, and the project's directory.
    read: HashMap<usize, (u64, String)>,
    bytes: u64,
}

impl Index {
    /// How far each segment was read, by the name of its file, for somebody who follows the record.
    pub fn positions(&self) -> io::Result<HashMap<String, u64>> {
        Ok(known(&self.db)?.into_iter().map(|(name, known)| (name, known.read)).collect())
    }

    /// Whether nothing was recorded or removed since the last update.
    pub(super) fn is_current(&self) -> io::Result<bool> {
        let known = known(&self.db)?;
        let now = segments(&self.journal)?;
        let seen =
            |segment: &Segment| known.get(&name(segment)).is_some_and(|known| known.read == segment.size);
        Ok(now.len() == known.len() && now.iter().all(seen))
    }

    /// Reads what the index does not have, and forgets what the record does not have any more. The
    /// caller holds the lock.
    pub(super) fn read_record(&mut self, watch: Watch<'_>) -> io::Result<()> {
        let now = segments(&self.journal)?;
        let known = known(&self.db)?;
        let gone: Vec<i64> = known
            .iter()
            .filter(|(known, _)| !now.iter().any(|segment| name(segment) == **known))
            .map(|(_, known)| known.id)
            .collect();
        if !gone.is_empty() {
            forget(&mut self.db, &gone).map_err(broken)?;
        }
        let mut unread = Vec::new();
        for segment in now {
            let known = match known.get(&name(&segment)) {
                Some(known) => known.clone(),
                None => begin(&self.db, &name(&segment)).map_err(broken)?,
            };
            if known.read != segment.size {
                unread.push(Unread { segment, known });
            }
        }
        if unread.is_empty() {
            return Ok(());
        }
        let total = unread.iter().map(|unread| unread.segment.size.saturating_sub(unread.known.read)).sum();
        let mut progress = Progress { total, ..Progress::default() };
        let (send, receive) = sync_channel(WAITING);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| read(&unread, send));
            let written = write(&self.db, &unread, receive, &mut progress, watch);
            let read =
                reader.join().unwrap_or_else(|_| Err(io::Error::other("the record could not be read")));
            written.and(read)
        })
    }
}

/// What the index knows of each segment, by name.
fn known(db: &Connection) -> io::Result<HashMap<String, Known>> {
    let read = || {
        let mut select = db.prepare("SELECT name, id, read, directory FROM segments")?;
        let rows = select.query_map([], |row| {
            let read = row.get::<_, i64>(2)?.cast_unsigned();
            Ok((row.get(0)?, Known { id: row.get(1)?, read, directory: row.get(3)? }))
        })?;
        rows.collect::<rusqlite::Result<HashMap<_, _>>>()
    };
    read().map_err(broken)
}

fn name(segment: &Segment) -> String {
    segment.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn begin(db: &Connection, name: &str) -> rusqlite::Result<Known> {
    db.execute("INSERT INTO segments(name, read, directory) VALUES(?1, 0, '')", [name])?;
    Ok(Known { id: db.last_insert_rowid(), ..Known::default() })
}

/// Forgets the calls of segments that are gone. Their words stay, and lead to no call.
fn forget(db: &mut Connection, gone: &[i64]) -> rusqlite::Result<()> {
    let transaction = db.transaction()?;
    for id in gone {
        transaction.execute("DELETE FROM calls WHERE segment = ?1", [id])?;
        transaction.execute("DELETE FROM segments WHERE id = ?1", [id])?;
    }
    transaction.execute_batch(
        "DELETE FROM sessions WHERE id NOT IN (SELECT session FROM calls);
         UPDATE sessions SET (first, last, calls, failed, took, tokens_in, tokens_out) =
           (SELECT min(at), max(at + took), count(*), sum(failed), sum(took), sum(tokens_in), sum(tokens_out)
            FROM calls WHERE calls.session = sessions.id);",
    )?;
    transaction.commit()
}

/// Reads the segments and sends what stands in them.
fn read(unread: &[Unread], send: SyncSender<Batch>) -> io::Result<()> {
    let (mut batch, mut words, mut names) = (Batch::default(), Words::default(), Names::default());
    for (at, Unread { segment, known }) in unread.iter().enumerate() {
        let Some(pieces) = segment.read_from(known.read)? else { continue };
        let (mut end, mut directory) = (known.read, known.directory.clone());
        for piece in pieces {
            let start = end;
            match piece {
                Piece::Line(line) => {
                    end = line.next;
                    match line.record() {
                        Ok(Record::Call(entry)) => {
                            let named = names.of(&entry, &mut batch.news);
                            let row = Row::of(&entry, named, (at, line.offset), &directory, &mut words);
                            batch.words += row.words.len();
                            batch.rows.push(row);
                        }
                        Ok(Record::Start(start)) => directory = start.directory,
                        // Others are not searched for; what a later version wrote is not known.
                        Ok(_) | Err(_) => {}
                    }
                }
                Piece::Damaged(damage) => end = damage.offset + damage.length,
                // It may be whole next time.
                Piece::Torn(_) => {}
            }
            batch.bytes += end - start;
            if batch.rows.len() >= BATCH || batch.words >= MOST_WORDS {
                batch.read.insert(at, (end, directory.clone()));
                if send.send(std::mem::take(&mut batch)).is_err() {
                    // The writer failed and says so itself.
                    return Ok(());
                }
            }
        }
        batch.read.insert(at, (end, directory));
    }
    let _ = send.send(batch);
    Ok(())
}

fn write(
    db: &Connection,
    unread: &[Unread],
    receive: Receiver<Batch>,
    progress: &mut Progress,
    watch: Watch<'_>,
) -> io::Result<()> {
    let mut ids = Ids::default();
    let (mut transaction, mut commit) = (db.unchecked_transaction().map_err(broken)?, COMMIT);
    let mut held: Vec<Row> = Vec::new();
    for mut batch in receive {
        progress.done += batch.bytes;
        progress.calls += batch.rows.len() as u64;
        let is_due = progress.calls >= commit;
        held.append(&mut batch.rows);
        held.sort_unstable_by_key(|row| row.at);
        ids.add(&transaction, &batch.news).map_err(broken)?;
        // Very long ones do not wait.
        let waits = if is_due || batch.words >= MOST_WORDS { 0 } else { HELD };
        let later = held.split_off(held.len().saturating_sub(waits));
        write_rows(&transaction, unread, &held, &ids).map_err(broken)?;
        note_read(&transaction, unread, &batch.read).map_err(broken)?;
        held = later;
        if is_due {
            transaction.commit().map_err(broken)?;
            transaction = db.unchecked_transaction().map_err(broken)?;
            commit = progress.calls + COMMIT;
        }
        watch(*progress);
    }
    write_rows(&transaction, unread, &held, &ids).map_err(broken)?;
    transaction.commit().map_err(broken)
}

/// Notes how far segments were read.
fn note_read(
    db: &Connection,
    unread: &[Unread],
    read: &HashMap<usize, (u64, String)>,
) -> rusqlite::Result<()> {
    let mut segment = db.prepare("UPDATE segments SET read = ?2, directory = ?3 WHERE id = ?1")?;
    for (at, (read, directory)) in read {
        if let Some(unread) = unread.get(*at) {
            segment.execute(params![unread.known.id, signed(*read), directory])?;
        }
    }
    Ok(())
}

/// The numbers of tools and of sessions in the order in which they were read.
#[derive(Debug, Default)]
struct Names {
    tools: HashMap<String, usize>,
    sessions: HashMap<String, usize>,
}

/// Names that got a number.
#[derive(Debug, Default)]
struct News {
    tools: Vec<String>,
    sessions: Vec<NewSession>,
}

#[derive(Debug)]
struct NewSession {
    name: String,
    door: String,
    client: String,
    at: i64,
}

impl Names {
    /// The numbers of a call's tool and session.
    fn of(&mut self, entry: &Entry, news: &mut News) -> (usize, usize) {
        let tool = self.tools.get(&entry.tool).copied().unwrap_or_else(|| {
            news.tools.push(entry.tool.clone());
            self.tools.insert(entry.tool.clone(), self.tools.len());
            self.tools.len() - 1
        });
        let session = self.sessions.get(&entry.session).copied().unwrap_or_else(|| {
            let (name, door, client) =
                (entry.session.clone(), entry.client.door.clone(), entry.client.name.clone());
            news.sessions.push(NewSession { name: name.clone(), door, client, at: signed(entry.began) });
            self.sessions.insert(name, self.sessions.len());
            self.sessions.len() - 1
        });
        (tool, session)
    }
}

/// The ids that the database gave them, by their numbers.
#[derive(Debug, Default)]
struct Ids {
    tools: Vec<i64>,
    sessions: Vec<i64>,
}

impl Ids {
    fn add(&mut self, db: &Connection, news: &News) -> rusqlite::Result<()> {
        for name in &news.tools {
            db.execute("INSERT OR IGNORE INTO tools(name) VALUES(?1)", [name])?;
            self.tools.push(db.query_row("SELECT id FROM tools WHERE name = ?1", [name], |row| row.get(0))?);
        }
        for NewSession { name, door, client, at } in &news.sessions {
            db.execute(
                "INSERT OR IGNORE INTO sessions(name, door, client, first, last, calls, failed, took, tokens_in, tokens_out)
                 VALUES(?1, ?2, ?3, ?4, ?4, 0, 0, 0, 0, 0)",
                params![name, door, client, at],
            )?;
            let id = db.query_row("SELECT id FROM sessions WHERE name = ?1", [name], |row| row.get(0))?;
            self.sessions.push(id);
        }
        Ok(())
    }
}

/// What a batch adds to a session.
#[derive(Default)]
struct Sum {
    first: i64,
    last: i64,
    calls: i64,
    failed: i64,
    took: i64,
    tokens_in: i64,
    tokens_out: i64,
}

/// Writes calls in their order.
fn write_rows(db: &Connection, unread: &[Unread], rows: &[Row], ids: &Ids) -> rusqlite::Result<()> {
    let mut sums: HashMap<i64, Sum> = HashMap::new();
    let mut call = db.prepare(
            "INSERT OR IGNORE INTO calls(at, id, segment, offset, session, tool, took, failed, tokens_in, tokens_out)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
    let mut text = db.prepare("INSERT INTO texts(rowid, words) VALUES(?1, ?2)")?;
    for row in rows {
        let id = |ids: &[i64], number: usize| ids.get(number).copied().unwrap_or_default();
        let (tool, session) = (id(&ids.tools, row.tool), id(&ids.sessions, row.session));
        let segment = unread.get(row.segment).map_or(0, |unread| unread.known.id);
        let at = insert(&mut call, row, segment, session, tool)?;
        text.execute(params![at, row.words])?;
        let sum = sums.entry(session).or_insert_with(|| Sum { first: at, last: at, ..Sum::default() });
        sum.first = sum.first.min(at);
        sum.last = sum.last.max(at.saturating_add(row.took));
        sum.calls += 1;
        sum.failed += i64::from(row.failed);
        sum.took = sum.took.saturating_add(row.took);
        sum.tokens_in = sum.tokens_in.saturating_add(row.tokens_in);
        sum.tokens_out = sum.tokens_out.saturating_add(row.tokens_out);
    }
    let mut session = db.prepare(
            "UPDATE sessions SET first = min(first, ?2), last = max(last, ?3), calls = calls + ?4, failed = failed + ?5,
             took = took + ?6, tokens_in = tokens_in + ?7, tokens_out = tokens_out + ?8 WHERE id = ?1",
        )?;
    for (id, sum) in &sums {
        let Sum { first, last, calls, failed, took, tokens_in, tokens_out } = sum;
        session.execute(params![id, first, last, calls, failed, took, tokens_in, tokens_out])?;
    }
    Ok(())
}

/// Writes a call under its time, or the next one that is free.
fn insert(
    call: &mut Statement<'_>,
    row: &Row,
    segment: i64,
    session: i64,
    tool: i64,
) -> rusqlite::Result<i64> {
    let mut at = row.at;
    loop {
        let Row { id, offset, took, failed, tokens_in, tokens_out, .. } = row;
        let written = call
            .execute(params![at, id, segment, offset, session, tool, took, failed, tokens_in, tokens_out])?;
        if written > 0 {
            return Ok(at);
        }
        at += 1;
    }
}
