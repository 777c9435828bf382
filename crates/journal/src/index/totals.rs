//! Sums: sessions, and what tools and sessions took of time and tokens.

use std::io;

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
