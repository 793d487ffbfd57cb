//! The OpenAPI 3.1 document from the table of operations.
