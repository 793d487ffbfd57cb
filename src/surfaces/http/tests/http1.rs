//! Tests of HTTP/1.1: valid requests, and errors in single requests.

use super::*;

const GET: &str = "GET /hello HTTP/1.1\r\nhost: a\r\n\r\n";

#[tokio::test]
async fn a_connection_serves_one_request_after_another() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    for _ in 0..3 {
        send(&mut stream, GET).await;
        assert_eq!(answer(&mut stream).await.1, "hello");
    }
    assert_eq!(fixture.running.connections(), 1);
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    let post = "POST /length HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc";
    send(&mut stream, &[GET, post, GET].concat()).await;
    for expected in ["hello", "3", "hello"] {
        assert_eq!(answer(&mut stream).await.1, expected);
    }
}

#[tokio::test]
async fn every_answer_has_the_security_headers() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, GET).await;
    let (head, _) = answer(&mut stream).await;
    assert_eq!(header(&head, "x-content-type-options"), Some("nosniff"));
    assert_eq!(header(&head, "referrer-policy"), Some("no-referrer"));
    assert_eq!(header(&head, "cache-control"), Some("no-store"));
    assert_eq!(header(&head, "content-security-policy"), Some("default-src 'none'; frame-ancestors 'none'"));
    assert_eq!(header(&head, "strict-transport-security"), None);
    send(&mut stream, "GET /cached HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(header(&answer(&mut stream).await.0, "cache-control"), Some("max-age=60"));
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "HEAD /method HTTP/1.1\r\nhost: a\r\n\r\nHEAD /stream HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        .await;
    let both = rest(&mut stream).await;
    let answers: Vec<&str> = both.split_terminator("\r\n\r\n").collect();
    assert_eq!(answers.len(), 2, "{both}");
    // The response has the content length of the body, 4, but no body.
    assert_eq!(header(answers[0], "content-length"), Some("4"));
    assert!(answers.iter().all(|head| head.starts_with("HTTP/1.1 200 OK")), "{both}");
}

#[tokio::test]
async fn a_streamed_reply_arrives_whole_and_a_broken_one_is_visibly_cut() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "GET /stream HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
    assert!(rest(&mut stream).await.ends_with("4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n"));
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "GET /broken-stream HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let cut = rest(&mut stream).await;
    assert!(!cut.ends_with("0\r\n\r\n"), "{cut}");
}

#[tokio::test]
async fn a_panic_is_a_500_and_the_connection_survives() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "GET /panic HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let (head, body) = answer(&mut stream).await;
    assert_envelope(&(head + &body), "500", "INTERNAL_ERROR");
    send(&mut stream, GET).await;
    assert_eq!(answer(&mut stream).await.1, "hello");
}

#[tokio::test]
async fn too_large_heads_are_refused_in_the_envelope() {
    let fixture = start(plain(Limits::default())).await;
    let many = |count: usize| (0..count).map(|number| format!("x-{number}: y\r\n")).collect::<String>();
    let large = |length: usize| format!("x: {}\r\n", "y".repeat(length));
    // These heads are rejected by the surface, by hyper's limit of 100 headers, or by hyper's buffer.
    for headers in [many(64), many(120), large(16 * 1024), large(64 * 1024)] {
        let mut stream = connect(fixture.http()).await;
        send(&mut stream, &format!("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{headers}\r\n")).await;
        assert_envelope(&rest(&mut stream).await, "431", "HEADERS_TOO_LARGE");
    }
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, &format!("GET / HTTP/1.1\r\nhost: a\r\n{}\r\n", many(63))).await;
    assert_eq!(answer(&mut stream).await.1, "hello");
}

#[tokio::test]
async fn a_long_uri_is_refused() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, &format!("GET /{} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", "x".repeat(8 * 1024))).await;
    assert_envelope(&rest(&mut stream).await, "414", "URI_TOO_LONG");
}

#[tokio::test]
async fn non_http_input_is_refused_in_the_envelope() {
    let fixture = start(plain(Limits::default())).await;
    for rubbish in
        ["rubbish\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\r\n\r\n"]
    {
        let mut stream = connect(fixture.http()).await;
        send(&mut stream, rubbish).await;
        assert_envelope(&rest(&mut stream).await, "400", "INVALID_REQUEST");
    }
}

#[tokio::test]
async fn garbage_after_a_good_request_is_refused_after_its_response() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, GET).await;
    answer(&mut stream).await;
    send(&mut stream, "rubbish\r\n\r\n").await;
    assert_envelope(&rest(&mut stream).await, "400", "INVALID_REQUEST");
}

#[tokio::test]
async fn encoded_bodies_are_refused_and_identity_is_not() {
    let fixture = start(plain(Limits::default())).await;
    let post = |encoding: &str| {
        format!(
            "POST /length HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-encoding: {encoding}\r\ncontent-length: 3\r\n\r\nabc"
        )
    };
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, &post("gzip")).await;
    assert_envelope(&rest(&mut stream).await, "415", "UNSUPPORTED_MEDIA_TYPE");
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, &post("Identity")).await;
    assert_eq!(answer(&mut stream).await.1, "3");
}

#[tokio::test]
async fn the_answer_to_an_unread_upload_reaches_the_client() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n").await;
    // The response is ready early, but like most clients, this one reads it only after it has sent the whole request. If the server
    // had closed the connection, a write would fail.
    for _ in 0..20 {
        stream.write_all(&[b'x'; 40_000]).await.expect("the server continues to read");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let text = rest(&mut stream).await;
    assert!(text.starts_with("HTTP/1.1 413") && text.ends_with("unread"), "{text}");
}

#[tokio::test]
async fn a_small_unread_body_does_not_cost_the_connection() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    for _ in 0..2 {
        send(&mut stream, "POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc").await;
        assert_eq!(answer(&mut stream).await.1, "unread");
    }
}

#[tokio::test]
async fn a_client_that_expects_continue_gets_it() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, "POST /length HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n").await;
    assert!(answer(&mut stream).await.0.starts_with("HTTP/1.1 100"));
    send(&mut stream, "abc").await;
    assert_eq!(answer(&mut stream).await.1, "3");
}

#[tokio::test]
async fn the_peer_is_the_caller_unless_a_trusted_proxy_says_otherwise() {
    let request = "GET /peer HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 203.0.113.9\r\nx-forwarded-proto: https\r\n\r\n";
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, request).await;
    assert_eq!(answer(&mut stream).await.1, "Network { address: 127.0.0.1, tls: false }");

    let mut options = plain(Limits::default());
    options.proxy.behind_proxy = true;
    let fixture = start(options).await;
    let mut stream = connect(fixture.http()).await;
    send(&mut stream, request).await;
    let (head, body) = answer(&mut stream).await;
    assert_eq!(body, "Network { address: 203.0.113.9, tls: true }");
    assert_eq!(header(&head, "strict-transport-security"), Some("max-age=31536000"));
}

#[tokio::test]
async fn plain_http_for_the_whole_network_needs_a_proxy() {
    let mut options = plain(Limits::default());
    options.http = Some("0.0.0.0:0".parse().expect("the text is a valid address"));
    let error = try_start(options).await.err().expect("the server does not start with these options").to_string();
    assert!(error.contains("0.0.0.0:0") && error.contains("server.behind_proxy = true"), "{error}");

    let mut options = plain(Limits::default());
    options.http = Some("0.0.0.0:0".parse().expect("the text is a valid address"));
    options.proxy.behind_proxy = true;
    start(options).await;
}

#[tokio::test]
async fn an_address_in_use_is_named_with_its_setting() {
    let fixture = start(plain(Limits::default())).await;
    let mut options = plain(Limits::default());
    options.http = Some(fixture.http());
    let error = try_start(options).await.err().expect("the server does not start with these options").to_string();
    assert!(error.contains(&fixture.http().to_string()) && error.contains("--http"), "{error}");
    assert!(error.ends_with("; stop the process that uses this address, or choose a different port"), "{error}");
}

#[tokio::test]
async fn a_start_with_nowhere_to_listen_is_refused() {
    let options = Options { http: None, ..plain(Limits::default()) };
    assert!(matches!(try_start(options).await, Err(StartError::NothingToListenOn)));
}
