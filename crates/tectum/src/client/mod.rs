//! A client of the hook API: asks a running house for its state, steers its console, and asks its person.

mod blocking;
mod find;
mod wire;

use std::{path::Path, time::Duration};

use serde_json::{Map, Value, json};
use tectum_core::{Fault, FaultKind};
use tokio::time::{Instant, sleep};

use self::wire::HouseDoor;
pub use self::{blocking::BlockingApiHookClient, find::USUAL_URL};
use crate::client_hooks::PRE_TOOL_USE;

/// The longest wait between two tries.
const LONGEST_DELAY: Duration = Duration::from_secs(2);
/// The time for an answer: the house itself gives up after 60 s.
const PATIENCE: Duration = Duration::from_secs(65);
/// The first pause between two looks of a method that waits for something.
const POLL: Duration = Duration::from_millis(50);

/// A client of one house. It tries again, with growing pauses, while the house cannot be reached.
///
/// ```ignore
/// let client = tectum::client::ApiHookClient::new();
/// if client.wait_for_server(Duration::from_secs(3)).await {
///     println!("{}", client.get_mma_status().await?);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct ApiHookClient {
    door: HouseDoor,
    /// How often a request that reached nobody is sent again.
    pub max_retries: u32,
    /// The pause before the first of these; each later one is twice as long.
    pub retry_delay: Duration,
}

impl Default for ApiHookClient {
    fn default() -> Self {
        Self::new()
    }
}

impl ApiHookClient {
    /// A client of the house that `TECTUM_URL` names, that serves this directory, or that listens at the
    /// usual address; with the token of this user.
    pub fn new() -> Self {
        let usual = || HouseDoor::at(USUAL_URL, find::token(find::state_directory().as_deref())).ok();
        let door = find::serving(Path::new(".")).or_else(usual);
        Self::of(door.unwrap_or_default())
    }

    /// A client of the house at this address (`http://…` or `unix:…`); with the token of this user.
    pub fn at(base_url: &str) -> Result<Self, Fault> {
        let token = find::token(find::state_directory().as_deref());
        HouseDoor::at(base_url, token).map(Self::of)
    }

    /// A client of the house that serves a directory; `None` if nobody listens for it.
    pub fn serving(directory: &Path) -> Option<Self> {
        find::serving(directory).map(Self::of)
    }

    fn of(door: HouseDoor) -> Self {
        Self { door, max_retries: 5, retry_delay: Duration::from_millis(200) }
    }

    /// The same with another token.
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        self.door.token = Some(token.into());
        self
    }

    /// The address of the house.
    pub fn base_url(&self) -> String {
        self.door.url()
    }

    /// Waits until the house answers; false if it did not within this time.
    pub async fn wait_for_server(&self, timeout: Duration) -> bool {
        let ready = async || self.once("GET", "/status", None, Some(timeout)).await.is_ok().then_some(());
        until(timeout, ready).await.is_some()
    }

    /// Sends a request and returns the JSON of its answer. One that can have had an effect is not sent
    /// twice.
    pub async fn make_request(
        &self,
        method: &str,
        endpoint: &str,
        data: Option<&Value>,
        timeout: Option<Duration>,
    ) -> Result<Value, Fault> {
        let mut delay = self.retry_delay;
        for _ in 0..self.max_retries {
            match self.once(method, endpoint, data, timeout).await {
                Err(failed) if failed.unsent => sleep(delay).await,
                done => return done.map_err(|failed| failed.fault),
            }
            delay = (delay * 2).min(LONGEST_DELAY);
        }
        self.once(method, endpoint, data, timeout).await.map_err(|failed| failed.fault)
    }

    async fn once(
        &self,
        method: &str,
        endpoint: &str,
        data: Option<&Value>,
        timeout: Option<Duration>,
    ) -> Result<Value, wire::Failed> {
        let body = data.map(|data| data.to_string().into());
        let (status, body) = self.door.send(method, endpoint, body, timeout).await?;
        let fault = match serde_json::from_slice(&body) {
            Ok(answer) if (200..300).contains(&status) => return Ok(answer),
            Err(error) if (200..300).contains(&status) => Fault::new(
                FaultKind::Upstream,
                format!("{method} {endpoint} was not answered with JSON: {error}"),
            ),
            _ => wire::refusal(status, &body),
        };
        Err(wire::Failed { fault, unsent: false })
    }

    async fn get(&self, endpoint: &str) -> Result<Value, Fault> {
        self.make_request("GET", endpoint, None, Some(PATIENCE)).await
    }

    async fn post(&self, endpoint: &str, data: &Value) -> Result<Value, Fault> {
        self.make_request("POST", endpoint, Some(data), Some(PATIENCE)).await
    }

    /// Whether it runs.
    pub async fn get_status(&self) -> Result<Value, Fault> {
        self.get("/status").await
    }

    /// The project and its settings.
    pub async fn get_project(&self) -> Result<Value, Fault> {
        self.get("/api/project").await
    }

    /// Replaces the project's settings.
    pub async fn post_project(&self, project: &Value) -> Result<Value, Fault> {
        self.post("/api/project", &json!({ "project": project })).await
    }

    /// The entries of the discussion.
    pub async fn get_session(&self) -> Result<Value, Fault> {
        self.get("/api/session").await
    }

    /// Replaces the entries of the discussion.
    pub async fn post_session(&self, entries: &Value) -> Result<Value, Fault> {
        self.post("/api/session", &json!({ "session": { "entries": entries } })).await
    }

    /// The whole state of the orchestration.
    pub async fn get_mma_status(&self) -> Result<Value, Fault> {
        self.get("/api/gui/mma_status").await
    }

    /// The figures of the host's user interface.
    pub async fn get_performance(&self) -> Result<Value, Fault> {
        self.get("/api/performance").await
    }

    /// The value of a settable field; null if there is no such field.
    pub async fn get_value(&self, item: &str) -> Result<Value, Fault> {
        let mut answer = self.get(&format!("/api/gui/value/{}", escaped(item))).await?;
        Ok(answer["value"].take())
    }

    /// The same as text.
    pub async fn get_text_value(&self, item_tag: &str) -> Result<Option<String>, Fault> {
        Ok(match self.get_value(item_tag).await? {
            Value::Null => None,
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        })
    }

    /// Takes the events that came since the last time.
    pub async fn get_events(&self) -> Result<Vec<Value>, Fault> {
        match self.get("/api/events").await?["events"].take() {
            Value::Array(events) => Ok(events),
            _ => Ok(Vec::new()),
        }
    }

    /// Whether an indicator is shown: `thinking`, `live` or `prior`, also by the names of its widgets.
    pub async fn get_indicator_state(&self, tag: &str) -> Result<Value, Fault> {
        let diagnostics = self.get("/api/gui/diagnostics").await?;
        let shown = diagnostics[indicator(tag)].as_bool().unwrap_or_default();
        Ok(json!({ "tag": tag, "shown": shown }))
    }

    /// The status of a node: its field if there is one, else the indicator of that name.
    pub async fn get_node_status(&self, node_tag: &str) -> Result<Value, Fault> {
        match self.get_value(node_tag).await? {
            Value::Null => Ok(self.get("/api/gui/diagnostics").await?[indicator(node_tag)].take()),
            status => Ok(status),
        }
    }

    /// Sets a settable field.
    pub async fn set_value(&self, item: &str, value: &Value) -> Result<Value, Fault> {
        self.post_gui(&json!({ "action": "set_value", "item": item, "value": value })).await
    }

    /// Clicks a button; `user_data` is what it is handed, if not null.
    pub async fn click(&self, item: &str, user_data: &Value) -> Result<Value, Fault> {
        let mut task =
            Map::from_iter([("action".to_owned(), json!("click")), ("item".to_owned(), json!(item))]);
        if !user_data.is_null() {
            task.insert("user_data".to_owned(), user_data.clone());
        }
        self.post_gui(&Value::Object(task)).await
    }

    /// Shows a tab.
    pub async fn select_tab(&self, tab_bar: &str, tab: &str) -> Result<Value, Fault> {
        self.post_gui(&json!({ "action": "select_tab", "tab_bar": tab_bar, "tab": tab })).await
    }

    /// Selects an item of a list.
    pub async fn select_list_item(&self, listbox: &str, item_value: &str) -> Result<Value, Fault> {
        self.post_gui(&json!({ "action": "select_list_item", "listbox": listbox, "item_value": item_value }))
            .await
    }

    /// Pushes an event to everybody who listens.
    pub async fn push_event(&self, event_type: &str, payload: &Value) -> Result<Value, Fault> {
        self.post_gui(&json!({ "action": "push_event", "event_type": event_type, "payload": payload })).await
    }

    /// Sends a task for the console as it is.
    pub async fn post_gui(&self, gui_data: &Value) -> Result<Value, Fault> {
        self.post("/api/gui", gui_data).await
    }

    /// Clicks the button that begins a new discussion.
    pub async fn reset_session(&self) -> Result<Value, Fault> {
        self.click("btn_reset_session", &Value::Null).await
    }

    /// Waits for an event of a kind; `None` if none came within this time. Events of other kinds are
    /// taken as well.
    pub async fn wait_for_event(&self, event_type: &str, timeout: Duration) -> Result<Option<Value>, Fault> {
        let look = async || match self.get_events().await {
            Ok(events) => events.into_iter().find(|event| is_of(event, event_type)).map(Ok),
            Err(fault) => Some(Err(fault)),
        };
        until(timeout, look).await.transpose()
    }

    /// Waits until a field has a value; false if it had not within this time.
    pub async fn wait_for_value(
        &self,
        item: &str,
        expected: &Value,
        timeout: Duration,
    ) -> Result<bool, Fault> {
        let look = async || match self.get_value(item).await {
            Ok(value) => (value == *expected).then_some(Ok(())),
            Err(fault) => Some(Err(fault)),
        };
        Ok(until(timeout, look).await.transpose()?.is_some())
    }

    /// Asks the person whether a tool may be used, and waits for the answer.
    pub async fn request_confirmation(&self, tool_name: &str, args: &Value) -> Result<Value, Fault> {
        let question = json!({ "type": "tool_approval", "tool": tool_name, "args": args });
        let mut answer = self.make_request("POST", "/api/ask", Some(&question), None).await?;
        Ok(answer["response"].take())
    }

    /// The judgement about a coding agent's own tool, in the words of its hooks ([`crate::client_hooks`]).
    /// It is asked once: an agent waits.
    pub async fn pre_tool_use(
        &self,
        client: Option<&str>,
        request: Vec<u8>,
        timeout: Duration,
    ) -> Result<Value, Fault> {
        let path = match client {
            Some(client) => format!("{PRE_TOOL_USE}?client={client}"),
            None => PRE_TOOL_USE.to_owned(),
        };
        let answered = self.door.send("POST", &path, Some(request.into()), Some(timeout)).await;
        let (status, body) = answered.map_err(|failed| failed.fault)?;
        let answer = serde_json::from_slice(&body).ok().filter(|_| status == 200);
        answer.ok_or_else(|| wire::refusal(status, &body))
    }
}

/// Looks with growing pauses until there is something, for at most this long.
async fn until<T>(timeout: Duration, look: impl AsyncFn() -> Option<T>) -> Option<T> {
    let (end, mut pause) = (Instant::now() + timeout, POLL);
    loop {
        if let Some(found) = look().await {
            return Some(found);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        sleep(pause.min(left)).await;
        pause = (pause * 2).min(LONGEST_DELAY);
    }
}

/// True for an event of this kind, which older hosts call its type.
fn is_of(event: &Value, kind: &str) -> bool {
    event["kind"] == kind || event["type"] == kind
}

/// The member of the diagnostics that an indicator's widget shows.
fn indicator(tag: &str) -> &str {
    match tag {
        "thinking_indicator" => "thinking",
        "operations_live_indicator" => "live",
        "prior_session_indicator" => "prior",
        other => other,
    }
}

/// A name as one part of a path.
fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let byte = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(byte).collect()
}
