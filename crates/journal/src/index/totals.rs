//! Sums: sessions, and what tools and sessions took of time and tokens.

use std::{collections::HashMap, io};

use rusqlite::params;

use super::{Index, row::signed};

/// One session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its name.
    pub session: String,
    /// The door that its client came through.
    pub door: String,
    /// The name of its client; may be empty.
    pub client: String,
    /// The begin of its first call, in microseconds since 1970.
    pub first: u64,
    /// The end of its last call.
    pub last: u64,
    /// Its sums.
    pub total: Total,
}

/// The numbers of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallNumbers {
    /// When it began, in microseconds since 1970.
    pub at: u64,
    /// How long it took, in microseconds.
    pub took: u64,
    /// Whether it failed.
    pub failed: bool,
    /// The tokens of its arguments.
    pub tokens_in: u64,
    /// The tokens of its result.
    pub tokens_out: u64,
    /// Its tool, as a number of this index.
    pub tool: i64,
}

/// Sums over calls of one tool, or of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// The tool or session.
    pub name: String,
    /// The calls.
    pub calls: u64,
    /// The calls that failed.
    pub failed: u64,
    /// The time they took, in microseconds.
    pub took: u64,
    /// The longest of them.
    pub longest: u64,
    /// The tokens of their arguments.
    pub tokens_in: u64,
    /// The tokens of their results.
    pub tokens_out: u64,
}

impl Index {
    /// The sessions with calls in a stretch of time, the latest first.
    pub fn sessions(&mut self, from: u64, to: u64, most: usize) -> io::Result<Vec<SessionRow>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.ask(|db| {
            let mut select = db.prepare(
                "SELECT name, door, client, first, last, calls, failed, took, tokens_in, tokens_out FROM sessions
                 WHERE last >= ?1 AND first < ?2 ORDER BY last DESC, id DESC LIMIT ?3",
            )?;
            let rows = select.query_map(params![signed(from), signed(to), most], session)?;
            rows.collect()
        })
    }

    /// Sessions before a place in the order of [`Index::sessions`], with this text in the name of the session or its
    /// client.
    pub fn sessions_before(
        &mut self,
        before: Option<(u64, &str)>,
        text: &str,
        most: usize,
    ) -> io::Result<Vec<SessionRow>> {
        let (last, name) = before.unwrap_or((u64::MAX, ""));
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.ask(|db| {
            let mut select = db.prepare(
                "SELECT name, door, client, first, last, calls, failed, took, tokens_in, tokens_out FROM sessions
                 WHERE (last < ?1 OR (last = ?1 AND name < ?2)) AND (?3 = '' OR instr(lower(name || ' ' || client || ' ' || door), lower(?3)))
                 ORDER BY last DESC, name DESC LIMIT ?4",
            )?;
            let rows = select.query_map(params![signed(last), name, text, most], session)?;
            rows.collect()
        })
    }

    /// How many calls are known.
    pub fn calls_known(&mut self) -> io::Result<u64> {
        self.ask(|db| {
            db.query_row("SELECT coalesce(sum(calls), 0) FROM sessions", [], |row| row.get::<_, i64>(0))
        })
        .map(i64::cast_unsigned)
    }

    /// The calls of a stretch of time in the order they began, of one session or of all: numbers only.
    pub fn numbers(&mut self, from: u64, to: u64, session: Option<&str>) -> io::Result<Vec<CallNumbers>> {
        self.ask(|db| {
            let mut select = db.prepare(
                "SELECT at, took, failed, tokens_in, tokens_out, tool FROM calls WHERE at >= ?1 AND at < ?2
                 AND (?3 IS NULL OR session = (SELECT id FROM sessions WHERE name = ?3)) ORDER BY at",
            )?;
            let rows = select.query_map(params![signed(from), signed(to), session], |row| {
                let number = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
                Ok(CallNumbers {
                    at: number(0)?,
                    took: number(1)?,
                    failed: number(2)? != 0,
                    tokens_in: number(3)?,
                    tokens_out: number(4)?,
                    tool: row.get(5)?,
                })
            })?;
            rows.collect()
        })
    }

    /// The names of the tools by the numbers they have in [`CallNumbers`].
    pub fn tool_names(&mut self) -> io::Result<HashMap<i64, String>> {
        self.ask(|db| {
            let mut select = db.prepare("SELECT id, name FROM tools")?;
            let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    /// The last session of a client. One that somebody made himself with a command of one call counts only
    /// where there is no other.
    pub fn last_session(&mut self) -> io::Result<Option<SessionRow>> {
        self.ask(|db| {
            let mut select = db.prepare(
                "SELECT name, door, client, first, last, calls, failed, took, tokens_in, tokens_out FROM sessions
                 ORDER BY door IN ('cli', 'undo'), last DESC, id DESC LIMIT 1",
            )?;
            let mut rows = select.query_map([], session)?;
            rows.next().transpose()
        })
    }

    /// The sessions whose names begin so; the one that is called so is the only one.
    pub fn sessions_named(&mut self, name: &str) -> io::Result<Vec<SessionRow>> {
        let mut found: Vec<SessionRow> = self.ask(|db| {
            let mut select = db.prepare(
                "SELECT name, door, client, first, last, calls, failed, took, tokens_in, tokens_out FROM sessions
                 WHERE substr(name, 1, length(?1)) = ?1 ORDER BY last DESC, id DESC LIMIT 20",
            )?;
            let rows = select.query_map([name], session)?;
            rows.collect()
        })?;
        if let Some(at) = found.iter().position(|row| row.session == name) {
            found = vec![found.swap_remove(at)];
        }
        Ok(found)
    }

    /// Sums by tool of the calls in a stretch of time, of one session or of all; most calls first.
    pub fn by_tool(&mut self, from: u64, to: u64, session: Option<&str>) -> io::Result<Vec<Total>> {
        self.totals("tools", "tool", from, to, session)
    }

    /// The same by session.
    pub fn by_session(&mut self, from: u64, to: u64, session: Option<&str>) -> io::Result<Vec<Total>> {
        self.totals("sessions", "session", from, to, session)
    }

    fn totals(
        &mut self,
        table: &'static str,
        column: &'static str,
        from: u64,
        to: u64,
        session: Option<&str>,
    ) -> io::Result<Vec<Total>> {
        self.ask(|db| {
            let mut select = db.prepare(&format!(
                "SELECT n.name, count(*), sum(c.failed), sum(c.took), max(c.took), sum(c.tokens_in), sum(c.tokens_out)
                 FROM calls c JOIN {table} n ON n.id = c.{column}
                 WHERE c.at >= ?1 AND c.at < ?2 AND (?3 IS NULL OR c.session = (SELECT id FROM sessions WHERE name = ?3))
                 GROUP BY n.id ORDER BY count(*) DESC, n.name"
            ))?;
            let rows = select.query_map(params![signed(from), signed(to), session], |row| {
                let number = |at: usize| row.get::<_, i64>(at).map(|number| number.cast_unsigned());
                Ok(Total {
                    name: row.get(0)?,
                    calls: number(1)?,
                    failed: number(2)?,
                    took: number(3)?,
                    longest: number(4)?,
                    tokens_in: number(5)?,
                    tokens_out: number(6)?,
                })
            })?;
            rows.collect()
        })
    }
}

fn session(row: &rusqlite::Row<'_>) -> rusqlite::Result<SessionRow> {
    let number = |at: usize| row.get::<_, i64>(at).map(|number| number.cast_unsigned());
    let name: String = row.get(0)?;
    Ok(SessionRow {
        total: Total {
            name: name.clone(),
            calls: number(5)?,
            failed: number(6)?,
            took: number(7)?,
            longest: 0,
            tokens_in: number(8)?,
            tokens_out: number(9)?,
        },
        session: name,
        door: row.get(1)?,
        client: row.get(2)?,
        first: number(3)?,
        last: number(4)?,
    })
}
