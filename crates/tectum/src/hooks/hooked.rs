//! The subjects of the hook API: the running tools, servers, observers and policy.

use std::sync::Arc;

use tectum_core::Tectum;
use tectum_journal::Writer;
use tectum_peers::{federation::Federation, observe::Observers};

use crate::{reload, telemetry::HouseTelemetry};

/// The subjects of its reports.
#[derive(Clone, Debug)]
pub struct Hooks {
    pub(super) house: Tectum,
    pub(super) federation: Arc<Federation>,
    pub(super) observers: Option<Arc<Observers>>,
    pub(super) journal: Option<Writer>,
    pub(super) policy: reload::Shared,
    pub(super) telemetry: HouseTelemetry,
}

impl Hooks {
    /// The API of this house and its servers, of its observers if calls are copied, of its
    /// policy, and its figures.
    /// What is asked of it is recorded where calls are.
    pub fn new(
        house: Tectum,
        federation: Arc<Federation>,
        observers: Option<Arc<Observers>>,
        journal: Option<Writer>,
        policy: reload::Shared,
        telemetry: HouseTelemetry,
    ) -> Self {
        Self { house, federation, observers, journal, policy, telemetry }
    }
}
