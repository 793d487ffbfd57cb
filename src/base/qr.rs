//! Draws QR codes as paths for SVG images.

use qrcode::{Color, EcLevel, QrCode};

pub struct Drawing {
    /// The width of the QR code in modules, including the quiet zone that scanners need.
    pub size: usize,
    /// The dark modules as an SVG path; one module is one unit.
    pub path: String,
}

/// The width of the quiet zone on each side, in modules.
const QUIET: usize = 4;

/// Returns the QR code that contains `text`, or `None` if `text` is too long.
pub fn draw(text: &str) -> Option<Drawing> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let width = code.width();
    let mut path = String::new();
    for (y, row) in code.to_colors().chunks(width).enumerate() {
        let mut x = 0;
        while x < width {
            let run = row[x..].iter().take_while(|color| **color == Color::Dark).count();
            if run > 0 {
                path.push_str(&format!("M{} {}h{run}v1h-{run}z", x + QUIET, y + QUIET));
            }
            x += run.max(1);
        }
    }
    Some(Drawing { size: width + 2 * QUIET, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_an_outline_unless_it_is_too_long() {
        let drawing = draw("otpauth://totp/Mailmill:owner@example.com?secret=JBSWY3DPEHPK3PXP")
            .expect("the address is short enough for a QR code");
        // The path starts with the upper left finder pattern: seven dark modules after the quiet zone.
        assert!(drawing.path.starts_with("M4 4h7v1h-7z") && drawing.size > 29, "{} {}", drawing.size, &drawing.path[..40]);
        assert!(drawing.path.bytes().all(|byte| b"Mhvz- 0123456789".contains(&byte)));
        assert!(draw(&"x".repeat(5_000)).is_none());
    }
}
