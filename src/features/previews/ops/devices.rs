//! Lists the devices for previews.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::operation::NoInput;
use crate::engine::api::{Counted, Failure, Operation, Query, Spec, View, needs};
use crate::engine::clients::devices::{self, Category, Device};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Devices;

/// A device on which an email can be previewed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupportedDevice {
    pub key: &'static str,
    pub name: &'static str,
    pub category: Category,
    /// The client's name.
    pub client: &'static str,
    pub os: &'static str,
    /// The width of the window in CSS pixels.
    pub viewport_width: u32,
    /// Whether the client is in dark mode.
    pub dark: bool,
    /// Whether the client loads images.
    pub images: bool,
    /// Whether the device is used if a request names no devices.
    pub is_default: bool,
}

/// The keys of the devices, by category.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeviceCategories {
    pub desktop: Vec<&'static str>,
    pub mobile: Vec<&'static str>,
    pub web: Vec<&'static str>,
    pub misc: Vec<&'static str>,
}

/// The devices for previews.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SupportedDevices {
    pub total: usize,
    pub categories: DeviceCategories,
    pub devices: Vec<SupportedDevice>,
}

impl SupportedDevices {
    fn of<'a>(devices: impl Iterator<Item = &'static Device> + Clone + 'a) -> Self {
        let of = |category: Category| {
            devices.clone().filter(|device| device.category == category).map(|device| device.key.as_str()).collect()
        };
        let categories = DeviceCategories {
            desktop: of(Category::Desktop),
            mobile: of(Category::Mobile),
            web: of(Category::Web),
            misc: of(Category::Misc),
        };
        let devices: Vec<SupportedDevice> = devices.map(SupportedDevice::from).collect();
        Self { total: devices.len(), categories, devices }
    }

    fn counted(self) -> Counted<Self> {
        Counted { count: self.total, data: self }
    }
}

impl From<&'static Device> for SupportedDevice {
    fn from(device: &'static Device) -> Self {
        Self {
            key: &device.key,
            name: &device.name,
            category: device.category,
            client: &device.client,
            os: &device.os,
            viewport_width: device.viewport.0,
            dark: device.is_dark,
            images: device.loads_images,
            is_default: device.is_common,
        }
    }
}

impl Operation for Devices {
    const SPEC: Spec = Spec::get("previews.devices", "/v1/emails/devices/supported", needs(Permission::EmailPreview))
        .client("previews.devices.list")
        .summary("List the devices available for previews")
        .rate(RouteGroup::Emails);
    type Input = NoInput;
    type Output = Counted<SupportedDevices>;

    fn example() -> (Value, Self::Output) {
        (json!({}), SupportedDevices::of(devices::all().iter().take(2)).counted())
    }
}

impl Query for Devices {
    fn run(_: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        Ok(SupportedDevices::of(devices::all().iter()).counted())
    }
}
