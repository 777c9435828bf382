//! The description of the API: what the routes say of themselves, and the answers that every route has.

use serde_json::{Map, Value, json};

/// The header of the approver's credential.
pub(super) const APPROVER: &str = "Tectum-Approver";

/// Answers of every route. The first two come from the listener, in plain text.
const OF_ALL: [(&str, &str); 5] = [
    ("401", "The token is absent or wrong"),
    ("403", "A foreign `Host` or `Origin`, or the approver's credential is absent or wrong"),
    ("431", "The head of the request is too large"),
    ("503", "Too many connections, or too little memory for the moment"),
    ("504", "The console, its host or a person did not answer in time"),
];
/// Answers of every route with a body.
const OF_POSTS: [(&str, &str); 4] = [
    ("400", "The body is no JSON of this form"),
    ("408", "The body came too slowly"),
    ("413", "Too much at once"),
    ("415", "The body is not `application/json`"),
];

/// Completes what the routes say.
pub(super) fn complete(routes: &utoipa::openapi::OpenApi) -> Value {
    let mut api = serde_json::to_value(routes).unwrap_or_default();
    api["openapi"] = json!("3.1.0");
    api["info"] = json!({
        "title": "Tectum's hook API",
        "version": env!("CARGO_PKG_VERSION"),
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    });
    api["security"] = json!([{ "token": [] }]);
    api["components"]["securitySchemes"] = json!({
        "token": { "type": "http", "scheme": "bearer" },
        "approver": { "type": "apiKey", "in": "header", "name": APPROVER },
    });
    let paths = api["paths"].as_object_mut().into_iter().flatten();
    let operations = paths.flat_map(|(path, item)| {
        item.as_object_mut().into_iter().flatten().map(move |(method, operation)| (path, method, operation))
    });
    for (path, method, operation) in operations {
        // Functions of different files may have the same name.
        let name = path.replace(['/', '.'], "_").replace(['{', '}'], "");
        operation["operationId"] = json!(format!("{method}{name}"));
        let posts = operation.get("requestBody").is_some();
        let Some(responses) = operation["responses"].as_object_mut() else { continue };
        OF_ALL.iter().for_each(|(status, why)| add(responses, status, why));
        OF_POSTS.iter().filter(|_| posts).for_each(|(status, why)| add(responses, status, why));
    }
    api
}

fn add(responses: &mut Map<String, Value>, status: &str, why: &str) {
    let told = json!({
        "description": why,
        "content": {
            "application/json": { "schema": { "$ref": "#/components/schemas/Refused" } },
            "text/plain": { "schema": { "type": "string" } },
        },
    });
    responses.entry(status).or_insert(told);
}
