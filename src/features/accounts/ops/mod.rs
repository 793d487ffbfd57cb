//! The operations on accounts, one file each. All but the set-up page belong to the operator of the machine.

pub mod create_key;
pub mod list_keys;
pub mod revoke_key;
pub mod set_up;
pub mod set_up_form;
pub mod set_up_page;
