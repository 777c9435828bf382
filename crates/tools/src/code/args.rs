//! What the rows take. One shape serves every row that takes the same.

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::security::RawPath;

/// A file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfFile {
    /// File.
    pub path: RawPath,
}

/// A file, and how much of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfFileFully {
    /// File.
    pub path: RawPath,
    /// Also variables and fields.
    #[serde(default)]
    pub full: bool,
    /// First line.
    #[serde(default)]
    #[schemars(with = "i64")]
    pub from_line: Option<usize>,
}

/// A file, from a line on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfFileFrom {
    /// File.
    pub path: RawPath,
    /// First line.
    #[serde(default)]
    #[schemars(with = "i64")]
    pub from_line: Option<usize>,
}

/// A symbol in a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfSymbol {
    /// File.
    pub path: RawPath,
    /// `f`, `C.f`, `f(int)`, `f#2`.
    pub name: String,
}

/// New source for a symbol.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewContent {
    /// File.
    pub path: RawPath,
    /// `f`, `C.f`, `f(int)`, `f#2`.
    pub name: String,
    /// New source.
    pub new_content: String,
    /// Preview.
    #[serde(default)]
    pub dry_run: bool,
}

/// A new signature for a function.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSignature {
    /// File.
    pub path: RawPath,
    /// Function or class.
    pub name: String,
    /// From `def` or `class` to the colon.
    pub new_signature: String,
    /// Preview.
    #[serde(default)]
    pub dry_run: bool,
}

/// A new declaration for a variable.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDeclaration {
    /// File.
    pub path: RawPath,
    /// `NAME` or `Class.name`.
    pub name: String,
    /// The whole new statement.
    pub new_declaration: String,
    /// Preview.
    #[serde(default)]
    pub dry_run: bool,
}

/// A symbol to take away.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Removal {
    /// File.
    pub path: RawPath,
    /// `f`, `C.f`, `f(int)`, `f#2`.
    pub name: String,
    /// Preview.
    #[serde(default)]
    pub dry_run: bool,
}

/// Where new code goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum AnchorType {
    /// Before a symbol.
    Before,
    /// After a symbol.
    After,
    /// At the start of a class or other type.
    InsideStart,
    /// At the end of a class or other type.
    InsideEnd,
    /// After imports and the module's docstring.
    Top,
    /// At the end of the file.
    #[default]
    Bottom,
}

/// New code at an anchor.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Addition {
    /// File.
    pub path: RawPath,
    /// Its name.
    pub name: String,
    /// Its source.
    pub new_content: String,
    /// Default bottom.
    #[serde(default)]
    pub anchor_type: AnchorType,
    /// For before, after, inside.
    #[serde(default)]
    #[schemars(with = "String")]
    pub anchor_symbol: Option<String>,
    /// Preview.
    #[serde(default)]
    pub dry_run: bool,
}

/// A definition that goes elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// File.
    pub src_path: RawPath,
    /// May be new.
    pub dest_path: RawPath,
    /// `f`, `C.f`, `f#2`.
    pub name: String,
    /// New name.
    #[serde(default)]
    #[schemars(with = "String")]
    pub dest_name: Option<String>,
    /// Default bottom.
    #[serde(default)]
    pub anchor_type: AnchorType,
    /// For before, after, inside.
    #[serde(default)]
    #[schemars(with = "String")]
    pub anchor_symbol: Option<String>,
    /// Directory searched for uses; seldom another than the project, so that nobody is told of this.
    #[serde(default = "project")]
    #[schemars(skip)]
    pub within: RawPath,
    /// Preview.
    #[serde(default)]
    pub dry_run: bool,
}

/// Where a project is looked through unless said otherwise.
pub(super) fn project() -> RawPath {
    RawPath::new(".")
}

/// Lines to mark as a region.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// File.
    pub path: RawPath,
    /// First line, from 1.
    pub start_line: usize,
    /// Last line, included.
    pub end_line: usize,
    /// The region's name.
    pub region_name: String,
    /// Preview.
    #[serde(default)]
    pub dry_run: bool,
}
