//! The inputs of an edit other than the email and the instruction.

use crate::features::emails::composer::Knowledge;
use crate::features::emails::document::Email;
use crate::features::projects::brand::Brand;

#[derive(Clone, Copy)]
pub struct EditResources<'a> {
    pub brand: &'a Brand,
    /// The brand's home page, the default target of new buttons.
    pub site: Option<&'a str>,
    pub knowledge: &'a [Knowledge<'a>],
    /// The date of the instruction.
    pub today: jiff::civil::Date,
    /// Returns the facts of the brief that the first email states and the second does not.
    pub lost: &'a dyn Fn(&Email, &Email) -> Vec<String>,
}
