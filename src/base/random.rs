//! Randomness as an argument, so that tests can use a repeatable source.

use std::sync::Mutex;

use ring::rand::SecureRandom;

pub trait Random: Send + Sync + 'static {
    fn fill(&self, bytes: &mut [u8]);
}

impl dyn Random {
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }
}

/// The operating system's secure source of random bytes.
pub struct SystemRandom(ring::rand::SystemRandom);

impl Default for SystemRandom {
    fn default() -> Self {
        Self(ring::rand::SystemRandom::new())
    }
}

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        // Without randomness, keys and IDs would not be safe.
        self.0.fill(bytes).expect("the operating system's random source works");
    }
}

/// A repeatable sequence for tests (xorshift64*). Never use it for secrets.
pub struct SeededRandom(Mutex<u64>);

impl SeededRandom {
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed.max(1)))
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.0.lock().expect("no holder of this lock panics");
        for chunk in bytes.chunks_mut(8) {
            *state ^= *state >> 12;
            *state ^= *state << 25;
            *state ^= *state >> 27;
            let word = state.wrapping_mul(0x2545_F491_4F6C_DD1D).to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}
