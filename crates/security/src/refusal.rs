//! How a path is refused: which layer said no, why, and what would have been allowed.

use std::{fmt, io, path::PathBuf};

use rustix::io::Errno;

use crate::{Kind, Missing, RawPath, built_in::is_built_in};

/// The layer that refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Layer 1: no root or tracked file covers the path.
    Allowlist,
    /// Layer 2: the words of the path are not acceptable, or a rule protects the name.
    Validate,
    /// Layer 3: following the path leads somewhere it may not go.
    Resolve,
}

impl Layer {
    /// The number users know the layer by.
    pub fn number(self) -> u8 {
        match self {
            Self::Allowlist => 1,
            Self::Validate => 2,
            Self::Resolve => 3,
        }
    }

    /// The layer's name, as the documentation spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allowlist => "allowlist",
            Self::Validate => "validate",
            Self::Resolve => "resolve",
        }
    }
}

/// Why a path was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Nothing was typed.
    #[error("the path is empty")]
    Empty,
    /// A NUL or another control character.
    #[error("the path contains a control character")]
    ControlCharacter,
    /// Longer than any file system here accepts.
    #[error("the path is longer than {limit} bytes, or one of its names is longer than 255")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// `C:\…`, `\\server\share`, `//server/share`.
    #[error("drive letters and network shares are not paths of this project")]
    ForeignForm,
    /// `file:///…`
    #[error("it is a URL, not a path")]
    Url,
    /// More `..` than names before them.
    #[error("`..` leads out of the allowed directory")]
    Traversal,
    /// Absolute, and below no root.
    #[error("it is outside every allowed directory")]
    Outside,
    /// A protected name.
    #[error("the name is protected by the {} `{rule}`", kind_of(rule))]
    Protected {
        /// The pattern that matched.
        rule: String,
    },
    /// A name below the granted one that a permission rule keeps from this call.
    #[error("the {rule} keeps it from this call")]
    Ruled {
        /// The rule, and where it stands.
        rule: String,
    },
    /// Readable, but not to be changed.
    #[error("it is read-only by the rule `{rule}`")]
    ReadOnly {
        /// The pattern that matched.
        rule: String,
    },
    /// It has a part in which configuration Tectum reads.
    #[error("it configures Tectum, or leads to a file that does, and no tool changes those")]
    Configures,
    /// A link on the way, where links are switched off.
    #[error("a symbolic link is on the way, and `workspace.symlinks` is \"never\"")]
    Link,
    /// A link that points out of the root, or is written as an absolute path.
    #[error("a symbolic link on the way leaves the allowed directory (or is written as an absolute path)")]
    Escapes,
    /// Too many links.
    #[error("symbolic links form a loop")]
    Loop,
    /// Other names share this file's content.
    #[error("the file has other hard links, so changing it here would split or alter them")]
    HardLinked,
    /// A hard link to a protected file.
    #[error("the file has several names and one of them is protected, or not all of them can be seen")]
    ProtectedAlias,
    /// A link to nothing, where something was to be written.
    #[error("it is a symbolic link to something that does not exist; write to that name itself")]
    Dangling,
    /// A root, or a path that ends in `..`, where a name was to be changed.
    #[error(
        "it names no entry that could be changed: it is an allowed directory itself, or `..` stands where a name is needed"
    )]
    Nameless,
    /// A slash, or a slash and a dot, after a name that is no directory.
    #[error("it ends with a slash or a dot, so it names a directory, and there is none of that name")]
    Slash,
    /// The tree changed under the call too often to follow.
    #[error("the path kept changing while it was opened")]
    Unstable,
}

impl Reason {
    /// True where the path leads out of what is allowed. Every other reason is about a path inside, and
    /// the allowed directories would explain nothing.
    fn is_outside(&self) -> bool {
        matches!(self, Self::ForeignForm | Self::Traversal | Self::Outside | Self::Link | Self::Escapes)
    }
}

/// A refusal. Its text names layer and reason, and the allowed directories where the path leads out
/// of them; never content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The layer that refused.
    pub layer: Layer,
    /// Why.
    pub reason: Reason,
    /// The path that was asked for.
    pub path: RawPath,
    /// The directories that are allowed; empty where the caller is not to know.
    pub bases: Vec<PathBuf>,
}

/// The words by which a person finds the rule.
fn kind_of(rule: &str) -> &'static str {
    if is_built_in(rule) { "built-in rule" } else { "deny rule" }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Reason::Protected { rule } = &self.reason {
            return write!(f, "`{}` is protected ({} `{rule}`)", self.path, kind_of(rule));
        }
        if !self.reason.is_outside() {
            if self.reason != Reason::Empty {
                write!(f, "{}: ", self.path)?;
            }
            return write!(f, "{} (layer {}, {})", self.reason, self.layer.number(), self.layer.name());
        }
        write!(
            f,
            "path not in allowlist: {} (layer {}, {}: {})",
            self.path,
            self.layer.number(),
            self.layer.name(),
            self.reason
        )?;
        for (i, base) in self.bases.iter().enumerate() {
            f.write_str(if i == 0 { ". Allowed base directories: " } else { ", " })?;
            write!(f, "{}", base.display())?;
        }
        Ok(())
    }
}

impl std::error::Error for Denied {}

/// A failure of a path that was allowed.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Nothing there.
    #[error("{0}")]
    NotFound(Missing),
    /// Something there already.
    #[error("already exists: {0}")]
    Exists(String),
    /// A file was expected.
    #[error("not a file: {path} is a {kind}")]
    NotAFile {
        /// The path.
        path: String,
        /// Its kind.
        kind: Kind,
    },
    /// A directory was expected.
    #[error("not a directory: {0}")]
    NotADirectory(String),
    /// A directory was to be removed and holds entries.
    #[error("directory not empty: {0}")]
    NotEmpty(String),
    /// A directory was to be moved to a place below itself.
    #[error("cannot move {path} into itself: {target} lies below it")]
    IntoItself {
        /// The directory.
        path: String,
        /// The place.
        target: String,
    },
    /// A directory was to take the name of something that is none.
    #[error("cannot move the directory {path} to {target}: what stands there is not a directory")]
    OverFile {
        /// The directory.
        path: String,
        /// The name.
        target: String,
    },
    /// The file is larger than the caller can take.
    #[error("{path} is too large: {size} bytes, the limit is {limit}")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// Somebody else changed it between reading and writing.
    #[error("{0} changed while it was being edited")]
    Changed(String),
    /// Its own permissions, or those of its file system, forbid us to write it.
    #[error("{0} is write-protected: its permissions do not let us write it")]
    WriteProtected(String),
    /// A new file in its place would have another owner or group, and we may not give it those.
    #[error(
        "{path} belongs to user {user} and group {group}, and the system does not let us give them to a new file in its place"
    )]
    OwnedByOthers {
        /// The path.
        path: String,
        /// The number of its owner.
        user: u32,
        /// The number of its group.
        group: u32,
    },
    /// Another process holds the directory's write lock.
    #[error("another process is writing in the directory of {0}")]
    Busy(String),
    /// Nobody waits for the call any more.
    #[error("the call was cancelled while it waited for the directory of {0}; nothing was changed")]
    Abandoned(String),
    /// The change was made in part, or could not be taken back as a whole.
    #[error("{cause}; {left}")]
    Unfinished {
        /// The failure.
        cause: Box<PathError>,
        /// The state that is left.
        left: String,
    },
    /// A refusal that only showed on opening.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The system said no.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
}

impl PathError {
    /// A system error as a sentence about a path.
    pub(crate) fn from_errno(path: String, errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound(Missing::plain(path)),
            Errno::EXIST => Self::Exists(path),
            Errno::NOTDIR => Self::NotADirectory(path),
            Errno::NOTEMPTY => Self::NotEmpty(path),
            Errno::ISDIR => Self::NotAFile { path, kind: Kind::Directory },
            // What opening a socket says, on one system or another.
            Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => Self::NotAFile { path, kind: Kind::Socket },
            errno => Self::Io { path, source: errno.into() },
        }
    }
}
