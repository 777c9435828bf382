//! Whoever may answer questions: the one who shows the approver's credential, or a session of the console that
//! stands for it. The token does not suffice, since the agent whose calls are asked about has it.

use axum::{extract::FromRequestParts, http::request::Parts};
use subtle::ConstantTimeEq;
use tectum_core::{Fault, FaultKind};

use super::{
    hooked::Hooks,
    openapi::APPROVER,
    refusal::Refusal,
    sign_ins::{SessionFacts, only},
};
use crate::token;

/// Proof that the credential was shown, or that a session of the console stands for it.
#[derive(Debug)]
pub(super) struct Approver {
    /// The session, if the credential itself was not shown.
    pub(super) session: Option<SessionFacts>,
}

impl Approver {
    /// The place where this person answers, for the journal.
    pub(super) fn place(&self) -> &'static str {
        if self.session.is_some() { "console" } else { "hooks" }
    }
}

impl FromRequestParts<Hooks> for Approver {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, hooks: &Hooks) -> Result<Self, Refusal> {
        let shown = parts.headers.contains_key(APPROVER);
        if !shown && let Some(session) = parts.extensions.get::<SessionFacts>() {
            return Ok(Self { session: Some(session.clone()) });
        }
        // It is read each time: a new one counts at once, and so does one that was removed.
        let known = credential(hooks).await?;
        match only(&parts.headers, APPROVER) {
            Some(shown) if bool::from(shown.as_bytes().ct_eq(known.as_bytes())) => Ok(Self { session: None }),
            _ => {
                let what = if shown { "is wrong" } else { "is needed" };
                let message = format!("to answer, the approver's credential in the header {APPROVER} {what}");
                let hint = "it is in the file `approver` beside the token; `tectum approve` sends it";
                Err(Fault::new(FaultKind::Permission, message).hint(hint).into())
            }
        }
    }
}

/// The credential as it is now.
pub(super) async fn credential(hooks: &Hooks) -> Result<String, Fault> {
    let state = hooks.state();
    let known = tokio::task::spawn_blocking(move || token::approver(state.as_deref())).await;
    let known = known.map_err(|_| Fault::internal("the approver's credential could not be read"))?;
    known.map(|known| known.secret).map_err(|error| {
        let refused = Fault::new(FaultKind::Permission, format!("nobody can answer here: {error}"));
        error.hint().into_iter().fold(refused, Fault::hint)
    })
}
