//! Previews and devices, as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{Drawing, DrawingState, Preview, PreviewDevice};
use super::store;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Engine, Failure};
use crate::engine::clients::devices::{self, Category, Device};
use crate::engine::clients::profile::Tier;
use crate::engine::clients::transform::{Cut, Note};
use crate::engine::store::Read;
use crate::vocab::ids::{AccountId, BlobId, EmailId, PreviewId};

/// The status of a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PreviewStatus {
    /// Some devices are waiting or being drawn.
    Processing,
    /// All devices were drawn.
    Completed,
    /// Some devices were drawn, and the others failed.
    PartialSuccess,
    /// No device was drawn.
    Failed,
}

/// The status of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum DeviceStatus {
    Processing,
    Successful,
    Failed,
}

/// The number of devices in each status.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewMetadata {
    pub requested_devices: usize,
    pub completed_devices: usize,
    pub failed_devices: usize,
    pub processing_devices: usize,
    /// The time from the creation of the preview until all devices were finished, in milliseconds; absent while devices are waiting or
    /// being drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processing_time: Option<u64>,
}

/// An email on one device. The picture is a simulation, not a screenshot of the client.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewDeviceView {
    /// The key, such as `gmail.ios` or `apple-mail.ios.dark`.
    pub device_key: String,
    pub device_name: String,
    /// The client's name.
    pub client: String,
    pub os: String,
    pub category: Category,
    pub status: DeviceStatus,
    /// Whether the client is in dark mode.
    pub dark: bool,
    /// Whether the client loads images.
    pub images: bool,
    /// The width of the window in CSS pixels.
    pub viewport_width: u32,
    /// The width of the screenshot in pixels.
    pub width: Option<u32>,
    /// The height of the screenshot in pixels.
    pub height: Option<u32>,
    /// The URL of a PNG of the email. If the PNG lacks the end of the email, `notes` contains the note `cut_off`. The URL is valid for one
    /// to two days. To get a new URL, get the preview again.
    pub screenshot_url: Option<String>,
    /// The URL of a small PNG of the top of the email.
    pub thumbnail_url: Option<String>,
    /// The URL of a small version of the screenshot.
    pub full_thumbnail_url: Option<String>,
    /// The rendering engine: `embedded` or `chromium`.
    pub engine: Option<String>,
    /// How closely the simulation matches the client.
    pub tier: Option<Tier>,
    /// The date of the HTML and CSS support tables on which the simulation is based, as `YYYY-MM-DD`.
    pub data_version: Option<String>,
    /// The parts of the email that the client removes or changes.
    pub cuts: Vec<Cut>,
    /// Problems with the email in this client, and limitations of the picture.
    pub notes: Vec<Note>,
    /// Whether the rendering was already finished when the preview was created.
    pub cached: bool,
    /// The time that rendering took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processing_time: Option<u32>,
    /// Why rendering failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A preview with its devices.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewView {
    pub preview_id: PreviewId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub subject: String,
    /// The ID of the stored email, if the preview shows one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email_id: Option<EmailId>,
    pub status: PreviewStatus,
    /// The devices in the order of the request.
    pub devices: Vec<PreviewDeviceView>,
    pub metadata: PreviewMetadata,
    /// Whether all renderings were already finished when the preview was created.
    pub cached: bool,
    pub created_at: WireTime,
    /// When the preview is deleted.
    pub expires_at: WireTime,
}

/// The status of a preview.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewStatusView {
    pub preview_id: PreviewId,
    pub status: PreviewStatus,
    pub metadata: PreviewMetadata,
}

/// One device of a preview.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OneDeviceView {
    pub preview_id: PreviewId,
    pub device: PreviewDeviceView,
}

/// Loads the data for views.
pub struct Viewer<'a, R> {
    pub engine: &'a Engine,
    pub tx: &'a R,
    pub account: AccountId,
}

impl<R: Read> Viewer<'_, R> {
    pub fn preview(&self, preview: &Preview) -> Result<PreviewView, Failure> {
        let drawings = self.drawings(preview)?;
        let (status, metadata) = summary(preview, &drawings);
        let devices = preview.devices.iter().zip(&drawings);
        Ok(PreviewView {
            preview_id: preview.id,
            name: preview.name.clone(),
            subject: preview.subject.clone(),
            email_id: preview.email,
            status,
            devices: devices.map(|(device, drawing)| self.of(device, drawing)).collect(),
            metadata,
            cached: preview.devices.iter().all(|device| device.cached),
            created_at: WireTime(preview.created_at),
            expires_at: WireTime(preview.expires_at),
        })
    }

    pub fn status(&self, preview: &Preview) -> Result<PreviewStatusView, Failure> {
        let (status, metadata) = summary(preview, &self.drawings(preview)?);
        Ok(PreviewStatusView { preview_id: preview.id, status, metadata })
    }

    pub fn device(&self, preview: &Preview, device: &PreviewDevice) -> Result<OneDeviceView, Failure> {
        let drawing = self.drawing(device)?;
        Ok(OneDeviceView { preview_id: preview.id, device: self.of(device, &drawing) })
    }

    fn drawings(&self, preview: &Preview) -> Result<Vec<Drawing>, Failure> {
        preview.devices.iter().map(|device| self.drawing(device)).collect()
    }

    fn drawing(&self, device: &PreviewDevice) -> Result<Drawing, Failure> {
        let found = store::drawing(self.tx, self.account, device.drawing)?;
        found.ok_or_else(|| Failure::internal("the image of a preview is missing; report this bug"))
    }

    fn of(&self, device: &PreviewDevice, drawing: &Drawing) -> PreviewDeviceView {
        let link = |file: BlobId| Some(self.engine.file_link(file).0);
        // If this version no longer supports the device, the device's key is used as its name.
        let known = devices::find(&device.key);
        let view = PreviewDeviceView { cached: device.cached, ..PreviewDeviceView::waiting(&device.key, known) };
        match &drawing.state {
            DrawingState::Waiting => view,
            DrawingState::Failed(reason) => {
                PreviewDeviceView { status: DeviceStatus::Failed, error: Some(reason.clone()), ..view }
            }
            DrawingState::Drawn(picture) => PreviewDeviceView {
                status: DeviceStatus::Successful,
                width: Some(picture.width),
                height: Some(picture.height),
                screenshot_url: link(picture.screenshot),
                thumbnail_url: link(picture.thumbnail),
                full_thumbnail_url: link(picture.full_thumbnail),
                engine: Some(picture.engine.clone()),
                tier: Some(picture.tier),
                data_version: Some(picture.data_version.clone()),
                cuts: picture.cuts.clone(),
                notes: picture.notes.clone(),
                processing_time: Some(picture.milliseconds),
                ..view
            },
        }
    }
}

impl PreviewDeviceView {
    fn waiting(key: &str, device: Option<&Device>) -> Self {
        let text = |text: fn(&Device) -> &String| device.map_or_else(|| key.to_owned(), |device| text(device).clone());
        Self {
            device_key: key.to_owned(),
            device_name: text(|device| &device.name),
            client: text(|device| &device.client),
            os: device.map(|device| device.os.clone()).unwrap_or_default(),
            category: device.map_or(Category::Misc, |device| device.category),
            status: DeviceStatus::Processing,
            dark: device.is_some_and(|device| device.is_dark),
            images: device.is_none_or(|device| device.loads_images),
            viewport_width: device.map_or(0, |device| device.viewport.0),
            width: None,
            height: None,
            screenshot_url: None,
            thumbnail_url: None,
            full_thumbnail_url: None,
            engine: None,
            tier: None,
            data_version: None,
            cuts: Vec::new(),
            notes: Vec::new(),
            cached: false,
            processing_time: None,
            error: None,
        }
    }

    pub fn sample() -> Self {
        let link = |id: &str| Some(format!("https://mail.example.com/v1/files/{id}?token=1767312000.5d41"));
        Self {
            status: DeviceStatus::Successful,
            width: Some(800),
            height: Some(1_942),
            screenshot_url: link("66f1a2b3d4e5f60718293a4c"),
            thumbnail_url: link("66f1a2b3d4e5f60718293a4d"),
            full_thumbnail_url: link("66f1a2b3d4e5f60718293a4e"),
            engine: Some("embedded".into()),
            tier: Some(Tier::Approximated),
            data_version: Some("2026-05-13".into()),
            cuts: vec![Cut {
                line: 12,
                what: "border-radius:4px".into(),
                why: "The client does not support this feature.".into(),
                slug: "css-border-radius".into(),
                count: 1,
            }],
            processing_time: Some(180),
            ..Self::waiting("outlook.windows", devices::find("outlook.windows"))
        }
    }
}

impl PreviewMetadata {
    pub fn sample(processing: bool) -> Self {
        Self {
            requested_devices: 1,
            completed_devices: usize::from(!processing),
            failed_devices: 0,
            processing_devices: usize::from(processing),
            processing_time: (!processing).then_some(420),
        }
    }
}

impl PreviewView {
    pub fn sample(processing: bool) -> Self {
        let done = PreviewDeviceView::sample();
        let device = devices::find(&done.device_key);
        Self {
            preview_id: PreviewId::parse("66f1a2b3d4e5f60718293a4b").expect("the sample ID is valid"),
            name: Some("Spring sale".into()),
            subject: "Our spring sale starts today".into(),
            email_id: None,
            status: if processing { PreviewStatus::Processing } else { PreviewStatus::Completed },
            devices: vec![if processing { PreviewDeviceView::waiting(&done.device_key, device) } else { done }],
            metadata: PreviewMetadata::sample(processing),
            cached: false,
            created_at: WireTime::sample(),
            expires_at: WireTime::sample(),
        }
    }
}

/// Returns the status of a preview and the number of its devices in each status.
fn summary(preview: &Preview, drawings: &[Drawing]) -> (PreviewStatus, PreviewMetadata) {
    let count = |wanted: fn(&DrawingState) -> bool| drawings.iter().filter(|drawing| wanted(&drawing.state)).count();
    let processing = count(DrawingState::is_waiting);
    let failed = count(|state| matches!(state, DrawingState::Failed(_)));
    let completed = drawings.len() - processing - failed;
    let status = match (processing, completed, failed) {
        (1.., _, _) => PreviewStatus::Processing,
        (_, _, 0) => PreviewStatus::Completed,
        (_, 0, _) => PreviewStatus::Failed,
        _ => PreviewStatus::PartialSuccess,
    };
    let time = preview.finished_at.map(|at| u64::try_from(at.ms_since(preview.created_at)).unwrap_or_default());
    let metadata = PreviewMetadata {
        requested_devices: drawings.len(),
        completed_devices: completed,
        failed_devices: failed,
        processing_devices: processing,
        processing_time: time.filter(|_| processing == 0),
    };
    (status, metadata)
}
