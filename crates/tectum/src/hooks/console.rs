//! The state that consoles show and scripts change: the fields, and what is in view. One task owns it; whoever
//! reads or changes it sends the task something to do, and waits.

use std::{
    collections::BTreeMap,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
    time::Duration,
};

use serde_json::Value;
use tectum_core::{Fault, FaultKind};
use tokio::sync::{mpsc, oneshot};

/// The time after which whoever waits for the state gives up.
const PATIENCE: Duration = Duration::from_secs(60);
/// Things to do that may wait for the task.
const QUEUE: usize = 256;
/// Fields that scripts may make.
const MOST_FIELDS: usize = 1024;
/// Bytes of all their values together.
const MOST_BYTES: usize = 4 * 1024 * 1024;

type Act = Box<dyn FnOnce(&mut ConsoleState) + Send>;
type Get = Arc<dyn Fn(oneshot::Sender<Value>) + Send + Sync>;
type Set = Arc<dyn Fn(Value) + Send + Sync>;

/// The way to the task, which is started by the first who needs it.
#[derive(Debug, Default)]
pub(super) struct Console(OnceLock<mpsc::Sender<Act>>);

/// A field that a host's user interface has.
#[derive(Clone)]
pub(super) struct HostField {
    pub(super) get: Get,
    pub(super) set: Set,
}

/// The state.
#[derive(Debug, Default)]
pub(super) struct ConsoleState {
    /// The project that a script put there; `None` shows the settings in effect.
    pub(super) project: Option<Value>,
    /// The entries of an earlier session, or those that a script put there; `None` shows the present session.
    pub(super) entries: Option<Vec<Value>>,
    fields: BTreeMap<String, Value>,
    bytes: usize,
    host: BTreeMap<String, HostField>,
}

impl Console {
    /// Does something with the state.
    pub(super) async fn with<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut ConsoleState) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let (tell, answer) = oneshot::channel();
        self.send(Box::new(move |state| drop(tell.send(act(state))))).await?;
        within(answer).await?.ok_or_else(|| Fault::internal("the console's state could not be reached"))
    }

    /// The value of a field; null where there is none of that name, or where the host has none for it.
    pub(super) async fn value(&self, name: String) -> Result<Value, Fault> {
        let (tell, answer) = oneshot::channel();
        self.send(Box::new(move |state| match state.host.get(&name) {
            Some(field) => (field.get)(tell),
            None => drop(tell.send(state.fields.get(&name).cloned().unwrap_or_default())),
        }))
        .await?;
        Ok(within(answer).await?.unwrap_or_default())
    }

    async fn send(&self, act: Act) -> Result<(), Fault> {
        let task = self.0.get_or_init(|| {
            let (send, acts) = mpsc::channel(QUEUE);
            tokio::spawn(own(acts));
            send
        });
        match tokio::time::timeout(PATIENCE, task.send(act)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Fault::internal("the console's state is closed")),
            Err(_) => Err(late()),
        }
    }
}

/// Owns the state until everybody who could ask for it has gone.
async fn own(mut acts: mpsc::Receiver<Act>) {
    let mut state = ConsoleState::default();
    while let Some(act) = acts.recv().await {
        // A host's function may panic; that ends this request and no other.
        if catch_unwind(AssertUnwindSafe(|| act(&mut state))).is_err() {
            tracing::error!("a request to the console's state panicked");
        }
    }
}

/// The answer, or `None` if nobody is left who could give one.
async fn within<T>(answer: oneshot::Receiver<T>) -> Result<Option<T>, Fault> {
    match tokio::time::timeout(PATIENCE, answer).await {
        Ok(answer) => Ok(answer.ok()),
        Err(_) => Err(late()),
    }
}

fn late() -> Fault {
    let message = format!("the console's state did not answer within {} s", PATIENCE.as_secs());
    Fault::new(FaultKind::Timeout, message).hint("the host's user interface may be busy: try again")
}

impl ConsoleState {
    /// Sets a field: of the host if it has one of that name, else of the console.
    pub(super) fn set(&mut self, name: String, value: Value) -> Result<(), Fault> {
        if let Some(field) = self.host.get(&name) {
            (field.set)(value);
            return Ok(());
        }
        let size = |value: &Value| name.len() + value.to_string().len();
        let before = self.fields.get(&name).map_or(0, size);
        let bytes = self.bytes - before + size(&value);
        if bytes > MOST_BYTES || before == 0 && self.fields.len() >= MOST_FIELDS {
            let message =
                format!("the console keeps {MOST_FIELDS} fields of {} MiB in all", MOST_BYTES >> 20);
            return Err(Fault::new(FaultKind::TooLarge, message).hint("set a field that is there to null"));
        }
        self.bytes = bytes;
        self.fields.insert(name, value);
        Ok(())
    }

    /// All fields of the console. Those of the host are read one by one.
    pub(super) fn fields(&self) -> BTreeMap<String, Value> {
        self.fields.clone()
    }

    /// Adds a field of the host, which takes the place of one of the same name.
    pub(super) fn attach(&mut self, name: String, field: HostField) {
        self.host.insert(name, field);
    }
}

impl fmt::Debug for HostField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostField")
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn fields_are_set_read_and_bounded() {
        let console = Console::default();
        assert_eq!(console.value("a".into()).await.expect("answers"), Value::Null);
        let set = |name: String, value: Value| console.with(move |state| state.set(name, value));
        set("a".into(), json!(1)).await.expect("answers").expect("taken");
        assert_eq!(console.value("a".into()).await.expect("answers"), 1);
        let large = json!("x".repeat(MOST_BYTES));
        assert_eq!(
            set("b".into(), large).await.expect("answers").expect_err("too large").kind,
            FaultKind::TooLarge
        );
        for number in 1..MOST_FIELDS {
            set(format!("f{number}"), json!(number)).await.expect("answers").expect("taken");
        }
        assert!(set("one more".into(), json!(1)).await.expect("answers").is_err());
        set("a".into(), json!(2)).await.expect("answers").expect("one that is there can be changed");
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_answers_from_its_own_thread_or_the_wait_ends() {
        let console = Console::default();
        let kept: Arc<Mutex<Vec<oneshot::Sender<Value>>>> = Arc::default();
        let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (asked, told) = (kept.clone(), seen.clone());
        let field = HostField {
            get: Arc::new(move |reply| asked.lock().push(reply)),
            set: Arc::new(move |value| told.lock().push(value)),
        };
        console.with(move |state| state.attach("fps_limit".into(), field)).await.expect("attached");
        console
            .with(|state| state.set("fps_limit".into(), json!(60)))
            .await
            .expect("answers")
            .expect("taken");
        assert_eq!(*seen.lock(), [json!(60)]);
        let late = console.value("fps_limit".into()).await.expect_err("nobody answers");
        assert_eq!(late.kind, FaultKind::Timeout);
        kept.lock().clear();
        let (value, ()) = tokio::join!(console.value("fps_limit".into()), async {
            while kept.lock().is_empty() {
                tokio::task::yield_now().await;
            }
            let _ = kept.lock().remove(0).send(json!(30));
        });
        assert_eq!(value.expect("answers"), 30);
    }

    #[tokio::test]
    async fn a_panic_ends_one_request_and_no_other() {
        let console = Console::default();
        let broken: Result<(), Fault> = console.with(|_| panic!("of the host")).await;
        assert_eq!(broken.expect_err("fails").kind, FaultKind::Internal);
        console.with(|state| state.set("a".into(), json!(1))).await.expect("answers").expect("taken");
    }
}
