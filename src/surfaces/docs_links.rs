//! The documentation URLs of operations, to which the dashboard also links.

/// Returns the name of a resource's page: `api/incoming-webhooks` for `incoming_webhooks`.
pub fn page(resource: &str) -> String {
    format!("api/{}", resource.replace('_', "-"))
}

/// Returns the anchor of a client method on its resource's page.
pub fn anchor(method: &str) -> String {
    method.replace(['.', '_'], "-")
}

/// Returns the documentation URL of an operation by its client name, such as `contacts.create`.
pub fn address(client_name: &str) -> String {
    let (resource, method) = client_name.split_once('.').unwrap_or((client_name, ""));
    format!("/docs/{}#{}", page(resource), anchor(method))
}
