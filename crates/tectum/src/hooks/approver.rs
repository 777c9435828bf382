//! Whoever may answer questions: the one who shows the approver's credential. The token does not suffice, since
//! the agent whose calls are asked about has it.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, request::Parts},
};
use subtle::ConstantTimeEq;
use tectum_core::{Fault, FaultKind};

use super::{hooked::Hooks, openapi::APPROVER, refusal::Refusal};
use crate::token;

/// Proof that the credential was shown.
#[derive(Debug)]
pub(super) struct Approver;

impl FromRequestParts<Hooks> for Approver {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, hooks: &Hooks) -> Result<Self, Refusal> {
        let state = hooks.state();
        // It is read each time: a new one counts at once, and so does one that was removed.
        let known = tokio::task::spawn_blocking(move || token::approver(state.as_deref())).await;
        let known = known.map_err(|_| Fault::internal("the approver's credential could not be read"))?;
        let known = known.map_err(|error| {
            let refused = Fault::new(FaultKind::Permission, format!("nobody can answer here: {error}"));
            error.hint().into_iter().fold(refused, Fault::hint)
        })?;
        match shown(&parts.headers) {
            Some(shown) if bool::from(shown.as_bytes().ct_eq(known.secret.as_bytes())) => Ok(Self),
            shown => {
                let what = if shown.is_some() { "is wrong" } else { "is needed" };
                let message = format!("to answer, the approver's credential in the header {APPROVER} {what}");
                let hint = "it is in the file `approver` beside the token; `tectum approve` sends it";
                Err(Fault::new(FaultKind::Permission, message).hint(hint).into())
            }
        }
    }
}

/// The header, if it stands there once.
fn shown(headers: &HeaderMap) -> Option<&str> {
    let mut shown = headers.get_all(APPROVER).iter();
    shown.next().filter(|_| shown.next().is_none())?.to_str().ok()
}
