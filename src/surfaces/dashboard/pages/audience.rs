//! The brand whose contacts a page shows: the one in the URL or form, else the last one used, else the newest.

use serde_json::{Map, Value, json};

use super::brands::may;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// A brand, and the others to choose from.
pub struct Audience {
    /// The brand's id.
    pub id: String,
    name: String,
    brands: Vec<Value>,
}

impl Audience {
    /// Returns the brand of this visit; `None` if there are no brands.
    pub async fn of(visit: &Visit) -> Result<Option<Self>, PageError> {
        let named = visit.form.some("brand").or(visit.query.some("brand"));
        Self::chosen(visit, named).await
    }

    /// Returns the brand that owns the object in the path, for links without a brand. `operation` looks the object up.
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
            // An explicitly named brand is required to exist.
            (Some(id), _) if !is_listed(id) => Some(visit.ask("projects.get", json!({ "projectId": id })).await?),
            // The last brand may be deleted, or belong to the other environment.
            (None, Some(id)) if listed["pagination"]["hasMore"] == true && !is_listed(id) => {
                visit.ask("projects.get", json!({ "projectId": id })).await.ok()
            }
            _ => None,
        };
        // Offers it as a choice too.
        brands.extend(older);
        let wanted = named.or(visit.jar.brand());
        let Some(brand) = brands.iter().find(|brand| wanted.is_some_and(|id| brand["id"] == id)).or(brands.first()) else {
            return Ok(None);
        };
        let text = |field: &str| brand[field].as_str().unwrap_or_default().to_owned();
        let (id, name) = (text("id"), text("name"));
        Ok(Some(Self { id, name, brands }))
    }

    /// Returns the query for links: the brand, if there are several.
    pub fn query(&self) -> String {
        if self.brands.len() > 1 { format!("?brand={}", self.id) } else { String::new() }
    }

    /// Returns a path with the brand and these additional values.
    pub fn path(&self, path: &str, more: &[(&str, &str)]) -> String {
        let brand = (self.brands.len() > 1).then_some(("brand", self.id.as_str()));
        let pairs: Vec<(&str, &str)> =
            brand.into_iter().chain(more.iter().copied().filter(|(_, value)| !value.is_empty())).collect();
        match serde_urlencoded::to_string(&pairs) {
            Ok(query) if !query.is_empty() => format!("{path}?{query}"),
            _ => path.to_owned(),
        }
    }

    /// Returns the context that all contact pages share.
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

    /// Stores this brand as the last one used, and returns the outcome.
    pub fn finish(&self, visit: &Visit, outcome: Outcome) -> Outcome {
        match ProjectId::parse(&self.id) {
            Some(id) if visit.jar.brand() != Some(self.id.as_str()) => outcome.with_cookie(visit.jar.keep_brand(id)),
            _ => outcome,
        }
    }

    /// Renders a page, or renders it again with an error.
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

/// Renders the page shown when there is no brand.
pub fn none(visit: &Visit, title: &str) -> Outcome {
    let context = json!({ "title": title, "root": format!("/{}", visit.environment), "base": visit.api.0.base_url() });
    Outcome::page("no_brand.html", context)
}

/// Returns whether the form can be shown again for the user to correct it.
pub fn can_correct(error: &PageError) -> bool {
    matches!(error.status.as_u16(), 400 | 409) || (error.status.as_u16() == 404 && !error.field.is_empty())
}

/// Splits names at commas. A name that contains a comma is in quotation marks.
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

/// Joins names with commas: the inverse.
pub fn in_one<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted = |name: &str| if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() };
    names.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// Returns the offset of the list page in the URL, from 1.
pub fn offset(visit: &Visit, limit: u64) -> u64 {
    (visit.page() - 1).saturating_mul(limit).min(limits::PAGE_OFFSET_MAX)
}

/// Returns the names of the brand's tags to choose from, and whether the list is complete.
pub async fn tag_names(visit: &Visit, project: &str) -> Result<(Vec<Value>, bool), PageError> {
    let input = json!({ "projectId": project, "sortBy": "name", "sortOrder": "asc", "limit": limits::PAGE_LIMIT_MAX });
    let listed = visit.ask("tags.list", input).await?;
    let names: Vec<Value> = listed["tags"].as_array().into_iter().flatten().map(|tag| tag["name"].clone()).collect();
    Ok((names, listed["pagination"]["hasMore"] == false))
}

/// Returns the tag with this name.
pub async fn tag_named(visit: &Visit, project: &str, name: &str) -> Result<Option<Value>, PageError> {
    let input =
        json!({ "projectId": project, "search": name, "limit": limits::PAGE_LIMIT_MAX, "sortBy": "name", "sortOrder": "asc" });
    let listed = visit.ask("tags.list", input).await?;
    let wanted = crate::base::text::fold(name.trim());
    let is = |tag: &&Value| tag["name"].as_str().is_some_and(|name| crate::base::text::fold(name) == wanted);
    Ok(listed["tags"].as_array().and_then(|tags| tags.iter().find(is)).cloned())
}

/// Returns the ids and names of all topics of the brand.
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

/// Returns the brand's segments by name, without counts.
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
    fn names_survive_joining_and_splitting() {
        for list in [vec![], vec!["a"], vec!["a b", "c"], vec!["x, y", "z"]] {
            assert_eq!(names(&in_one(list.iter().copied())), list);
        }
        assert_eq!(names(" a ,, \"b, c\" ,d\"e"), ["a", "b, c", "d\"e"]);
    }
}
