//! Small general tools that use no terms of the product.

pub(crate) mod amount;
pub mod bounded;
pub mod clock;
pub(crate) mod color;
pub(crate) mod currency;
pub(crate) mod day;
pub(crate) mod domain;
pub mod email;
pub mod html_scanner;
pub mod json_bytes;
pub mod locale;
pub mod machine;
pub mod memory;
pub mod month;
pub(crate) mod network;
pub(crate) mod optional;
pub(crate) mod patch;
pub(crate) mod period;
pub(crate) mod phone;
pub(crate) mod qr;
pub mod random;
pub mod secret;
pub(crate) mod serde_str;
pub(crate) mod strict_objects;
pub mod text;
pub(crate) mod zone;
