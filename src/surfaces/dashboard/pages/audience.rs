//! Whose contacts a page is about: the brand that the address or the form names, else the one that was looked at last, else the newest.

use serde_json::{Map, Value, json};

use super::brands::may;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// A brand, and which others there are.
pub struct Audience {
    /// The brand's id.
    pub id: String,
    name: String,
    brands: Vec<Value>,
}

impl Audience {
    /// The brand that this visit is about; none if there is no brand at all.
    pub async fn of(visit: &Visit) -> Result<Option<Self>, PageError> {
        let named = visit.form.some("brand").or(visit.query.some("brand"));
        Self::chosen(visit, named).await
    }

    /// The brand that has what the path names: links from elsewhere may not say which. The operation says it of what has this id.
    pub async fn having(visit: &Visit, operation: &str) -> Result<Option<Self>, PageError> {
        if visit.query.some("brand").is_some() {
            return Self::of(visit).await;
        }
        let whose = visit.ask(operation, json!({ "id": visit.name("id") })).await?;
        Self::chosen(visit, whose["projectId"].as_str()).await
    }

    async fn chosen(visit: &Visit, named: Option<&str>) -> Result<Option<Self>, PageError> {
        let listed = visit.ask("projects.list", json!({ "limit": limits::PAGE_LIMIT_MAX })).await?;
        let mut brands = listed["projects"].as_array().cloned().unwrap_or_default();
        let is_listed = |id: &str| brands.iter().any(|brand| brand["id"] == id);
        let older = match (named, visit.jar.brand()) {
            // Who names one means that one, or nothing.
            (Some(id), _) if !is_listed(id) => Some(visit.ask("projects.get", json!({ "projectId": id })).await?),
            // The one looked at last may be gone, or of the other environment.
            (None, Some(id)) if listed["pagination"]["hasMore"] == true && !is_listed(id) => {
                visit.ask("projects.get", json!({ "projectId": id })).await.ok()
            }
            _ => None,
        };
        // One to choose from like those listed.
        brands.extend(older);
        let wanted = named.or(visit.jar.brand());
        let Some(brand) = brands.iter().find(|brand| wanted.is_some_and(|id| brand["id"] == id)).or(brands.first()) else {
            return Ok(None);
        };
        let text = |field: &str| brand[field].as_str().unwrap_or_default().to_owned();
        let (id, name) = (text("id"), text("name"));
        Ok(Some(Self { id, name, brands }))
    }

    /// What stands behind the path of a link: the brand, if there are several.
    pub fn query(&self) -> String {
        if self.brands.len() > 1 { format!("?brand={}", self.id) } else { String::new() }
    }

    /// A path with the brand and these further values.
    pub fn path(&self, path: &str, more: &[(&str, &str)]) -> String {
        let brand = (self.brands.len() > 1).then_some(("brand", self.id.as_str()));
        let pairs: Vec<(&str, &str)> =
            brand.into_iter().chain(more.iter().copied().filter(|(_, value)| !value.is_empty())).collect();
        match serde_urlencoded::to_string(&pairs) {
            Ok(query) if !query.is_empty() => format!("{path}?{query}"),
            _ => path.to_owned(),
        }
    }

    /// What every page of contacts has in its context.
    pub fn context(&self, visit: &Visit, title: &str) -> Map<String, Value> {
        let brands: Vec<Value> = self.brands.iter().map(|brand| json!({ "id": brand["id"], "name": brand["name"] })).collect();
        let mut context = Map::new();
        context.insert("title".into(), title.into());
        context.insert("root".into(), format!("/{}", visit.environment).into());
        context.insert("base".into(), visit.api.0.base_url().into());
        context.insert("brand".into(), json!({ "id": self.id, "name": self.name }));
        context.insert("brands".into(), brands.into());
        context.insert("of_brand".into(), self.query().into());
        context.insert("done".into(), visit.query.get("done").into());
        context.insert("may_write".into(), may(visit, Permission::AudienceWrite).into());
        context.insert("wrong".into(), "".into());
        context.insert("wrong_field".into(), "".into());
        context
    }

    /// The outcome, and that this brand was looked at.
    pub fn finish(&self, visit: &Visit, outcome: Outcome) -> Outcome {
        match ProjectId::parse(&self.id) {
            Some(id) if visit.jar.brand() != Some(self.id.as_str()) => outcome.with_cookie(visit.jar.keep_brand(id)),
            _ => outcome,
        }
    }

    /// A page, once more if there is a trouble.
    pub fn page(
        &self,
        visit: &Visit,
        template: &'static str,
        mut context: Map<String, Value>,
        error: Option<&PageError>,
    ) -> Outcome {
        let outcome = match error {
            Some(error) => {
                context.insert("wrong".into(), error.message.as_str().into());
                context.insert("wrong_field".into(), error.field.as_str().into());
                Outcome::again(template, Value::Object(context), error)
            }
            None => Outcome::page(template, Value::Object(context)),
        };
        self.finish(visit, outcome)
    }
}

/// The page in place of one about contacts when there is no brand that could have some.
pub fn none(visit: &Visit, title: &str) -> Outcome {
    let context = json!({ "title": title, "root": format!("/{}", visit.environment), "base": visit.api.0.base_url() });
    Outcome::page("no_brand.html", context)
}

/// Whether a page can be drawn again so that somebody can correct what they entered.
pub fn can_correct(error: &PageError) -> bool {
    matches!(error.status.as_u16(), 400 | 409) || (error.status.as_u16() == 404 && !error.field.is_empty())
}

/// Names between commas. A name with a comma in it stands between quotation marks.
pub fn names(text: &str) -> Vec<String> {
    let (mut names, mut name, mut quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' if quoted || name.trim().is_empty() => quoted = !quoted,
            ',' if !quoted => names.push(std::mem::take(&mut name)),
            c => name.push(c),
        }
    }
    names.push(name);
    names.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The same the other way round.
pub fn in_one<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted = |name: &str| if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() };
    names.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// The page of a list that the address names, from 1.
pub fn offset(visit: &Visit, limit: u64) -> u64 {
    (visit.page() - 1).saturating_mul(limit).min(limits::PAGE_OFFSET_MAX)
}

/// The names of the brand's tags, for lists to choose from, and whether those are all.
pub async fn tag_names(visit: &Visit, project: &str) -> Result<(Vec<Value>, bool), PageError> {
    let input = json!({ "projectId": project, "sortBy": "name", "sortOrder": "asc", "limit": limits::PAGE_LIMIT_MAX });
    let listed = visit.ask("tags.list", input).await?;
    let names: Vec<Value> = listed["tags"].as_array().into_iter().flatten().map(|tag| tag["name"].clone()).collect();
    Ok((names, listed["pagination"]["hasMore"] == false))
}

/// The tag that has this name.
pub async fn tag_named(visit: &Visit, project: &str, name: &str) -> Result<Option<Value>, PageError> {
    let input =
        json!({ "projectId": project, "search": name, "limit": limits::PAGE_LIMIT_MAX, "sortBy": "name", "sortOrder": "asc" });
    let listed = visit.ask("tags.list", input).await?;
    let wanted = crate::base::text::fold(name.trim());
    let is = |tag: &&Value| tag["name"].as_str().is_some_and(|name| crate::base::text::fold(name) == wanted);
    Ok(listed["tags"].as_array().and_then(|tags| tags.iter().find(is)).cloned())
}

/// The ids and names of all of the brand's topics.
pub async fn topics(visit: &Visit, project: &str) -> Result<Vec<(String, String)>, PageError> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut topics = Vec::new();
    for offset in (0..limits::TOPICS_PER_PROJECT_MAX as u64).step_by(limits::PAGE_LIMIT_MAX as usize) {
        let limit = limits::PAGE_LIMIT_MAX;
        let input = json!({ "projectId": project, "limit": limit, "offset": offset, "includeInactive": true });
        let listed = visit.ask("topics.list", input).await?;
        topics.extend(listed["topics"].as_array().into_iter().flatten().map(|topic| (text(&topic["id"]), text(&topic["name"]))));
        if listed["pagination"]["hasMore"] != true {
            break;
        }
    }
    Ok(topics)
}

/// The brand's segments by name, uncounted.
pub async fn segments(visit: &Visit, project: &str) -> Result<Vec<Value>, PageError> {
    let input = json!({ "projectId": project, "limit": limits::PAGE_LIMIT_MAX, "count": false });
    let listed = visit.ask("segments.list", input).await?;
    let one = |segment: &Value| json!({ "id": segment["id"], "name": segment["name"] });
    Ok(listed["segments"].as_array().into_iter().flatten().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_into_one_text_and_come_out_of_it() {
        for list in [vec![], vec!["a"], vec!["a b", "c"], vec!["x, y", "z"]] {
            assert_eq!(names(&in_one(list.iter().copied())), list);
        }
        assert_eq!(names(" a ,, \"b, c\" ,d\"e"), ["a", "b, c", "d\"e"]);
    }
}
