//! Reads responses without parsing them, so that the server's work is measured.

use std::io::Read;
use std::net::TcpStream;

/// Reads one complete response; every response ends with its envelope.
pub fn read_answer(stream: &mut TcpStream, scrap: &mut [u8]) -> usize {
    let mut length = 0;
    while !scrap[..length].ends_with(b"\"}}") {
        let count = stream.read(&mut scrap[length..]).expect("the answer arrives");
        assert!(count > 0, "the server went away");
        length += count;
    }
    length
}
