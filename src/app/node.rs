//! Starts this process as a node of a cluster: connects to the database, and prepares the data folder.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use super::folder::Folder;
use super::installation::{CONTROL_CACHE_BYTES, MIB};
use crate::base::clock::Clock;
use crate::base::random::{Random, SystemRandom};
use crate::engine::store::Store;
use crate::engine::store::cluster::{Member, Options, ReplicatedPort, Schema, prepare};
use crate::engine::store::commit_log::StoreName;
use crate::engine::store::seal::Seal;
use crate::engine::store::space::Space;
use crate::surfaces::cli::Problem;
use crate::surfaces::http::Nodes;
use crate::vocab::settings::{self, Settings};
use crate::vocab::tables::DatabaseKind;

/// A node whose data folder is ready.
pub struct Node {
    pub member: Arc<Member>,
    pub seal: Seal,
    /// The listener for other nodes.
    pub nodes: Nodes,
    space: Arc<Space>,
    ports: [ReplicatedPort; 3],
}

/// A node whose stores are open.
pub struct OpenNode {
    pub member: Arc<Member>,
    pub seal: Seal,
    pub nodes: Nodes,
    pub stores: [Arc<Store>; 3],
}

impl Node {
    /// Connects to the cluster and brings the data folder up to date, if the settings name a cluster. Blocks, so it must not be
    /// called on a thread of an async runtime.
    pub fn join(
        folder: &Folder,
        settings: &Settings,
        space: &Arc<Space>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<Self>, Problem> {
        let cluster = &settings.cluster;
        let (Some(database), Some(secret)) = (&cluster.database, &cluster.secret) else { return Ok(None) };
        let (listener, address) = listen(cluster)?;
        let options = Options {
            database: database.expose().clone(),
            authorities: cluster.database_authorities.clone(),
            node: cluster.node.clone(),
            address,
            lease: cluster.lease_seconds.seconds(),
        };
        let random: Arc<dyn Random> = Arc::new(SystemRandom::default());
        let (member, schema) = Member::connect(options, clock.clone(), random).map_err(Problem::failed)?;
        let seal = master_key(folder, cluster, &schema)?;
        let open = |store: StoreName| {
            let cache_bytes = match store.database_kind() {
                DatabaseKind::Control => CONTROL_CACHE_BYTES,
                _ => settings.data.cache_mib.count() * MIB,
            };
            let file = folder.store(store.word());
            prepare(member.shared(), &schema, store, &file, space, cache_bytes).map_err(Problem::failed)
        };
        let [control, test, live] = StoreName::ALL;
        let ports = [open(control)?, open(test)?, open(live)?];
        let nodes = Nodes { listener, secret: secret.clone() };
        Ok(Some(Self { member, seal, nodes, space: space.clone(), ports }))
    }

    pub fn open(self, folder: &Folder, random: &Arc<dyn Random>) -> Result<OpenNode, Problem> {
        let Self { member, seal, nodes, space, ports } = self;
        let open = |port: ReplicatedPort| {
            let file = folder.store(port.store().word());
            Store::replicated(space.clone(), &file, port, random.clone()).map(Arc::new).map_err(Problem::failed)
        };
        let [control, test, live] = ports;
        Ok(OpenNode { member, seal, nodes, stores: [open(control)?, open(test)?, open(live)?] })
    }
}

/// Binds the address for other nodes. Returns the address that the other nodes connect to, with the bound port if the setting has port
/// 0.
fn listen(cluster: &settings::Cluster) -> Result<(TcpListener, String), Problem> {
    let setting = if cluster.listen.is_some() { "cluster.listen" } else { "cluster.address" };
    let at = cluster.listen.or_else(|| cluster.address.parse().ok());
    let at: SocketAddr = at.ok_or_else(|| Problem::misused("cluster.listen must be set if cluster.address has a host name"))?;
    let bound = TcpListener::bind(at).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok((listener.local_addr()?.port(), listener))
    });
    let (port, listener) = bound.map_err(|error| {
        Problem::failed(format_args!(
            "cannot listen on {at} for other nodes (setting {setting}): {error}; choose a free port at an address of this machine"
        ))
    })?;
    let address = match cluster.address.strip_suffix(":0") {
        Some(host) => format!("{host}:{port}"),
        None => cluster.address.clone(),
    };
    Ok((listener, address))
}

/// Returns the installation's master key from the data folder. If the folder has no key, the file in the settings is first copied into
/// the folder.
pub fn master_key(folder: &Folder, cluster: &settings::Cluster, schema: &Schema) -> Result<Seal, Problem> {
    let file = folder.master_key();
    if folder.rekey().exists() {
        return Err(Problem::failed(format_args!(
            "{} exists: a rekey of this folder was interrupted, and a cluster does not use the new key. Choose another data folder with \
             --data, or move this file to another folder",
            folder.rekey().display()
        )));
    }
    let is_there = file.exists();
    let source = if is_there {
        file.clone()
    } else {
        let Some(copy) = &cluster.master_key else {
            return Err(Problem::failed(format_args!(
                "{} does not exist: copy master.key from the data folder of another node to this path (mode 600), or set \
                 cluster.master_key to a copy outside the data folder",
                file.display()
            )));
        };
        copy.clone()
    };
    let seal = Seal::read(&source).map_err(Problem::failed)?;
    if seal.check_value().text() != schema.key_check {
        return Err(Problem::failed(format_args!(
            "{} is not the master key of the cluster: replace it with master.key from the data folder of another node",
            source.display()
        )));
    }
    if is_there {
        return Ok(seal);
    }
    seal.copy_to(&file).map_err(Problem::failed)?;
    Seal::read(&file).map_err(Problem::failed)
}
