//! The addresses of operations in the documentation. The dashboard links to them as well.

/// Returns the name of a resource's page: `incoming_webhooks` is `api/incoming-webhooks`.
pub fn page(resource: &str) -> String {
    format!("api/{}", resource.replace('_', "-"))
}

/// Returns the anchor of a method on the page of its resource.
pub fn anchor(method: &str) -> String {
    method.replace(['.', '_'], "-")
}

/// Returns the URL of an operation by its client name, such as `contacts.create`.
pub fn address(client_name: &str) -> String {
    let (resource, method) = client_name.split_once('.').unwrap_or((client_name, ""));
    format!("/docs/{}#{}", page(resource), anchor(method))
}
