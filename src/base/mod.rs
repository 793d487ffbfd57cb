//! Small general tools without product vocabulary.

pub mod amount;
pub mod base64;
pub mod bounded;
pub mod clock;
pub mod color;
pub mod currency;
pub mod domain;
pub mod email;
pub mod hex;
pub mod locale;
pub mod machine;
pub mod memory;
pub mod network;
pub mod optional;
pub mod patch;
pub mod phone;
pub mod qr;
pub mod random;
pub mod secret;
pub mod serde_str;
pub mod strict_objects;
pub mod text;
pub mod zone;
