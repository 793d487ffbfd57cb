//! The page with previews of an email on devices: a grid of screenshots, one screenshot in full size, or two side by side.

use serde::Serialize;
use serde_json::json;

use super::{EmailHead, email, is_shown};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Counted, Created, Done};
use crate::engine::clients::devices::Category;
use crate::engine::clients::transform::Cut;
use crate::features::emails::views::EmailDetails;
use crate::features::previews;
use crate::features::previews::views::{DeviceStatus, PreviewDeviceView, PreviewStatus, PreviewView};
use crate::surfaces::dashboard::pages::emails::own;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

/// The maximum number of listed reasons for cuts per device, and of listed parts and source lines per reason. A cut is a part of the email
/// that the client removes or changes.
const CUT_REASONS_SHOWN: usize = 100;
const CUT_PARTS_SHOWN: usize = 3;
const CUT_LINES_SHOWN: usize = 12;

#[derive(Serialize)]
pub struct PreviewsPage {
    #[serde(flatten)]
    head: EmailHead,
    /// The ID of the preview; empty if the page shows no preview.
    preview: String,
    is_processing: bool,
    /// Whether the email has changed since the preview was started.
    is_outdated: bool,
    finished: usize,
    requested: usize,
    category: &'static str,
    mode: &'static str,
    /// Whether the preview covers all devices instead of only the common ones.
    is_all: bool,
    categories: Vec<Choice>,
    modes: Vec<Choice>,
    tiles: Vec<Tile>,
    /// The devices that the page shows in full size: one, or two side by side.
    shown: Vec<Tile>,
    /// The devices that can be compared with the first device in `shown`.
    others: Vec<Choice>,
}

#[derive(Serialize)]
struct Choice {
    word: String,
    label: String,
    chosen: bool,
}

#[derive(Serialize)]
struct Tile {
    key: String,
    name: String,
    os: String,
    status: DeviceStatus,
    error: Option<String>,
    dark: bool,
    images: bool,
    thumbnail: Option<String>,
    picture: Option<String>,
    /// The displayed width of the screenshot, in CSS pixels.
    width: u32,
    height: u32,
    tier: Option<&'static str>,
    data_version: Option<String>,
    cut_count: usize,
    cuts: Vec<CutGroup>,
    notes: Vec<NoteLine>,
}

/// The parts that a client removes or changes for the same reason.
#[derive(Serialize)]
struct CutGroup {
    why: String,
    count: usize,
    /// The first few distinct parts that are removed or changed.
    parts: Vec<String>,
    /// The first few line numbers in the email's source at which parts are removed or changed.
    lines: Vec<u32>,
}

impl CutGroup {
    /// Groups the removed and changed parts by reason, in the order of their first occurrence in the source.
    fn all(cuts: &[Cut]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for cut in cuts {
            let place = match groups.iter().position(|group| group.why == cut.why) {
                Some(place) => place,
                None if groups.len() < CUT_REASONS_SHOWN => {
                    groups.push(Self { why: cut.why.clone(), count: 0, parts: Vec::new(), lines: Vec::new() });
                    groups.len() - 1
                }
                None => continue,
            };
            let group = &mut groups[place];
            group.count += cut.count as usize;
            if group.parts.len() < CUT_PARTS_SHOWN && !group.parts.contains(&cut.what) {
                group.parts.push(cut.what.clone());
            }
            if group.lines.len() < CUT_LINES_SHOWN && group.lines.last() != Some(&cut.line) {
                group.lines.push(cut.line);
            }
        }
        groups
    }
}

#[derive(Serialize)]
struct NoteLine {
    message: String,
    lines: Vec<u32>,
}

const CATEGORIES: [(&str, &str, Option<Category>); 4] = [
    ("", "All", None),
    ("desktop", "Desktop", Some(Category::Desktop)),
    ("mobile", "Mobile", Some(Category::Mobile)),
    ("web", "Web", Some(Category::Web)),
];
const MODES: [(&str, &str); 3] = [("", "Light"), ("dark", "Dark"), ("no-images", "Images off")];

page_context!(PreviewsPage, "email_previews.html", {
    let sample = |processing| PreviewView::sample(processing);
    let visit = |preview: PreviewView, keys: [&str; 2]| {
        let link = |link: Option<&str>| link.map(|_| "/v1/files/a.png".to_owned());
        Self::new(EmailHead::sample("previews", "ready"), Some(preview), Filter::default(), keys, &link)
    };
    let failed = || {
        let mut preview = sample(false);
        for device in &mut preview.devices {
            (device.status, device.error) = (DeviceStatus::Failed, Some("The email is too complex.".into()));
        }
        preview
    };
    let none = |status| Self::empty(EmailHead::sample("previews", status), Filter::default());
    vec![
        visit(sample(true), ["", ""]),
        visit(sample(false), ["", ""]),
        Self { is_outdated: true, ..visit(sample(true), ["", ""]) },
        visit(sample(false), ["outlook.windows", ""]),
        visit(sample(false), ["outlook.windows", "outlook.windows"]),
        visit(failed(), ["", ""]),
        visit(failed(), ["outlook.windows", ""]),
        none("ready"),
        none("processing"),
    ]
});

#[derive(Clone, Copy, Default)]
struct Filter {
    category: Option<Category>,
    word: &'static str,
    mode: &'static str,
    is_all: bool,
}

impl Filter {
    fn of(visit: &Visit) -> Self {
        let (word, _, category) =
            CATEGORIES.into_iter().find(|row| row.0 == visit.query.get("category")).unwrap_or(CATEGORIES[0]);
        let (mode, _) = MODES.into_iter().find(|row| row.0 == visit.query.get("mode")).unwrap_or(MODES[0]);
        Self { category, word, mode, is_all: visit.query.some("all").is_some() }
    }

    fn has(self, device: &PreviewDeviceView) -> bool {
        let mode = match self.mode {
            "dark" => device.dark,
            "no-images" => !device.images,
            _ => !device.dark && device.images,
        };
        mode && self.category.is_none_or(|category| category == device.category)
    }
}

impl PreviewsPage {
    /// Returns the page without a preview, which has a button that starts one.
    fn empty(head: EmailHead, filter: Filter) -> Self {
        Self::new(head, None, filter, ["", ""], &|_| None)
    }

    fn new(
        head: EmailHead,
        preview: Option<PreviewView>,
        filter: Filter,
        keys: [&str; 2],
        link: &dyn Fn(Option<&str>) -> Option<String>,
    ) -> Self {
        let devices = preview.as_ref().map(|preview| preview.devices.as_slice()).unwrap_or_default();
        let find = |key: &&str| devices.iter().find(|device| device.device_key == **key);
        let shown: Vec<Tile> = keys.iter().filter_map(find).map(|device| Tile::new(device, link)).collect();
        let is_chosen = |device: &&PreviewDeviceView| device.device_key == keys[1];
        let others = devices.iter().filter(|device| device.device_key != keys[0] || keys[0] == keys[1]);
        let other = |device: &PreviewDeviceView| Choice {
            word: device.device_key.clone(),
            label: label(device),
            chosen: is_chosen(&device),
        };
        let choice =
            |word: &str, label: &str, chosen: &str| Choice { word: word.into(), label: label.into(), chosen: word == chosen };
        Self {
            head,
            is_outdated: false,
            is_processing: preview.as_ref().is_some_and(|preview| preview.status == PreviewStatus::Processing),
            finished: preview.as_ref().map_or(0, |preview| preview.metadata.completed_devices + preview.metadata.failed_devices),
            requested: devices.len(),
            category: filter.word,
            mode: filter.mode,
            is_all: filter.is_all,
            categories: CATEGORIES.iter().map(|(word, label, _)| choice(word, label, filter.word)).collect(),
            modes: MODES.iter().map(|(word, label)| choice(word, label, filter.mode)).collect(),
            tiles: devices.iter().filter(|device| filter.has(device)).map(|device| Tile::new(device, link)).collect(),
            shown,
            others: others.map(other).collect(),
            preview: preview.as_ref().map(|preview| preview.preview_id.to_string()).unwrap_or_default(),
        }
    }
}

fn label(device: &PreviewDeviceView) -> String {
    let variant = match (device.dark, device.images) {
        (true, _) => " (dark)",
        (_, false) => " (images off)",
        _ => "",
    };
    if device.device_name.contains(['(', ',']) || variant.is_empty() {
        return device.device_name.clone();
    }
    format!("{}{variant}", device.device_name)
}

impl Tile {
    fn new(device: &PreviewDeviceView, link: &dyn Fn(Option<&str>) -> Option<String>) -> Self {
        use crate::engine::clients::profile::Tier;
        let tier = device.tier.map(|tier| match tier {
            Tier::NearBrowser => "like a browser",
            Tier::Filtered => "filtered",
            Tier::Approximated => "approximated",
        });
        let (width, height) = (device.width.unwrap_or_default(), device.height.unwrap_or_default());
        // The screenshot has several pixels per CSS pixel, so its height is scaled to the viewport's width.
        let shown_height = match width {
            0 => 0,
            width => u32::try_from(u64::from(height) * u64::from(device.viewport_width) / u64::from(width)).unwrap_or(u32::MAX),
        };
        Self {
            key: device.device_key.clone(),
            name: label(device),
            os: device.os.clone(),
            status: device.status,
            error: device.error.clone(),
            dark: device.dark,
            images: device.images,
            thumbnail: link(device.thumbnail_url.as_deref()),
            picture: link(device.screenshot_url.as_deref()),
            width: device.viewport_width,
            height: shown_height,
            tier,
            data_version: device.data_version.clone(),
            cut_count: device.cuts.iter().map(|cut| cut.count as usize).sum(),
            cuts: CutGroup::all(&device.cuts),
            notes: device
                .notes
                .iter()
                .map(|note| NoteLine { message: note.message.clone(), lines: note.lines.clone() })
                .collect(),
        }
    }
}

/// Shows the preview whose ID is in the query. Without an ID, shows the button that starts a preview.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let EmailDetails { email, series, .. } = email(visit).await?;
    let head = EmailHead::new(&email, series, "previews");
    if visit.query.some("preview").is_none() {
        return Ok(PageResponse::draw(&PreviewsPage::empty(head, Filter::of(visit))));
    }
    let wanted = json!({ "previewId": visit.query.get("preview") });
    let Done(preview) = match visit.ask::<previews::ops::get::Get>(wanted).await {
        Ok(found) => found,
        // Previews are deleted after a week, so an old link leads to the page without a preview.
        Err(error) if error.status == http::StatusCode::NOT_FOUND => return Ok(PageResponse::redirect(visit.path.clone())),
        Err(error) => return Err(error),
    };
    if preview.email_id != Some(email.id) {
        return Err(PageError::not_found());
    }
    let keys = [visit.query.get("device"), visit.query.get("with")];
    let link = |link: Option<&str>| own(visit, link);
    let is_outdated = is_outdated(preview.created_at, email.updated_at);
    let page = PreviewsPage::new(head, Some(preview), Filter::of(visit), keys, &link);
    Ok(PageResponse::draw(&PreviewsPage { is_outdated, ..page }))
}

/// Returns whether the email has changed since its preview was started.
fn is_outdated(started_at: WireTime, changed_at: WireTime) -> bool {
    started_at.0 < changed_at.0
}

/// Starts a preview on the common devices or on all devices. A repeated request does not render unchanged content again.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let EmailDetails { email, series, .. } = email(visit).await?;
    let is_all = match visit.form.get("act") {
        "draw" => false,
        "draw-all" => true,
        _ => return Err(PageError::unknown_action()),
    };
    let Counted { data: known, .. } = visit.ask::<previews::ops::devices::Devices>(json!({})).await?;
    let common: Vec<&str> = known.devices.iter().filter(|device| device.is_default).map(|device| device.key).collect();
    // The common devices include their variants in dark mode and without images, because the page can also show these.
    let is_common = |key: &str| {
        common
            .iter()
            .any(|one| key == *one || key.strip_prefix(one).is_some_and(|variant| matches!(variant, ".dark" | ".no-images")))
    };
    let devices: Vec<&str> = known.devices.iter().map(|device| device.key).filter(|key| is_all || is_common(key)).collect();
    let wanted = json!({ "emailId": email.id, "devices": devices });
    match visit.ask::<previews::ops::create::Create>(wanted).await {
        Ok(Created(preview)) => {
            let all = if is_all { "&all=yes" } else { "" };
            Ok(PageResponse::redirect(format!("{}?preview={}{all}", visit.path, preview.preview_id)))
        }
        Err(error) if is_shown(&error) || error.status == http::StatusCode::SERVICE_UNAVAILABLE => {
            let page = PreviewsPage::empty(EmailHead::new(&email, series, "previews"), Filter { is_all, ..Filter::default() });
            Ok(PageResponse::draw_with(&page, Some(&error)))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Timestamp;

    /// The page must report that a preview started before the last change shows an old version of the email.
    #[test]
    fn a_preview_from_before_a_change_is_outdated() {
        let at = |ms| WireTime(Timestamp(ms));
        assert_eq!([is_outdated(at(1), at(2)), is_outdated(at(2), at(2)), is_outdated(at(3), at(2))], [true, false, false]);
    }

    #[test]
    fn cuts_with_one_reason_are_one_row() {
        let cut = |line, what: &str, why: &str| Cut { line, what: what.into(), why: why.into(), slug: "x".into(), count: 1 };
        let groups =
            CutGroup::all(&[cut(1, "a", "one"), Cut { count: 2, ..cut(1, "a", "one") }, cut(2, "b", "two"), cut(9, "c", "one")]);
        let shown: Vec<_> =
            groups.iter().map(|group| (group.why.as_str(), group.count, group.parts.len(), &*group.lines)).collect();
        assert_eq!(shown, [("one", 4, 2, [1, 9].as_slice()), ("two", 1, 1, [2].as_slice())]);
    }
}
