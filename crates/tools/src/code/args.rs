//! What the rows take. One shape serves every row that takes the same.

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::security::RawPath;

/// A file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfFile {
    /// The file.
    pub path: RawPath,
}

/// A file, and how much of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfFileFully {
    /// Source file.
    pub path: RawPath,
    /// Also variables, constants and fields. Default false.
    #[serde(default)]
    pub full: bool,
}

/// A symbol in a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfSymbol {
    /// Source file.
    pub path: RawPath,
    /// Symbol: `name`, `Class.method`, `A::f(int)`, `name#2`.
    pub name: String,
}

/// New source for a symbol.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewContent {
    /// Source file.
    pub path: RawPath,
    /// Symbol: `name`, `Class.method`, `A::f(int)`, `name#2`.
    pub name: String,
    /// The new source. Its indentation is fitted to the place.
    pub new_content: String,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// A new signature for a function.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSignature {
    /// Source file.
    pub path: RawPath,
    /// Function or class.
    pub name: String,
    /// From `def` or `class` to the colon.
    pub new_signature: String,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// A new declaration for a variable.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDeclaration {
    /// Source file.
    pub path: RawPath,
    /// `NAME` or `Class.name`.
    pub name: String,
    /// The whole new statement.
    pub new_declaration: String,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// A symbol to take away.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Removal {
    /// Source file.
    pub path: RawPath,
    /// Symbol: `name`, `Class.method`, `A::f(int)`, `name#2`.
    pub name: String,
    /// Only show what would change.
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
    /// Source file.
    pub path: RawPath,
    /// Name of the new definition; must be new there.
    pub name: String,
    /// Its source. Its indentation is fitted to the place.
    pub new_content: String,
    /// The first four need anchor_symbol; top is after the imports. Default bottom.
    #[serde(default)]
    pub anchor_type: AnchorType,
    /// The symbol the anchor is about.
    #[serde(default)]
    pub anchor_symbol: Option<String>,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// A definition that goes elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// The file it is in.
    pub src_path: RawPath,
    /// The file it goes to; may be the same, or new.
    pub dest_path: RawPath,
    /// Symbol: `name`, `Class.method`, `name#2`.
    pub name: String,
    /// Its name there; the same when absent.
    #[serde(default)]
    pub dest_name: Option<String>,
    /// The first four need anchor_symbol; top is after the imports. Default bottom.
    #[serde(default)]
    pub anchor_type: AnchorType,
    /// The symbol the anchor is about.
    #[serde(default)]
    pub anchor_symbol: Option<String>,
    /// Directory to look through for uses; the project when absent.
    #[serde(default = "project")]
    pub within: RawPath,
    /// Only show what would change.
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
    /// Source file.
    pub path: RawPath,
    /// First line, from 1.
    pub start_line: usize,
    /// Last line, included.
    pub end_line: usize,
    /// The region's name.
    pub region_name: String,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}
