//! The address of a model.

use std::{fmt, time::Duration};

/// The longest silence of a server: before it answers, and between two pieces. Models that think
/// are silent for minutes.
const PATIENCE: Duration = Duration::from_secs(300);
/// The first pause before a request is sent again; each one after it is twice as long.
const PAUSE: Duration = Duration::from_millis(500);

/// The address of a model.
#[derive(Clone)]
pub struct Place {
    /// The address of the API, such as `http://127.0.0.1:8080/v1`.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// The environment variable that holds the key, where one is needed.
    pub key_env: Option<String>,
    /// The longest silence of the server.
    pub patience: Duration,
    /// The first pause before a request is sent again.
    pub pause: Duration,
}

impl Place {
    /// This model at this address, without a key.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let (base_url, model) = (base_url.into(), model.into());
        Self { base_url, model, key_env: None, patience: PATIENCE, pause: PAUSE }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An address may hold a password.
        f.debug_struct("Place")
            .field("model", &self.model)
            .field("key_env", &self.key_env)
            .finish_non_exhaustive()
    }
}
