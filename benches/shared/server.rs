//! The service on a port, and connections to it.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;

use mailmill::engine::api::Engine;
use mailmill::engine::api::http_types::Service;
use mailmill::engine::tasks::Tasks;
use mailmill::surfaces::http::{Limits, Options, ProxyTrust, Running, TlsSource, serve};

/// Serves on a free loopback port.
pub async fn start<S: Service>(service: Arc<S>, engine: &Engine, tasks: &Tasks) -> (Running, SocketAddr) {
    let options = Options {
        http: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
        https: None,
        socket: None,
        nodes: None,
        tls: TlsSource::SelfSigned { folder: "unused".into(), names: Vec::new() },
        proxy: ProxyTrust::default(),
        limits: Limits::default(),
    };
    let (clock, random) = (engine.clock.clone(), engine.random.clone());
    let running = serve(options, service, clock, random, tasks).await.expect("a free port can be bound");
    let address = running.addresses().http.expect("listens");
    (running, address)
}

/// Opens a connection without send delay.
pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server accepts");
    stream.set_nodelay(true).expect("can be set");
    stream
}
