//! The administration socket: a Unix socket that only the owner of the data folder and root can open. Processes that connect act as the
//! operator.
//!
//! Three checks protect it: the folder and the socket file are closed to other users, and the kernel reports the user of each
//! connection.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

use super::options::StartError;

/// A bound administration socket. Dropping the socket removes its file.
pub struct AdminSocket {
    listener: UnixListener,
    path: PathBuf,
    inode: u64,
    own_uid: u32,
}

impl AdminSocket {
    /// Binds a socket at `path`. Replaces a file left by a process that has ended, but not a socket that a process still listens
    /// on.
    pub async fn bind(path: &Path) -> Result<Self, StartError> {
        let failed = |why: String| StartError::Socket { path: path.to_owned(), why };
        prepare_folder(path).map_err(failed)?;
        remove_stale(path).await.map_err(failed)?;
        let listener = UnixListener::bind(path).map_err(|error| failed(bind_failure(&error)))?;
        // Until this call restricts access to the socket's file, only the permissions of its folder keep other users out.
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(|error| failed(error.to_string()))?;
        let file = std::fs::symlink_metadata(path).map_err(|error| failed(error.to_string()))?;
        Ok(Self { listener, path: path.to_owned(), inode: file.ino(), own_uid: file.uid() })
    }

    /// Returns the next connection of a permitted user. Connections of other users are closed.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let uid = stream.peer_cred()?.uid();
            if uid == 0 || uid == self.own_uid {
                return Ok(stream);
            }
            tracing::warn!(uid, "another user connected to the administration socket and was refused");
        }
    }
}

impl Drop for AdminSocket {
    fn drop(&mut self) {
        // The file is removed only if it is still this socket's file, because another process may have replaced it.
        if std::fs::symlink_metadata(&self.path).is_ok_and(|file| file.ino() == self.inode) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn prepare_folder(path: &Path) -> Result<(), String> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .ok_or("the path of the socket has no parent folder: choose another data folder")?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mode = std::fs::metadata(folder).map_err(|error| format!("{}: {error}", folder.display()))?.permissions().mode();
    if mode & 0o077 != 0 {
        let folder = folder.display();
        return Err(format!("other users can access the socket's folder (mode {:o}): run chmod 700 {folder}", mode & 0o777));
    }
    Ok(())
}

async fn remove_stale(path: &Path) -> Result<(), String> {
    let file = match std::fs::symlink_metadata(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    if !file.file_type().is_socket() {
        return Err("a file or folder that is not a socket already exists at this path: move or delete it".to_owned());
    }
    match UnixStream::connect(path).await {
        Ok(_) => Err("another process is listening on this socket: stop it first, or use another data folder".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).map_err(|error| error.to_string())
        }
        Err(error) => Err(format!("could not determine whether another process is listening on this socket: {error}")),
    }
}

fn bind_failure(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::InvalidInput => "the path is too long for a socket: use a data folder with a shorter path".to_owned(),
        _ => error.to_string(),
    }
}
