//! The tasks in `tasks.toml`, and the conditions for success.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value};

/// One conversation about one task.
#[derive(Deserialize)]
pub(crate) struct Task {
    pub(crate) name: String,
    /// Words that the replies must contain.
    needs: Vec<String>,
    /// A file, and words that it must contain afterwards.
    pub(crate) leaves: Option<(String, String)>,
    /// The calls of each server, by its name.
    #[serde(flatten)]
    calls: BTreeMap<String, Vec<Call>>,
}

/// A tool, its arguments, and a remark if its failure is part of the task.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Call {
    Succeeds(String, Map<String, Value>),
    Fails(String, Map<String, Value>, TaskOutcome),
}

/// The way a call fails.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TaskOutcome {
    Error,
}

#[derive(Deserialize)]
struct Tasks {
    task: Vec<Task>,
}

pub(crate) fn read() -> Result<Vec<Task>> {
    Ok(toml::from_str::<Tasks>(include_str!("tasks.toml"))?.task)
}

impl Task {
    pub(crate) fn calls(&self, server: &str) -> Result<&[Call]> {
        let calls = self.calls.get(server);
        calls.map(Vec::as_slice).with_context(|| format!("`{}` has no calls for {server}", self.name))
    }

    /// Checks that the replies contain what the agent needs.
    pub(crate) fn judge(&self, replies: &[String]) -> Result<()> {
        for word in &self.needs {
            ensure!(
                replies.iter().any(|reply| reply.contains(word)),
                "`{}`: no reply holds `{word}`: {replies:?}",
                self.name
            );
        }
        Ok(())
    }
}

impl Call {
    pub(crate) fn tool(&self) -> &str {
        match self {
            Self::Succeeds(tool, _) | Self::Fails(tool, ..) => tool,
        }
    }

    pub(crate) fn fails(&self) -> bool {
        matches!(self, Self::Fails(..))
    }

    /// The arguments, with each `{{...}}` replaced by values of earlier replies.
    pub(crate) fn arguments(&self, replies: &[String]) -> Result<Map<String, Value>> {
        let (Self::Succeeds(_, arguments) | Self::Fails(_, arguments, _)) = self;
        let mut arguments = arguments.clone();
        for value in arguments.values_mut() {
            let Some(pattern) = value.as_str().and_then(|text| text.strip_prefix("{{")?.strip_suffix("}}"))
            else {
                continue;
            };
            let pattern = Regex::new(pattern)?;
            let found = replies.iter().rev().find_map(|reply| pattern.find(reply));
            match found {
                Some(found) => *value = found.as_str().into(),
                None => bail!("no reply has what `{pattern}` looks for: {replies:?}"),
            }
        }
        Ok(arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economy::EconomyServer;

    #[test]
    fn every_server_has_calls_for_every_task() {
        let tasks = read().expect("the tasks are valid");
        assert_eq!(tasks.len(), 25);
        for task in &tasks {
            for server in EconomyServer::ALL {
                assert!(!task.calls(server.name()).expect("calls").is_empty(), "{}", task.name);
            }
        }
    }

    #[test]
    fn an_argument_is_taken_from_what_was_said() {
        let arguments = serde_json::json!({"plan": "{{[0-9a-f]{4}}}", "path": "a"});
        let call = Call::Succeeds("rename".into(), arguments.as_object().expect("an object").clone());
        let said = ["plan=\"beef\"".to_owned()];
        assert_eq!(call.arguments(&said).expect("found")["plan"], "beef");
        assert!(call.arguments(&[]).is_err());
    }
}
