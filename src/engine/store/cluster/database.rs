//! Connections to the cluster's database.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use tokio::runtime::Handle;
use tokio_postgres::config::{LoadBalanceHosts, SslMode, TargetSessionAttrs};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Row, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Error, Result};
use crate::vocab::limits;

/// The time without traffic after which TCP checks a connection, and the time between two checks.
const KEEPALIVE_TIME: Duration = Duration::from_secs(1);

/// A parameter of a statement, with its PostgreSQL type. Because the types are specified, a statement does not have to be prepared, so it
/// takes one round trip, even through a connection pooler.
pub type Value<'v> = (&'v (dyn ToSql + Sync), Type);

/// The cluster's database: its address, and how to connect to it.
pub struct Database {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    runtime: Handle,
}

impl Database {
    /// Parses `url`. Unless the URL has `sslmode=disable`, connections are encrypted, and the server's certificate and name are verified:
    /// against the certificate authorities in the file `authorities`, or against those of the system if `authorities` is `None`. The tasks
    /// of the connections run on `runtime`.
    pub fn new(url: &str, authorities: Option<&Path>, runtime: Handle) -> Result<Arc<Self>> {
        let invalid = |error: &dyn std::fmt::Display| {
            Error::Settings(format!(
                "cluster.database is not a valid URL: {error}; write it like postgres://mailmill:PASSWORD@db.internal/mailmill"
            ))
        };
        // The client library does not support `verify-full`, the usual name of this mode. With `require`, the TLS configuration below
        // verifies the server.
        let url = url.replace("sslmode=verify-full", "sslmode=require");
        let mut config: Config = url.parse().map_err(|error| invalid(&error))?;
        config.application_name("mailmill").connect_timeout(limits::CLUSTER_CONNECT_TIME);
        if config.get_hosts().len() > 1 {
            // A server that does not respond must not use up the time for the others. Because the order is random, a server that accepts
            // connections and then does not respond is not always tried first.
            config.connect_timeout(limits::CLUSTER_HOST_CONNECT_TIME).load_balance_hosts(LoadBalanceHosts::Random);
            // The data of a standby can be older than that of the primary server.
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        // A server that disappears from the network closes no connection, so TCP must detect that the server is silent.
        config.tcp_user_timeout(limits::CLUSTER_SILENCE_TIME).keepalives_idle(KEEPALIVE_TIME);
        config.keepalives_interval(KEEPALIVE_TIME).keepalives_retries(limits::CLUSTER_SILENCE_TIME.as_secs() as u32 - 1);
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => None,
            _ => {
                config.ssl_mode(SslMode::Require);
                Some(MakeRustlsConnect::new(verifying(authorities)?))
            }
        };
        Ok(Arc::new(Self { config, tls, runtime }))
    }

    async fn connect(&self) -> Result<Client> {
        match &self.tls {
            Some(tls) => self.connect_with(tls.clone()).await,
            None => self.connect_with(NoTls).await,
        }
    }

    async fn connect_with<T>(&self, tls: T) -> Result<Client>
    where
        T: MakeTlsConnect<Socket> + Send + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connecting = tokio::time::timeout(limits::CLUSTER_CONNECT_TIME, self.config.connect(tls));
        let connected = connecting.await.map_err(|_| Error::Database("the connection was not established in time".to_owned()))?;
        let (client, connection) = connected.map_err(|error| Error::Database(said(&error)))?;
        // The task ends when the client is dropped. If the connection fails, the statement that waits for a response fails too.
        self.runtime.spawn(async move { drop(connection.await) });
        Ok(client)
    }
}

fn verifying(authorities: Option<&Path>) -> Result<rustls::ClientConfig> {
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(file) => {
            let unreadable = |why: &dyn std::fmt::Display| {
                Error::Settings(format!(
                    "cluster.database_authorities: {} cannot be read: {why}; use a PEM file with certificates",
                    file.display()
                ))
            };
            let read = CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))?;
            let (added, _) = roots.add_parsable_certificates(read.flatten());
            if added == 0 {
                return Err(unreadable(&"the file contains no valid certificate"));
            }
        }
        None => drop(roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
    }
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Settings(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// A connection to the database, opened when it is first needed and reopened after a failure.
pub struct Link {
    database: Arc<Database>,
    client: Option<Client>,
}

/// Why a statement has no result.
#[derive(Debug)]
pub enum Failure {
    /// A row with this primary key exists already. The statement changed nothing.
    Taken,
    /// The statement may have taken effect.
    Unknown(Error),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Taken => Self::Database("a row exists already".to_owned()),
            Failure::Unknown(error) => error,
        }
    }
}

impl Link {
    pub fn new(database: Arc<Database>) -> Self {
        Self { database, client: None }
    }

    /// Runs one statement and returns its rows. Repeats the statement after a serialization failure or a deadlock. If the future is
    /// dropped, the connection is closed, because the response to the statement is still outstanding.
    pub async fn query(&mut self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        for attempt in 0.. {
            let client = self.take().await.map_err(Failure::Unknown)?;
            let running = tokio::time::timeout(limits::CLUSTER_STATEMENT_TIME, client.query_typed(statement, values)).await;
            let Ok(answer) = running else {
                return Err(Failure::Unknown(Error::Database("the database did not respond in time".to_owned())));
            };
            let error = match answer {
                Ok(rows) => {
                    self.client = Some(client);
                    return Ok(rows);
                }
                Err(error) => error,
            };
            match error.code() {
                Some(code) if *code == SqlState::UNIQUE_VIOLATION => {
                    self.client = Some(client);
                    return Err(Failure::Taken);
                }
                Some(code) if *code == SqlState::UNDEFINED_TABLE => return Err(Failure::Unknown(Error::NotInitialized)),
                Some(code) if *code == SqlState::UNDEFINED_COLUMN => return Err(Failure::Unknown(Error::OlderTables)),
                // The database has rolled back the statement, so the statement is repeated.
                Some(code) if is_conflict(code) && attempt < limits::CLUSTER_CONFLICTS_MAX => {
                    self.client = Some(client);
                    tokio::time::sleep(after_conflict(attempt)).await;
                }
                _ => return Err(Failure::Unknown(Error::Database(said(&error)))),
            }
        }
        unreachable!("the last attempt returns")
    }

    async fn take(&mut self) -> Result<Client> {
        match self.client.take() {
            Some(client) if !client.is_closed() => Ok(client),
            _ => self.database.connect().await,
        }
    }

    /// Runs one statement that changes rows, and returns the number of changed rows.
    pub async fn execute(&mut self, statement: &str, values: &[Value<'_>]) -> Result<usize, Failure> {
        Ok(self.query(&format!("{statement} RETURNING 1"), values).await?.len())
    }

    /// Runs statements without parameters, such as those that create tables. Repeats them like [`Link::query`].
    pub async fn define(&mut self, statements: &str) -> Result<()> {
        for attempt in 0.. {
            let client = self.take().await?;
            let done = client.batch_execute(statements).await;
            self.client = Some(client);
            match done {
                Err(error) if error.code().is_some_and(is_conflict) && attempt < limits::CLUSTER_CONFLICTS_MAX => {
                    tokio::time::sleep(after_conflict(attempt)).await;
                }
                done => return done.map_err(|error| Error::Database(said(&error))),
            }
        }
        unreachable!("the last attempt returns")
    }
}

/// Returns the pause before a statement is repeated.
fn after_conflict(attempt: u32) -> Duration {
    Duration::from_millis(5 << attempt)
}

fn is_conflict(code: &SqlState) -> bool {
    *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED
}

/// Returns the error message of the database or of the connection, without a trailing period.
fn said(error: &tokio_postgres::Error) -> String {
    let text = match error.as_db_error() {
        Some(said) => said.message().to_owned(),
        None => match std::error::Error::source(error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    };
    text.trim_end_matches('.').to_owned()
}
