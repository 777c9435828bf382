//! The first words of a server about itself on a connection, and ours.

use serde_json::value::RawValue;

use crate::wire::{Era, LATEST_LEGACY, MODERN, Members, Object, own_info, raw};

/// The server's part of the handshake.
#[derive(Clone, Debug)]
pub(crate) struct Hello {
    /// Its era.
    pub(crate) era: Era,
    /// The version settled on.
    pub(crate) version: String,
    /// Its capabilities, as it wrote them.
    pub(crate) capabilities: Box<RawValue>,
    /// Its instructions.
    pub(crate) instructions: Option<String>,
}

impl Default for Hello {
    fn default() -> Self {
        Self::read(Era::Legacy, LATEST_LEGACY.into(), &Members::default())
    }
}

impl Hello {
    /// The parts of a server's answer that are kept.
    pub(super) fn read(era: Era, version: String, members: &Members<'_>) -> Self {
        let capabilities = members.get("capabilities").map_or_else(|| raw("{}".into()), ToOwned::to_owned);
        Self { era, version, capabilities, instructions: members.text("instructions") }
    }

    /// The extensions it declares, as it wrote them.
    pub(crate) fn extensions(&self) -> Option<String> {
        let extensions = Members::of(self.capabilities.get())?.get("extensions")?;
        extensions.get().starts_with('{').then(|| extensions.get().to_owned())
    }

    /// True when the server declares this capability, such as `tools` or `resources.subscribe`.
    pub(crate) fn can(&self, path: &str) -> bool {
        let mut value = &*self.capabilities;
        for step in path.split('.') {
            match Members::of(value.get()).and_then(|members| members.get(step)) {
                Some(next) => value = next,
                None => return false,
            }
        }
        !matches!(value.get(), "false" | "null")
    }
}

/// The facts every modern request carries.
pub(crate) fn modern_meta(meta: &mut Object, capabilities: &str) {
    meta.text("io.modelcontextprotocol/protocolVersion", MODERN)
        .raw("io.modelcontextprotocol/clientInfo", &own_info())
        .raw("io.modelcontextprotocol/clientCapabilities", capabilities);
}

/// The same as metadata of its own.
pub(crate) fn own_meta(capabilities: &str) -> String {
    let mut meta = Object::new();
    modern_meta(&mut meta, capabilities);
    meta.end()
}

/// The names that the acknowledgement of a subscription has under this key.
pub(crate) fn acknowledged(params: &RawValue, key: &str) -> Vec<String> {
    let accepted = Members::of(params.get()).and_then(|members| members.get("notifications"));
    let names = accepted.and_then(|raw| Members::of(raw.get())?.get(key));
    names.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}
