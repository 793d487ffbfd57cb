//! Currencies by their ISO 4217 codes.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// TABLE: the accepted alphabetic codes of ISO 4217, for currencies (including some withdrawn ones), funds and precious metals. The codes
/// for testing and for "no currency" are excluded.
const CODES: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF \
    CHE CHF CHW CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD \
    HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD \
    MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD \
    SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED \
    VES VND VUV WST XAF XAG XAU XCD XCG XDR XOF XPD XPF XPT XSU XUA YER ZAR ZMW ZWG ZWL";

/// A currency: the three uppercase letters of an ISO 4217 code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// The error for text that is not a currency code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrencyError;

impl fmt::Display for CurrencyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be an ISO 4217 currency code, like USD or EUR")
    }
}

impl Currency {
    /// The US dollar, the default currency.
    pub const USD: Self = Self(*b"USD");

    /// Returns the currency's code in uppercase.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a currency code is ASCII")
    }

    /// Returns the code's three bytes, for table keys.
    pub fn bytes(self) -> [u8; 3] {
        self.0
    }

    /// Returns the currency with the code in `bytes`, which come from a table key; `None` if the bytes are not a currency code.
    pub fn from_bytes(bytes: [u8; 3]) -> Option<Self> {
        std::str::from_utf8(&bytes).ok()?.parse().ok()
    }
}

/// Parses a code in uppercase or lowercase, possibly with surrounding spaces.
impl FromStr for Currency {
    type Err = CurrencyError;

    fn from_str(text: &str) -> Result<Self, CurrencyError> {
        let bytes: [u8; 3] = text.trim().as_bytes().try_into().map_err(|_| CurrencyError)?;
        let code = bytes.map(|c| c.to_ascii_uppercase());
        let known = CODES.as_bytes().chunks(4).any(|entry| entry[..3] == code);
        if known { Ok(Self(code)) } else { Err(CurrencyError) }
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.serialize_str(self.as_str()) } else { self.0.serialize(serializer) }
    }
}

/// Deserializes only the stored form. Input is parsed with [`FromStr`].
impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <[u8; 3]>::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for Currency {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Currency".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[A-Z]{3}$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_codes_in_either_case_and_rejects_other_text() {
        for (text, code) in [("USD", "USD"), ("eur", "EUR"), (" Chf ", "CHF"), ("ZWL", "ZWL"), ("AED", "AED")] {
            assert_eq!(text.parse::<Currency>().map(|currency| currency.as_str().to_owned()), Ok(code.to_owned()));
        }
        for text in ["", "US", "USDD", "XXX", "ABC", "€", "D A", "US$"] {
            assert_eq!(text.parse::<Currency>(), Err(CurrencyError), "{text}");
        }
    }

    #[test]
    fn the_table_is_three_letters_and_a_space_each_in_order() {
        let codes: Vec<&str> = CODES.split(' ').collect();
        assert!(codes.iter().all(|code| code.len() == 3));
        assert!(codes.is_sorted() && codes.len() > 170, "{}", codes.len());
        assert!(CODES.as_bytes().chunks(4).zip(&codes).all(|(entry, code)| &entry[..3] == code.as_bytes()));
    }
}
