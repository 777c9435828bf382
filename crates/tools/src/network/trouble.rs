//! The translation of a trouble of the web for a caller.

use tectum_core::{Fault, FaultKind};
use tectum_web::Trouble;

/// The fault of a trouble.
pub(super) fn fault(trouble: Trouble) -> Fault {
    let kind = match &trouble {
        Trouble::Refused { .. } => FaultKind::Permission,
        Trouble::Status { status: 404 | 410, .. } => FaultKind::NotFound,
        Trouble::Late { .. } => FaultKind::Timeout,
        Trouble::Status { .. }
        | Trouble::Circle { .. }
        | Trouble::Broken { .. }
        | Trouble::Blocked { .. } => FaultKind::Upstream,
    };
    let fault = Fault::new(kind, trouble.to_string());
    match trouble.hint() {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}
