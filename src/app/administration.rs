//! Runs administration commands through the running server or, if no server is running, in this process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::folder::{Folder, FolderError, admin_socket};
use super::open::OpenFolder;
use crate::base::clock::SystemClock;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::{Incoming, Service};
use crate::operations::OPERATIONS;
use crate::surfaces::cli::{self, Administration, CommandOutput, Problem};
use crate::vocab::settings::Settings;

/// How long to wait for the lock on the data folder. A server that is starting locks the folder before it responds, and other commands lock
/// it briefly.
const WAIT: Duration = Duration::from_secs(10);
const POLL_PAUSE: Duration = Duration::from_millis(50);

pub async fn administer(data: &Path, settings: Settings, command: &Administration) -> Result<CommandOutput, Problem> {
    match find(data, command).await? {
        AdminRoute::Socket => {
            let socket = admin_socket(data);
            cli::perform(command, async move |request| through_socket(&socket, request).await).await
        }
        AdminRoute::Here(_) if matches!(command, Administration::Drain { .. }) => Err(Problem::failed(format_args!(
            "no service is running with the data folder {}, so this node does not lead the cluster. To drain a running node, choose its \
             folder with --data",
            data.display()
        ))),
        AdminRoute::Here(folder) => {
            let opened = OpenFolder::open(folder, settings, Arc::new(SystemClock))?;
            let api = Api::new(opened.engine.clone(), OPERATIONS);
            let said = cli::perform(command, async |request| Ok(api.call(request).await)).await;
            drop(api);
            opened.close();
            said
        }
    }
}

/// Where an administration command runs: in this process, which has locked the folder (`Here`), or in the running server (`Socket`).
enum AdminRoute {
    Here(Folder),
    Socket,
}

async fn find(data: &Path, command: &Administration) -> Result<AdminRoute, Problem> {
    let open = if command.may_begin() { Folder::open } else { Folder::open_existing };
    let polls = WAIT.as_millis() / POLL_PAUSE.as_millis();
    for _ in 0..polls {
        match open(data) {
            Ok(folder) => return Ok(AdminRoute::Here(folder)),
            Err(FolderError::InUse { .. }) if cli::is_served(&admin_socket(data)) => return Ok(AdminRoute::Socket),
            Err(FolderError::InUse { .. }) => tokio::time::sleep(POLL_PAUSE).await,
            Err(error) => return Err(Problem::failed(error)),
        }
    }
    // Another process is using the folder and does not respond; the error names that process if its ID is known.
    open(data).map(AdminRoute::Here).map_err(Problem::failed)
}

async fn through_socket(socket: &Path, request: Incoming) -> Result<crate::engine::api::http_types::Reply, Problem> {
    let path = socket.to_path_buf();
    let called = tokio::task::spawn_blocking(move || cli::call_socket(&path, request)).await.map_err(Problem::failed)?;
    called.map_err(|error| {
        Problem::failed(format_args!(
            "the request to the running service at {} failed: {error}; check the service's log, and run the command again",
            socket.display()
        ))
    })
}
