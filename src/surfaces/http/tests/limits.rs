//! Tests of time limits and maximum counts, with low values so that the tests are fast.

use tokio::net::TcpSocket;
use tokio::time::Instant;

use super::*;

fn short(change: impl FnOnce(&mut Limits)) -> Options {
    let mut limits = Limits::default();
    change(&mut limits);
    plain(limits)
}

const MS_100: Duration = Duration::from_millis(100);

/// Sends `piece` every 10 ms until the server closes the connection. Returns the server's response.
async fn trickle(stream: &mut TcpStream, piece: &str) -> String {
    let (mut read, mut write) = stream.split();
    let mut said = Vec::new();
    let talk = async {
        // The write fails once the server has closed the connection.
        while write.write_all(piece.as_bytes()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        std::future::pending::<()>().await;
    };
    let listen = async {
        let _ = read.read_to_end(&mut said).await;
    };
    let both = async {
        tokio::select! {
            () = talk => {}
            () = listen => {}
        }
    };
    tokio::time::timeout(PATIENCE, both).await.expect("the server closes the connection in time");
    String::from_utf8(said).expect("the response is UTF-8 text")
}

/// The client keeps sending short header lines, so a time limit per read would never expire.
#[tokio::test]
async fn a_slow_loris_gets_408_and_is_closed() {
    let fixture = start(short(|limits| limits.header_time = MS_100)).await;
    let began = Instant::now();
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "GET / HTTP/1.1\r\nhost: a\r\n").await;
    let said = trickle(&mut stream, "x: y\r\n").await;
    assert_envelope(&said, "408", "REQUEST_TIMEOUT");
    assert!(began.elapsed() >= MS_100);
    drop(stream);
    until(|| fixture.running.connections() == 0).await;
}

#[tokio::test]
async fn a_slow_loris_is_closed_on_a_kept_alive_connection_too() {
    let fixture = start(short(|limits| limits.header_time = MS_100)).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    answer(&mut stream).await;
    // Between requests, the time limit for headers does not run; it starts with the first byte of the next head.
    tokio::time::sleep(MS_100 * 2).await;
    send(&mut stream, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(answer(&mut stream).await.1, "hello");
    send(&mut stream, "GET / HTTP/1.1\r\n").await;
    assert_envelope(&trickle(&mut stream, "x: y\r\n").await, "408", "REQUEST_TIMEOUT");
}

#[tokio::test]
async fn a_silent_connection_is_closed_without_a_response() {
    let fixture = start(short(|limits| limits.header_time = MS_100)).await;
    let mut stream = connect(fixture.http()).await;
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn half_of_the_http2_preface_is_a_slow_head_too() {
    let fixture = start(short(|limits| limits.header_time = MS_100)).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "PRI * HT").await;
    assert_envelope(&rest(&mut stream).await, "408", "REQUEST_TIMEOUT");
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let fixture = start(short(|limits| limits.idle_time = MS_100)).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    answer(&mut stream).await;
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn a_body_that_stops_arriving_times_out() {
    let fixture = start(short(|limits| limits.body_time = MS_100)).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "POST /length HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nabc").await;
    let (head, body) = answer(&mut stream).await;
    assert!(head.starts_with("HTTP/1.1 408"), "{head}");
    assert_eq!(body, format!("{:?}", BodyError::TooSlow));
}

#[tokio::test]
async fn a_trickled_body_times_out_though_no_single_wait_is_long() {
    let fixture = start(short(|limits| limits.body_time = MS_100)).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "POST /length HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n").await;
    let said = trickle(&mut stream, "x").await;
    assert!(said.starts_with("HTTP/1.1 408") && said.ends_with("TooSlow"), "{said}");
}

#[tokio::test]
async fn a_large_body_may_take_longer_while_data_arrives() {
    let options = short(|limits| {
        limits.body_time = MS_100;
        limits.body_rate_min = 10_000;
        limits.reply_time = MS_100;
    });
    let fixture = start(options).await;
    let mut stream = connect(fixture.http()).await;
    let began = Instant::now();
    send(&mut stream, "POST /length HTTP/1.1\r\nhost: a\r\ncontent-length: 40000\r\n\r\n").await;
    // The body takes 400 ms for 40,000 bytes: ten times the required rate, but four times as long as a small body may take.
    for _ in 0..40 {
        stream.write_all(&[b'x'; 1000]).await.expect("the server continues to read");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(began.elapsed() > MS_100 * 3);
    assert_eq!(answer(&mut stream).await.1, "40000");
}

#[tokio::test]
async fn a_reply_that_never_comes_is_a_503() {
    let fixture = start(short(|limits| limits.reply_time = MS_100)).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "GET /never HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let (head, body) = answer(&mut stream).await;
    assert_eq!(header(&head, "retry-after"), Some("1"));
    assert_envelope(&(head + &body), "503", "SERVICE_UNAVAILABLE");
}

#[tokio::test]
async fn a_client_that_does_not_take_its_reply_is_cut() {
    let options = short(|limits| {
        limits.stall_time = MS_100 * 2;
        limits.idle_time = MS_100;
        limits.linger_time = MS_100;
    });
    let fixture = start(options).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "GET /large HTTP/1.1\r\nhost: a\r\n\r\n").await;
    fixture.requests(1).await;
    until(|| fixture.running.connections() == 0).await;
}

#[tokio::test]
async fn connections_over_the_maximum_are_refused_in_the_envelope_while_all_others_are_in_a_request() {
    let fixture = start(short(|limits| limits.connections = 2)).await;
    let mut held = [connect(fixture.http()).await, connect(fixture.http()).await];
    for stream in &mut held {
        send(stream, "GET /held HTTP/1.1\r\nhost: a\r\n\r\n").await;
    }
    fixture.requests(2).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_envelope(&rest(&mut stream).await, "503", "SERVICE_UNAVAILABLE");
    fixture.service.release.notify_waiters();
    for stream in &mut held {
        assert_eq!(answer(stream).await.1, "held and let go");
    }
}

#[tokio::test]
async fn when_all_connections_are_in_use_the_longest_idle_one_is_closed() {
    let fixture = start(short(|limits| limits.connections = 4)).await;
    let mut busy = connect(fixture.http()).await;
    send(&mut busy, "GET /held HTTP/1.1\r\nhost: a\r\n\r\n").await;
    fixture.requests(1).await;
    // The first client is silent, the second never finishes its headers, and the third is between two requests.
    let silent = connect(fixture.http()).await;
    until(|| fixture.running.connections() == 2).await;
    let mut halfway = connect(fixture.http()).await;
    send(&mut halfway, "GET / HTTP/1.1\r\nhost: ").await;
    until(|| fixture.running.connections() == 3).await;
    let mut kept = connect(fixture.http()).await;
    send(&mut kept, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(answer(&mut kept).await.1, "hello");
    let mut idle = [silent, halfway, kept];
    let mut visitors = Vec::new();
    for (number, evicted) in idle.iter_mut().enumerate() {
        // The pause gives the connections different idle times.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let mut visitor = connect(fixture.http()).await;
        send(&mut visitor, "GET /held HTTP/1.1\r\nhost: a\r\n\r\n").await;
        fixture.requests(3 + number).await;
        visitors.push(visitor);
        assert_eq!(rest(evicted).await, "", "connection {number} is closed");
    }
    // All connections have a request in progress, so the next connection is refused and no connection is aborted.
    let mut late = connect(fixture.http()).await;
    send(&mut late, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_envelope(&rest(&mut late).await, "503", "SERVICE_UNAVAILABLE");
    fixture.service.release.notify_waiters();
    for stream in visitors.iter_mut().chain([&mut busy]) {
        assert_eq!(answer(stream).await.1, "held and let go");
    }
}

/// Returns a connection with a small receive buffer, so that the buffers between server and client cannot hold a large reply.
async fn slow_reader(address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket can be created");
    socket.set_recv_buffer_size(16 * 1024).expect("the receive buffer can be made smaller");
    socket.connect(address).await.expect("the server accepts the connection")
}

/// hyper takes a whole reply out of the body at once, long before the client has read it.
#[tokio::test]
async fn making_room_does_not_cut_a_large_reply_that_its_client_reads_slowly() {
    let fixture = start(short(|limits| limits.connections = 2)).await;
    let mut busy = connect(fixture.http()).await;
    send(&mut busy, "GET /held HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut reader = slow_reader(fixture.http()).await;
    send(&mut reader, "GET /large HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut start = [0; 1024];
    reader.read_exact(&mut start).await.expect("the server starts its response");
    fixture.requests(2).await;
    for _ in 0..3 {
        let mut visitor = connect(fixture.http()).await;
        send(&mut visitor, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        assert_envelope(&rest(&mut visitor).await, "503", "SERVICE_UNAVAILABLE");
    }
    let mut bytes = start.to_vec();
    let mut piece = vec![0; 64 * 1024];
    let (head, _) = std::str::from_utf8(&start)
        .expect("the response is UTF-8 text")
        .split_once("\r\n\r\n")
        .expect("the first bytes contain the whole response head");
    let body: usize =
        header(head, "content-length").and_then(|text| text.parse().ok()).expect("the response has a Content-Length");
    let length = head.len() + 4 + body;
    while bytes.len() < length {
        let read = tokio::time::timeout(PATIENCE, reader.read(&mut piece))
            .await
            .expect("the server responds in time")
            .expect("the server does not reset the connection");
        assert_ne!(read, 0, "the reply was cut after {} of {length} bytes", bytes.len());
        bytes.extend_from_slice(&piece[..read]);
    }
    // Once the reply is sent, the connection is idle, so it is closed to make room for another one.
    let mut visitor = connect(fixture.http()).await;
    send(&mut visitor, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(answer(&mut visitor).await.1, "hello");
    fixture.service.release.notify_waiters();
    assert_eq!(answer(&mut busy).await.1, "held and let go");
}

/// A connection that was refused or got an error stays open for a moment, so that its client can read the reason. It does not count as
/// in use.
#[tokio::test]
async fn closing_connections_do_not_delay_a_new_one() {
    let fixture = start(short(|limits| {
        limits.connections = 2;
        limits.linger_time = PATIENCE;
        limits.header_time = MS_100;
    }))
    .await;
    let mut rubbish = connect(fixture.http()).await;
    send(&mut rubbish, "rubbish\r\n\r\n").await;
    let mut slow = connect(fixture.http()).await;
    send(&mut slow, "P").await;
    for stream in [&mut rubbish, &mut slow] {
        assert!(answer(stream).await.0.starts_with("HTTP/1.1 4"));
    }
    let began = Instant::now();
    let mut visitor = connect(fixture.http()).await;
    send(&mut visitor, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(answer(&mut visitor).await.1, "hello");
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
}

#[tokio::test]
async fn loopback_is_exempt_from_the_cap_per_address() {
    let fixture = start(short(|limits| limits.connections_per_address = 1)).await;
    let mut held = [connect(fixture.http()).await, connect(fixture.http()).await];
    for stream in &mut held {
        send(stream, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        assert_eq!(answer(stream).await.1, "hello");
    }
}
