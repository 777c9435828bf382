//! The first words on a connection: which era the server speaks, and what it can do.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;

use super::{Ask, Hello, Link, ServerAnswer, own_meta};
use crate::{
    spec::EraChoice,
    wire::{Era, LATEST_LEGACY, LEGACY, Loss, MODERN, Members, Object, code, error_parts, own_info},
};

/// The time a server may leave the question for its era unanswered. Servers of the older era answer it
/// with an error as soon as they run; some never answer what they do not know.
const PROBE: Duration = Duration::from_secs(10);

/// The reasons why a greeting failed.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// The connection broke while the era was asked for: some servers of the older era end
    /// themselves at a question they do not know. A new connection may ask in the older way.
    DiedAtProbe(Loss),
    /// Anything else.
    Lost(Loss),
}

impl Unfit {
    /// The loss behind it.
    pub(crate) fn into_loss(self) -> Loss {
        match self {
            Self::DiedAtProbe(loss) | Self::Lost(loss) => loss,
        }
    }
}

/// Greets a server and finds out its era.
pub(crate) async fn greet(link: &Arc<Link>, choice: EraChoice, capabilities: &str) -> Result<(), Unfit> {
    let hello = match choice {
        EraChoice::Legacy => initialize(link, capabilities).await,
        EraChoice::Modern => match tokio::time::timeout(PROBE * 6, discover(link, capabilities)).await {
            Ok(Ok(Some(hello))) => Ok(hello),
            Ok(Ok(None)) => Err(Loss::Failed(format!("it does not speak {MODERN}"))),
            Ok(Err(loss)) => Err(loss),
            Err(_) => Err(Loss::Failed("it did not answer server/discover".into())),
        },
        EraChoice::Auto => match tokio::time::timeout(PROBE, discover(link, capabilities)).await {
            Ok(Ok(Some(hello))) => Ok(hello),
            Ok(Ok(None)) | Err(_) => initialize(link, capabilities).await,
            Ok(Err(loss @ Loss::Gone(_))) => return Err(Unfit::DiedAtProbe(loss)),
            Ok(Err(loss)) => Err(loss),
        },
    };
    let hello = hello.map_err(Unfit::Lost)?;
    let legacy = hello.era == Era::Legacy;
    link.settle(hello);
    if legacy {
        link.notify("notifications/initialized", "{}").map_err(Unfit::Lost)?;
    }
    Ok(())
}

/// Asks in the newer way; `None` from a server of the older era.
async fn discover(link: &Arc<Link>, capabilities: &str) -> Result<Option<Hello>, Loss> {
    let mut answer = ask_to_discover(link, capabilities).await?;
    // Some servers refuse our version and name it among those they speak: they are asked again.
    if let Err(error) = &answer
        && error_parts(error).0 == i64::from(code::UNSUPPORTED_VERSION)
        && supported(error).contains(MODERN)
    {
        answer = ask_to_discover(link, capabilities).await?;
    }
    let result = match answer {
        Ok(result) => result,
        Err(error) => {
            let (code, message) = error_parts(&error);
            return match i32::try_from(code) {
                // A modern server that does not speak our version names those it does.
                Ok(code::UNSUPPORTED_VERSION) if !supported(&error).contains("\"2025-") => {
                    Err(Loss::Failed(message))
                }
                _ => Ok(None),
            };
        }
    };
    let Some(members) = Members::of(result.get()) else { return Ok(None) };
    let speaks = members.get("supportedVersions").is_some_and(|versions| versions.get().contains(MODERN));
    if !speaks {
        return Ok(None);
    }
    Ok(Some(Hello::read(Era::Modern, MODERN.into(), &members)))
}

async fn ask_to_discover(link: &Arc<Link>, capabilities: &str) -> Result<ServerAnswer, Loss> {
    let params = |_| Object::new().raw("_meta", &own_meta(capabilities)).end();
    link.request(Ask::of("server/discover"), params)?.answer().await
}

/// The versions a refusal names, as it wrote them.
fn supported(error: &RawValue) -> &str {
    let data = Members::of(error.get()).and_then(|error| Members::of(error.get("data")?.get()));
    data.and_then(|data| data.get("supported")).map_or("", RawValue::get)
}

async fn initialize(link: &Arc<Link>, capabilities: &str) -> Result<Hello, Loss> {
    let exchange = link.request(Ask::of("initialize"), |_| {
        Object::new()
            .text("protocolVersion", LATEST_LEGACY)
            .raw("capabilities", capabilities)
            .raw("clientInfo", &own_info())
            .end()
    })?;
    let result = exchange.answer().await?.map_err(|error| {
        let (code, message) = error_parts(&error);
        Loss::Failed(format!("it refused the handshake: MCP {code}: {message}"))
    })?;
    let members = Members::of(result.get())
        .ok_or_else(|| Loss::Failed("its answer to initialize is no object".into()))?;
    let version = members.text("protocolVersion").unwrap_or_default();
    if !LEGACY.contains(&&*version) {
        return Err(Loss::Failed(format!("it speaks protocol version `{version}`, which is not known here")));
    }
    Ok(Hello::read(Era::Legacy, version, &members))
}
