//! The clients with hooks, as people type them.

use tectum::client_hooks::HookShape;

/// A client, or which there are.
pub(super) fn shape(name: &str) -> Result<HookShape, String> {
    let names = HookShape::ALL.map(HookShape::name).join(", ");
    HookShape::named(name).ok_or_else(|| format!("clients with hooks: {names}"))
}
