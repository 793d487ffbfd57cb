//! Lists the suppressed addresses.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::EmailKey;
use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::suppressions::Reason;
use crate::features::suppressions::store::{self, Digester};
use crate::features::suppressions::views::SuppressionView;
use crate::vocab::permissions::Permission;

pub struct List;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListSuppressions {
    /// Return only addresses suppressed for this reason.
    pub reason: Option<Reason>,
    /// Return only this address. It is found even if the recipient's data was erased.
    pub email: Option<EmailKey>,
    #[serde(default)]
    pub limit: Limit,
    /// The number of addresses to skip.
    pub offset: Option<Offset>,
    /// The page number, starting at 1. Use it instead of `offset`.
    pub page: Option<PageNumber>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("suppressions.list", "/v1/suppressions", needs(Permission::AudienceRead))
        .summary("List suppressed addresses")
        .about("Lists the addresses suppressed in the whole account, newest first.")
        .blocking();
    type Input = ListSuppressions;
    type Output = Page<SuppressionView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        (json!({ "reason": "manual", "limit": 20 }), Page { items: vec![SuppressionView::sample()], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListSuppressions) -> Result<Self::Output, Failure> {
        let (tx, account) = (view.tx, view.caller.account());
        let window = Window::new(input.limit, input.offset, input.page);
        if let Some(email) = &input.email {
            let digester = Digester::new(&view.caller.engine.seal);
            let found = store::find(tx, &digester, account, &email.normalized())?;
            if let (None, Some(problem)) = (&found, email.problem()) {
                return Err(Failure::field("email", problem));
            }
            let found = found.filter(|row| input.reason.is_none_or(|reason| reason == row.reason));
            let items: Vec<SuppressionView> = found.into_iter().map(Into::into).collect();
            return Ok(Page { total: items.len() as u64, items: window.cut(items), window });
        }
        let rows = store::list(tx, account, input.reason, window.offset, window.limit)?;
        let items = rows.into_iter().map(Into::into).collect();
        Ok(Page { items, total: store::count(tx, account, input.reason)?, window })
    }
}
