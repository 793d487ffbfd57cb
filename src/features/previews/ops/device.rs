//! Returns one device of a preview.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::engine::clients::devices;
use crate::features::previews::require;
use crate::features::previews::views::{OneDeviceView, PreviewDeviceView, Viewer};
use crate::vocab::codes::Code;
use crate::vocab::ids::PreviewId;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct DeviceResult;

/// The device to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeviceRef {
    pub preview_id: PreviewId,
    /// The key of the device, such as `gmail.ios`.
    pub device_key: String,
}

impl Operation for DeviceResult {
    const SPEC: Spec =
        Spec::get("previews.device", "/v1/emails/previews/{previewId}/devices/{deviceKey}", needs(Permission::EmailPreview))
            .client("previews.devices.get")
            .summary("Get one device of a preview")
            .rate(RouteGroup::Emails)
            .fails(&[Code::NotFound]);
    type Input = DeviceRef;
    type Output = Done<OneDeviceView>;

    fn example() -> (Value, Self::Output) {
        let preview_id = PreviewId::parse("66f1a2b3d4e5f60718293a4b").expect("the sample ID is valid");
        let input = json!({ "previewId": preview_id, "deviceKey": "outlook.windows" });
        (input, Done(OneDeviceView { preview_id, device: PreviewDeviceView::sample() }))
    }
}

impl Query for DeviceResult {
    fn run(view: &View<'_>, input: DeviceRef) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let preview = require(view.tx, account, input.preview_id)?;
        let key = devices::find(&input.device_key).map_or(&input.device_key, |device| &device.key);
        let device = preview.devices.iter().find(|device| device.key == *key).ok_or_else(|| {
            let keys: Vec<&str> = preview.devices.iter().map(|device| device.key.as_str()).collect();
            Failure::because(
                Code::NotFound,
                format!("The preview does not include this device; use one of: {}.", keys.join(", ")),
            )
        })?;
        Viewer { engine: &view.caller.engine, tx: view.tx, account }.device(&preview, device).map(Done)
    }
}
