//! The arguments of the rows. One shape serves every row that takes the same.

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::security::RawPath;

/// A file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfFile {
    pub(super) path: RawPath,
}

/// A file, and how much of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfFileFully {
    pub(super) path: RawPath,
    /// Also variables and fields.
    #[serde(default)]
    pub full: bool,
    #[serde(default)]
    #[schemars(with = "i64")]
    pub(super) from_line: Option<usize>,
}

/// A file, from a line on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfFileFrom {
    pub(super) path: RawPath,
    #[serde(default)]
    #[schemars(with = "i64")]
    pub(super) from_line: Option<usize>,
}

/// A symbol in a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfSymbol {
    pub(super) path: RawPath,
    pub(super) name: String,
}

/// New source for a symbol.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewContent {
    pub(super) path: RawPath,
    pub(super) name: String,
    pub(super) new_content: String,
    #[serde(default)]
    pub(super) dry_run: bool,
}

/// A new signature for a function.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSignature {
    pub(super) path: RawPath,
    pub(super) name: String,
    /// From `def` or `class` to the colon.
    pub new_signature: String,
    #[serde(default)]
    pub(super) dry_run: bool,
}

/// A new declaration for a variable.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDeclaration {
    pub(super) path: RawPath,
    pub(super) name: String,
    /// The whole new statement.
    pub new_declaration: String,
    #[serde(default)]
    pub(super) dry_run: bool,
}

/// A symbol to take away.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Removal {
    pub(super) path: RawPath,
    pub(super) name: String,
    #[serde(default)]
    pub(super) dry_run: bool,
}

/// Where new code goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
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
    pub(super) path: RawPath,
    pub(super) name: String,
    pub(super) new_content: String,
    /// Default bottom.
    #[serde(default)]
    pub anchor_type: AnchorType,
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) anchor_symbol: Option<String>,
    #[serde(default)]
    pub(super) dry_run: bool,
}

/// A definition that goes elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Move {
    pub(super) src_path: RawPath,
    pub(super) dest_path: RawPath,
    pub(super) name: String,
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) dest_name: Option<String>,
    #[serde(default)]
    pub(super) anchor_type: AnchorType,
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) anchor_symbol: Option<String>,
    /// Directory searched for uses; seldom another than the project, so that nobody is told of this.
    #[serde(default = "project")]
    #[schemars(skip)]
    pub within: RawPath,
    #[serde(default)]
    pub(super) dry_run: bool,
}

/// The path of a project that is looked through unless another one is given.
pub(super) fn project() -> RawPath {
    RawPath::new(".")
}

/// Lines to mark as a region.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    pub(super) path: RawPath,
    pub(super) start_line: usize,
    pub(super) end_line: usize,
    pub(super) region_name: String,
    #[serde(default)]
    pub(super) dry_run: bool,
}
