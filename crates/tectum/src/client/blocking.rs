//! The same client for programs without a runtime: each call waits for its answer.

use std::{io, path::Path, time::Duration};

use serde_json::Value;
use tectum_core::Fault;
use tokio::runtime::{Builder, Runtime};

use super::ApiHookClient;

/// An [`ApiHookClient`] whose methods block. It must not be used inside a runtime.
#[derive(Debug)]
pub struct BlockingApiHookClient {
    client: ApiHookClient,
    runtime: Runtime,
}

impl BlockingApiHookClient {
    /// The blocking form of a client.
    pub fn new(client: ApiHookClient) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { client, runtime })
    }

    /// The blocking form of a client of the house that serves a directory; `None` if nobody does.
    pub fn serving(directory: &Path) -> io::Result<Option<Self>> {
        ApiHookClient::serving(directory).map(Self::new).transpose()
    }
}

/// Each method as the one of the same name, waited for.
macro_rules! waits {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {
        impl BlockingApiHookClient {
            $(
                #[doc = concat!("As [`ApiHookClient::", stringify!($name), "`].")]
                pub fn $name(&self, $($argument: $kind),*) -> $answer {
                    self.runtime.block_on(self.client.$name($($argument),*))
                }
            )*
        }
    };
}

waits! {
    wait_for_server(timeout: Duration) -> bool;
    make_request(method: &str, endpoint: &str, data: Option<&Value>, timeout: Option<Duration>) -> Result<Value, Fault>;
    get_status() -> Result<Value, Fault>;
    get_project() -> Result<Value, Fault>;
    post_project(project: &Value) -> Result<Value, Fault>;
    get_session() -> Result<Value, Fault>;
    post_session(entries: &Value) -> Result<Value, Fault>;
    get_mma_status() -> Result<Value, Fault>;
    get_performance() -> Result<Value, Fault>;
    get_value(item: &str) -> Result<Value, Fault>;
    get_text_value(item_tag: &str) -> Result<Option<String>, Fault>;
    get_events() -> Result<Vec<Value>, Fault>;
    get_indicator_state(tag: &str) -> Result<Value, Fault>;
    get_node_status(node_tag: &str) -> Result<Value, Fault>;
    set_value(item: &str, value: &Value) -> Result<Value, Fault>;
    click(item: &str, user_data: &Value) -> Result<Value, Fault>;
    select_tab(tab_bar: &str, tab: &str) -> Result<Value, Fault>;
    select_list_item(listbox: &str, item_value: &str) -> Result<Value, Fault>;
    push_event(event_type: &str, payload: &Value) -> Result<Value, Fault>;
    post_gui(gui_data: &Value) -> Result<Value, Fault>;
    reset_session() -> Result<Value, Fault>;
    wait_for_event(event_type: &str, timeout: Duration) -> Result<Option<Value>, Fault>;
    wait_for_value(item: &str, expected: &Value, timeout: Duration) -> Result<bool, Fault>;
    request_confirmation(tool_name: &str, args: &Value) -> Result<Value, Fault>;
    pre_tool_use(client: Option<&str>, request: Vec<u8>, timeout: Duration) -> Result<Value, Fault>;
}
