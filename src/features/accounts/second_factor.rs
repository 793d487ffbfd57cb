//! Codes from authenticator apps (RFC 6238) and recovery codes. Each code is accepted once.

use totp_rs::{Builder, Totp};

use super::model::SecondFactor;
use crate::base::clock::Timestamp;
use crate::base::random::Random;
use crate::base::secret::{Secret, random_code, same, sha256, typed_code};
use crate::engine::api::Failure;
use crate::engine::store::seal::Seal;
use crate::engine::store::{Read, WriteTx};
use crate::features::accounts::store::sign_in;
use crate::vocab::ids::UserId;
use crate::vocab::limits;

const DIGITS: usize = 6;
/// The length of an app's secret. RFC 4226 §4 recommends 160 bits.
const SECRET_BYTES: usize = 20;
/// The number of groups of four characters in a recovery code. Three groups have 52 random bits, which is enough because attempts are
/// limited in the same way as attempts to guess passwords.
const RECOVERY_GROUPS: usize = 3;

/// Creates the secret for an app that the user has yet to confirm; returns the second factor and the secret as text for the app.
pub fn begin(seal: &Seal, user: UserId, random: &dyn Random) -> (SecondFactor, Secret) {
    let secret: [u8; SECRET_BYTES] = random.bytes();
    let text = totp(&secret).secret().to_base32();
    let sealed = seal.seal(&place(user), &secret, random);
    (SecondFactor { secret: sealed, is_confirmed: false, used_steps: Vec::new(), recovery: Vec::new() }, Secret::new(text))
}

/// Returns whether the key of `seal` decrypts the app's secret.
pub fn opens(seal: &Seal, user: UserId, factor: &SecondFactor) -> bool {
    seal.open(&place(user), &factor.secret).is_some()
}

/// Returns the setup URI, which authenticator apps read from a QR code or a link.
pub fn address(secret: &Secret, email: &str) -> Result<String, Failure> {
    let mut address = url::Url::parse("otpauth://totp").map_err(Failure::internal)?;
    address.set_path(&format!("Mailmill:{email}"));
    address.query_pairs_mut().append_pair("secret", secret.expose()).append_pair("issuer", "Mailmill");
    Ok(address.into())
}

/// Replaces the recovery codes whose hashes are in `factor`; returns the new codes, which are shown once.
pub fn renew_recovery(factor: &mut SecondFactor, random: &dyn Random) -> Vec<String> {
    let codes: Vec<String> = (0..limits::RECOVERY_CODES).map(|_| random_code(random, RECOVERY_GROUPS)).collect();
    factor.recovery = codes.iter().map(|code| digest(code)).collect();
    codes
}

/// Returns whether sign-in requires a code from this user's authenticator app.
pub fn is_used(tx: &impl Read, user: UserId) -> Result<bool, Failure> {
    Ok(sign_in::second_factor(tx, user)?.is_some_and(|factor| factor.is_confirmed))
}

/// Returns how many recovery codes a user has left; `None` if the user has no confirmed authenticator app.
pub fn recovery_left(tx: &impl Read, user: UserId) -> Result<Option<usize>, Failure> {
    let factor = sign_in::second_factor(tx, user)?.filter(|factor| factor.is_confirmed);
    Ok(factor.map(|factor| factor.recovery.len()))
}

/// Returns whether `given` is a valid code from the app or a valid recovery code. Uses up a valid code.
pub fn accept(tx: &mut WriteTx<'_>, seal: &Seal, user: UserId, given: &str) -> Result<bool, Failure> {
    let Some(mut factor) = sign_in::second_factor(tx, user)? else { return Ok(false) };
    let secret = seal.open(&place(user), &factor.secret);
    let secret = secret.ok_or_else(|| {
        Failure::internal(
            "the secret of a user's authenticator app could not be decrypted; check whether the master key has changed",
        )
    })?;
    let typed = typed_code(given);
    let is_right = use_code(&mut factor, &secret, &typed, tx.now());
    if is_right {
        sign_in::save_second_factor(tx, user, &factor);
    }
    Ok(is_right)
}

fn use_code(factor: &mut SecondFactor, secret: &[u8], typed: &str, now: Timestamp) -> bool {
    if typed.len() == DIGITS {
        let step = u64::try_from(now.seconds()).ok().and_then(|seconds| totp(secret).check(typed, seconds));
        let Some(step) = step.filter(|step| !factor.used_steps.contains(step)) else { return false };
        let surplus = (factor.used_steps.len() + 1).saturating_sub(limits::TOTP_STEPS_KEPT);
        factor.used_steps.drain(..surplus);
        factor.used_steps.push(step);
        return true;
    }
    if !factor.is_confirmed {
        return false;
    }
    let digest = digest(typed);
    let found = factor.recovery.iter().position(|known| same(known, &digest));
    found.map(|place| factor.recovery.swap_remove(place)).is_some()
}

fn totp(secret: &[u8]) -> Totp {
    // Standard parameters of authenticator apps: six digits with SHA-1 every thirty seconds, and a tolerance of one step on either side.
    Builder::new().with_secret(secret.to_vec()).build_noncompliant()
}

fn digest(code: &str) -> [u8; 32] {
    sha256(typed_code(code).as_bytes())
}

fn place(user: UserId) -> Vec<u8> {
    format!("second_factors/{user}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    /// The secret of the test vectors in RFC 6238, appendix B.
    const SECRET: &[u8] = b"12345678901234567890";

    fn factor() -> SecondFactor {
        SecondFactor { secret: Vec::new(), is_confirmed: true, used_steps: Vec::new(), recovery: Vec::new() }
    }

    #[test]
    fn the_standards_test_vectors_are_accepted_once_each() {
        let mut factor = factor();
        for (seconds, code) in [(59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (2_000_000_000, "279037")] {
            let now = Timestamp(seconds * 1000);
            assert!(!use_code(&mut factor, SECRET, "000000", now));
            assert!(use_code(&mut factor, SECRET, code, now), "{seconds}");
            assert!(!use_code(&mut factor, SECRET, code, now), "a code is not accepted again");
        }
        assert!(!use_code(&mut factor, SECRET, "050471", Timestamp(1_111_111_111_000)), "an earlier code is not accepted again");
    }

    /// RFC 6238 §5.2 forbids accepting a code twice. Regression test: every code older than the newest accepted code was refused, so users
    /// could not sign in after the clock was set back.
    #[test]
    fn after_the_clock_was_set_back_new_codes_work_and_used_ones_do_not() {
        let mut factor = factor();
        let code = |seconds: i64| {
            let later = Timestamp(seconds * 1000);
            (totp(SECRET).generate(seconds as u64).to_string(), later)
        };
        let (first, at_first) = code(1_111_111_111);
        let (later, at_later) = code(1_111_111_111 + 600);
        assert!(use_code(&mut factor, SECRET, &first, at_first) && use_code(&mut factor, SECRET, &later, at_later));
        let (fresh, at_fresh) = code(1_111_111_111 + 60);
        assert!(use_code(&mut factor, SECRET, &fresh, at_fresh));
        for (used, at) in [(first, at_first), (later, at_later), (fresh, at_fresh)] {
            assert!(!use_code(&mut factor, SECRET, &used, at));
        }
        for number in 0..1_000 {
            let (code, at) = code(1_200_000_000 + 30 * number);
            assert!(use_code(&mut factor, SECRET, &code, at));
        }
        assert_eq!(factor.used_steps.len(), limits::TOTP_STEPS_KEPT);
    }

    #[test]
    fn a_clock_can_be_at_most_half_a_minute_off() {
        let code = "050471";
        let taken = |seconds: i64| use_code(&mut factor(), SECRET, code, Timestamp(seconds * 1000));
        assert!(taken(1_111_111_111 - 30) && taken(1_111_111_111 + 30));
        assert!(!taken(1_111_111_111 - 90) && !taken(1_111_111_111 + 90));
    }

    #[test]
    fn each_recovery_code_works_once() {
        let mut factor = factor();
        let codes = renew_recovery(&mut factor, &SeededRandom::new(1));
        assert_eq!(codes.len(), limits::RECOVERY_CODES);
        let typed = typed_code(&codes[3].to_lowercase());
        assert!(use_code(&mut factor, SECRET, &typed, Timestamp(0)));
        assert!(!use_code(&mut factor, SECRET, &typed, Timestamp(0)));
        assert_eq!(factor.recovery.len(), limits::RECOVERY_CODES - 1);
        assert!(!use_code(&mut SecondFactor { is_confirmed: false, ..factor }, SECRET, &typed_code(&codes[4]), Timestamp(0)));
    }

    #[test]
    fn the_uri_for_apps_contains_the_service_and_the_user() {
        let address = address(&Secret::new("JBSWY3DPEHPK3PXP".into()), "ada@example.com")
            .expect("the secret and the email make a valid URI");
        assert!(
            address.starts_with("otpauth://totp/Mailmill:ada@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Mailmill"),
            "{address}"
        );
    }
}
