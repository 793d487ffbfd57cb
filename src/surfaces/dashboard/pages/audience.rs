//! The brand whose contacts a page shows: the brand in the URL or form, otherwise the brand used last, otherwise the newest brand.

use serde::Serialize;
use serde_json::json;

use crate::engine::api::{Done, Operation};
use crate::features::projects::views::ProjectView;
use crate::features::tags::views::TagView;
use crate::features::{projects, segments, tags, topics};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::ids::{ProjectId, SegmentId};
use crate::vocab::limits;

/// A brand, and the other brands that the user can choose from.
pub struct Audience {
    pub id: String,
    name: String,
    brands: Vec<BrandName>,
}

/// A brand that the user can choose.
#[derive(Clone, Debug, Serialize)]
pub struct BrandName {
    pub id: String,
    pub name: String,
}

/// The context that all contact pages share.
#[derive(Clone, Debug, Serialize)]
pub struct AudienceContext {
    title: String,
    root: String,
    brand: BrandName,
    brands: Vec<BrandName>,
    of_brand: String,
}

impl AudienceContext {
    /// Returns the context of an account with two brands.
    #[cfg(test)]
    pub fn sample(title: &str) -> Self {
        let brand = BrandName { id: "66f1a2b3d4e5f60718293a4b".into(), name: "Acme".into() };
        Self {
            title: title.into(),
            root: "/test".into(),
            brands: vec![brand.clone(), BrandName { id: "66f1a2b3d4e5f60718293a4c".into(), name: "Other".into() }],
            of_brand: format!("?brand={}", brand.id),
            brand,
        }
    }
}

impl Audience {
    /// Returns the brand for this visit; `None` if there are no brands.
    pub async fn of(visit: &Visit) -> Result<Option<Self>, PageError> {
        let named = visit.form.some("brand").or(visit.query.some("brand"));
        Self::chosen(visit, named).await
    }

    /// Returns the brand for this visit. If the URL names no brand, returns the brand of the object whose ID is in the path: the operation
    /// `T` returns the object, and `project` extracts the brand's ID from it.
    pub async fn having<T: Operation>(
        visit: &Visit,
        project: impl FnOnce(T::Output) -> ProjectId,
    ) -> Result<Option<Self>, PageError> {
        if visit.query.some("brand").is_some() {
            return Self::of(visit).await;
        }
        let whose = visit.ask::<T>(json!({ "id": visit.path_parameter("id") })).await?;
        Self::chosen(visit, Some(&project(whose).to_string())).await
    }

    async fn chosen(visit: &Visit, named: Option<&str>) -> Result<Option<Self>, PageError> {
        let listed = visit.ask::<projects::ops::list::List>(json!({ "limit": limits::PAGE_LIMIT_MAX })).await?;
        let has_more = listed.pagination().has_more;
        let name_of = |brand: ProjectView| BrandName { id: brand.id.to_string(), name: brand.name };
        let mut brands: Vec<BrandName> = listed.items.into_iter().map(name_of).collect();
        let is_listed = |id: &str| brands.iter().any(|brand| brand.id == id);
        let older = match (named, visit.jar.brand()) {
            // A brand that the URL or form names must exist.
            (Some(id), _) if !is_listed(id) => {
                let Done(brand) = visit.ask::<projects::ops::get::Get>(json!({ "projectId": id })).await?;
                Some(brand)
            }
            // The brand used last may have been deleted, or may belong to the other environment, so an error is ignored.
            (None, Some(id)) if has_more && !is_listed(id) => {
                visit.ask::<projects::ops::get::Get>(json!({ "projectId": id })).await.ok().map(|Done(brand)| brand)
            }
            _ => None,
        };
        // A brand that is too old for the list is added to the choices.
        brands.extend(older.map(name_of));
        let wanted = named.or(visit.jar.brand());
        let Some(brand) = brands.iter().find(|brand| wanted.is_some_and(|id| brand.id == id)).or(brands.first()) else {
            return Ok(None);
        };
        let BrandName { id, name } = brand.clone();
        Ok(Some(Self { id, name, brands }))
    }

    /// Returns the query for links: the brand, if the account has several brands.
    pub fn query(&self) -> String {
        if self.brands.len() > 1 { format!("?brand={}", self.id) } else { String::new() }
    }

    /// Returns `path` with the values in `more` as query parameters, and with the brand if the account has several brands.
    pub fn path(&self, path: &str, more: &[(&str, &str)]) -> String {
        let brand = (self.brands.len() > 1).then_some(("brand", self.id.as_str()));
        let pairs: Vec<(&str, &str)> =
            brand.into_iter().chain(more.iter().copied().filter(|(_, value)| !value.is_empty())).collect();
        match serde_urlencoded::to_string(&pairs) {
            Ok(query) if !query.is_empty() => format!("{path}?{query}"),
            _ => path.to_owned(),
        }
    }

    pub fn context(&self, visit: &Visit, title: &str) -> AudienceContext {
        AudienceContext {
            title: title.to_owned(),
            root: format!("/{}", visit.environment),
            brand: BrandName { id: self.id.clone(), name: self.name.clone() },
            brands: self.brands.clone(),
            of_brand: self.query(),
        }
    }

    /// Returns the path for links to other pages of this list, without the page number.
    pub fn pages_base(&self, visit: &Visit, more: &[(&str, &str)]) -> String {
        let path = self.path(&visit.path, more);
        format!("{path}{}", if path.contains('?') { "&" } else { "?" })
    }

    /// Returns the response with a cookie that stores this brand as the brand used last, unless the browser already stores it.
    pub fn finish(&self, visit: &Visit, response: PageResponse) -> PageResponse {
        match ProjectId::parse(&self.id) {
            Some(id) if visit.jar.brand() != Some(self.id.as_str()) => response.with_cookie(visit.jar.keep_brand(id)),
            _ => response,
        }
    }
}

pub fn none(title: &str) -> PageResponse {
    PageResponse::draw(&NoBrandPage { title: title.to_owned() })
}

/// The page that replaces a contact page if there is no brand.
#[derive(Serialize)]
pub struct NoBrandPage {
    title: String,
}

page_context!(NoBrandPage, "no_brand.html", { vec![Self { title: "Tags".into() }] });

/// Returns whether the form can be shown again so that the user can correct the error.
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

/// Joins names with commas. This is the inverse of `names`.
pub fn in_one<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted = |name: &str| if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() };
    names.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// Returns the offset of the requested list page. Page numbers in the URL start at 1.
pub fn offset(visit: &Visit, limit: u64) -> u64 {
    (visit.page() - 1).saturating_mul(limit).min(limits::PAGE_OFFSET_MAX)
}

/// Returns the names of the brand's tags that the user can choose from, and whether the list is complete.
pub async fn tag_names(visit: &Visit, project: &str) -> Result<(Vec<String>, bool), PageError> {
    let input = json!({ "projectId": project, "sortBy": "name", "sortOrder": "asc", "limit": limits::PAGE_LIMIT_MAX });
    let listed = visit.ask::<tags::ops::list::List>(input).await?;
    let is_all = !listed.pagination().has_more;
    Ok((listed.items.into_iter().map(|tag| tag.name).collect(), is_all))
}

pub async fn tag_named(visit: &Visit, project: &str, name: &str) -> Result<Option<TagView>, PageError> {
    let input =
        json!({ "projectId": project, "search": name, "limit": limits::PAGE_LIMIT_MAX, "sortBy": "name", "sortOrder": "asc" });
    let listed = visit.ask::<tags::ops::list::List>(input).await?;
    let wanted = crate::base::text::fold(name.trim());
    Ok(listed.items.into_iter().find(|tag| crate::base::text::fold(&tag.name) == wanted))
}

/// Returns the IDs and names of all topics of the brand.
pub async fn topics(visit: &Visit, project: &str) -> Result<Vec<(String, String)>, PageError> {
    let mut all = Vec::new();
    for offset in (0..limits::TOPICS_PER_PROJECT_MAX as u64).step_by(limits::PAGE_LIMIT_MAX as usize) {
        let limit = limits::PAGE_LIMIT_MAX;
        let input = json!({ "projectId": project, "limit": limit, "offset": offset, "includeInactive": true });
        let listed = visit.ask::<topics::ops::list::List>(input).await?;
        let has_more = listed.pagination().has_more;
        all.extend(listed.items.into_iter().map(|topic| (topic.id.to_string(), topic.name)));
        if !has_more {
            break;
        }
    }
    Ok(all)
}

/// Returns the brand's segments, sorted by name, without counts.
pub async fn segments(visit: &Visit, project: &str) -> Result<Vec<SegmentName>, PageError> {
    let input = json!({ "projectId": project, "limit": limits::PAGE_LIMIT_MAX, "count": false });
    let listed = visit.ask::<segments::ops::list::List>(input).await?;
    Ok(listed.items.into_iter().map(|segment| SegmentName { id: segment.id, name: segment.name }).collect())
}

/// A segment that the user can choose.
#[derive(Clone, Debug, Serialize)]
pub struct SegmentName {
    pub id: SegmentId,
    pub name: String,
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
