//! The state that all cases about gateways share, and a gateway that runs.

use std::time::Duration;

use anyhow::{Context, Result};

use super::client::{Address, Client};
use super::front::{Front, Setting};
use super::process::{self, Process};
use crate::lineup::{Grounds, Launch};

/// The state that all cases share.
pub(super) struct GatewayBench {
    pub(super) grounds: Grounds,
    pub(super) fronts: Vec<Front>,
    pub(super) slice: Duration,
    pub(super) rounds: usize,
}

/// A server over HTTP that accepts connections.
pub(super) struct Running {
    pub(super) address: Address,
    pub(super) launch: Launch,
    pub(super) process: Process,
}

impl GatewayBench {
    /// The gateways of a case that this run includes.
    pub(super) fn contenders<'a>(&'a self, fronts: &'a [Front]) -> impl Iterator<Item = Front> + 'a {
        let wanted = |front: &Front| {
            let present = self.grounds.tectum.is_some() || *front != Front::Tectum;
            present && (self.fronts.is_empty() || self.fronts.contains(front))
        };
        fronts.iter().copied().filter(wanted)
    }

    pub(super) fn start(&self, setting: Setting) -> Result<Running> {
        let port = process::free_port()?;
        let launch = setting.launch(&self.grounds, Some(port))?;
        let process = Process::start(&launch, port)?;
        Ok(Running { address: setting.address(port), launch, process })
    }
}

impl Running {
    /// A client with one session, and the version of the gateway.
    pub(super) fn client(&self) -> Result<(Client, String)> {
        let mut client = Client::new(&self.address)?;
        let own = self.checked(client.open())?;
        Ok((client, self.launch.version.map(str::to_owned).unwrap_or(own)))
    }

    /// Adds to an error the name of the server, and its last output.
    pub(super) fn checked<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.with_context(|| format!("{}{}", self.launch.name, self.launch.last_words()))
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.pid()
    }
}
