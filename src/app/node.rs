//! Starts this process as a node of a cluster: connects to the database, and prepares the data folder.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use data_encoding::HEXLOWER;

use super::folder::Folder;
use super::installation::{CONTROL_CACHE_BYTES, MIB};
use crate::base::clock::Clock;
use crate::base::random::{Random, SystemRandom};
use crate::engine::store::Store;
use crate::engine::store::cluster::{self, Link, Member, Options, ReplicatedPort, Schema, prepare};
use crate::engine::store::commit_log::StoreName;
use crate::engine::store::seal::Seal;
use crate::engine::store::space::Space;
use crate::surfaces::cli::Problem;
use crate::surfaces::http::Nodes;
use crate::vocab::limits;
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
    /// If the settings name a cluster, connects to it and brings the data folder up to date. Blocks, so it must not be called on a thread
    /// of an async runtime. `space` writes to the folder, so it is called only for a node of a cluster: on a single machine, a new
    /// installation is created only in an empty folder.
    pub fn join(
        folder: &Folder,
        settings: &Settings,
        space: impl FnOnce() -> Arc<Space>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<Self>, Problem> {
        let own = &settings.cluster;
        let (Some(database), Some(secret)) = (&own.database, &own.secret) else { return Ok(None) };
        let (listener, address) = listen(own)?;
        let options = Options {
            database: database.expose().clone(),
            authorities: own.database_authorities.clone(),
            node: own.node.clone(),
            address,
            lease: own.lease_seconds.seconds(),
        };
        let random: Arc<dyn Random> = Arc::new(SystemRandom::default());
        let (member, schema) = Member::connect(options, clock.clone(), random).map_err(Problem::failed)?;
        warn_about_clock(&member, clock.as_ref());
        let seal = master_key(folder, own, &schema)?;
        // The cluster stores this check value. Without the master key, the value cannot be used to test guesses of the secret.
        let check = HEXLOWER.encode(&seal.derive(&format!("mailmill cluster secret v1 {}", secret.expose())));
        let shared = member.shared();
        let mut link = Link::new(shared.database.clone());
        shared.runtime.block_on(cluster::check_secret(&mut link, &check)).map_err(Problem::failed)?;
        let space = &space();
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

/// Logs a warning if the clock of this machine differs from the database's clock.
fn warn_about_clock(member: &Member, clock: &dyn Clock) {
    let shared = member.shared();
    let measured = shared.runtime.block_on(cluster::clock_offset_ms(&mut Link::new(shared.database.clone()), clock));
    // If the database cannot be reached, the next startup step reports the problem.
    if let Ok(ahead_ms) = measured
        && ahead_ms.abs() > limits::CLUSTER_CLOCK_MS_MAX
    {
        tracing::warn!(
            ahead_seconds = ahead_ms / 1000,
            "the clock of this machine differs from the clock of the cluster's database; synchronize both with a time service"
        );
    }
}

/// Binds the address at which this node accepts connections from other nodes. Also returns the address that the other nodes connect to,
/// with the bound port if the setting has port 0.
fn listen(cluster: &settings::Cluster) -> Result<(TcpListener, String), Problem> {
    let setting = if cluster.listen.is_some() { "cluster.listen" } else { "cluster.address" };
    let at = cluster.listen.or_else(|| cluster.address.parse().ok());
    let at: SocketAddr = at.ok_or_else(|| {
        Problem::misused("cluster.listen must be set if cluster.address has a host name; use an address like 0.0.0.0:7443")
    })?;
    let bound = TcpListener::bind(at).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok((listener.local_addr()?.port(), listener))
    });
    let (port, listener) = bound.map_err(|error| {
        Problem::failed(format_args!(
            "cannot listen on {at} for other nodes (setting {setting}): {error}; use one of this machine's addresses, and a free port that \
             the service is allowed to use"
        ))
    })?;
    let address = match cluster.address.strip_suffix(":0") {
        Some(host) => format!("{host}:{port}"),
        None => cluster.address.clone(),
    };
    Ok((listener, address))
}

/// Returns the installation's master key from the data folder. If the folder has no key, the key file that the settings name is checked and
/// then copied into the folder.
fn master_key(folder: &Folder, cluster: &settings::Cluster, schema: &Schema) -> Result<Seal, Problem> {
    let file = folder.master_key();
    if folder.rekey().exists() {
        return Err(Problem::failed(format_args!(
            "`mailmill rekey` was interrupted in this data folder (the file {} exists), and its new key is not the key of the cluster. \
             Choose another data folder with --data, or move the file to another folder",
            folder.rekey().display()
        )));
    }
    if !file.exists() {
        let Some(copy) = &cluster.master_key else {
            return Err(Problem::failed(format_args!(
                "{} does not exist: copy master.key from the data folder of another node to this path (mode 600), or set \
                 cluster.master_key to a copy outside the data folder",
                file.display()
            )));
        };
        // The key is checked before it is copied: a wrong key in the folder would take precedence even after the setting is corrected.
        checked_key(copy, schema)?.copy_to(&file).map_err(Problem::failed)?;
    }
    let seal = Seal::read(&file).map_err(Problem::failed)?;
    match is_right(&seal, schema) {
        true => Ok(seal),
        false => Err(Problem::failed(format_args!(
            "{} is not the master key of the cluster: copy master.key from the data folder of another node to this path, or delete \
             this file and set cluster.master_key to a copy of the cluster's key",
            file.display()
        ))),
    }
}

/// Reads the copy of the master key that `cluster.master_key` names, and checks that it is the key of the cluster.
pub fn checked_key(copy: &Path, schema: &Schema) -> Result<Seal, Problem> {
    let seal = Seal::read(copy).map_err(|error| Problem::failed(format_args!("cluster.master_key: {error}")))?;
    match is_right(&seal, schema) {
        true => Ok(seal),
        false => Err(Problem::failed(format_args!(
            "cluster.master_key: {} is not the master key of the cluster; copy master.key from the data folder of another node to \
             this path",
            copy.display()
        ))),
    }
}

fn is_right(seal: &Seal, schema: &Schema) -> bool {
    seal.check_value().text() == schema.key_check
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::{DEFAULT, load};
    use crate::engine::store::seal::KeyCheck;

    fn schema(check: &KeyCheck) -> Schema {
        Schema { installation: "one".into(), key_check: check.text().to_owned(), secret_check: String::new(), losses_accepted: 0 }
    }

    #[test]
    fn a_wrong_copy_of_the_master_key_is_named_with_its_setting_and_not_copied() {
        let outer = tempfile::tempdir().expect("a temporary folder");
        let folder = Folder::open(&outer.path().join("data")).expect("the data folder can be opened");
        let random = SystemRandom::default();
        let key = |name: &str| Seal::make(&outer.path().join(name), &random).expect("a key can be made");
        let (right, _) = (key("right"), key("wrong"));
        let with = |name: &str| {
            let settings = load(DEFAULT, None, &[], &[]).expect("the defaults are valid");
            let cluster = settings::Cluster { master_key: Some(outer.path().join(name)), ..settings.cluster };
            master_key(&folder, &cluster, &schema(&right.check_value()))
        };
        let refused = with("wrong").err().expect("the key is wrong").to_string();
        assert!(refused.starts_with("cluster.master_key: ") && refused.contains("wrong"), "{refused}");
        assert!(!folder.master_key().exists());
        let missing = with("missing").err().expect("there is no key").to_string();
        assert!(missing.starts_with("cluster.master_key: "), "{missing}");
        assert!(with("right").is_ok() && folder.master_key().exists());
    }
}
