//! Brands for tests: a shop with a lot of material, a software company with little material, and a German shop.

use crate::features::emails::composer::Knowledge;
use crate::features::projects::brand::*;

pub fn product(name: &str, price: &str, description: &str) -> BrandProduct {
    let slug = name.to_lowercase().replace(' ', "-");
    BrandProduct {
        name: name.to_owned(),
        url: Some(format!("https://example.com/products/{slug}")),
        image: Some(format!("https://example.com/images/{slug}.jpg")),
        description: Some(description.to_owned()),
        price: Some(price.to_owned()),
        price_before: None,
        currency: Some("EUR".to_owned()),
    }
}

fn image(name: &str, description: &str, tags: &[&str]) -> BrandImage {
    BrandImage {
        url: format!("https://example.com/images/{name}.jpg"),
        description: Some(description.to_owned()),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        width: Some(1600),
        height: Some(900),
        colors: Vec::new(),
    }
}

fn social(network: &str) -> BrandSocialLink {
    BrandSocialLink { network: network.to_owned(), url: format!("https://example.com/{network}") }
}

/// Returns a tea shop with products, pictures and descriptions, in English.
pub fn teas() -> Brand {
    Brand {
        name: Some("Leaf & Stone".to_owned()),
        tagline: Some("Tea, slowly".to_owned()),
        description: Some(
            "We are a small tea house in Hamburg. We travel to the gardens ourselves, buy in small lots and pack by hand."
                .to_owned(),
        ),
        languages: vec!["en".to_owned(), "de".to_owned()],
        products: vec![
            product("Roasted Oolong", "18.00", "Dark, nutty and warm, roasted twice over charcoal."),
            product("Smoked Black", "14.00", "Dried over pine wood, for cold mornings."),
            product("Aged White", "30.00", "Seven years in the chest have made it soft and sweet."),
            product("First Flush Darjeeling", "22.50", "The first picking of the spring, bright and flowery."),
            product("Clay Pot", "64.00", "Turned by hand, unglazed, for two cups."),
        ],
        images: vec![
            image("garden", "Tea bushes in the morning mist", &["garden", "spring"]),
            image("pot", "A clay pot and two cups on a stone table", &["pot", "winter"]),
            image("shop", "The shelves of our shop", &["shop", "event", "tasting"]),
        ],
        social: vec![social("instagram"), social("youtube")],
        contact: BrandContact {
            company: Some("Leaf & Stone GmbH".to_owned()),
            address: Some("Teestraße 12, 20457 Hamburg, Germany".to_owned()),
            email: Some("hello@example.com".to_owned()),
            phone: None,
        },
        voice: BrandVoice {
            person: Some(BrandPerson::We),
            formality: Some(BrandFormality::Casual),
            sentence_words: Some(14.0),
            emoji: false,
            ..BrandVoice::default()
        },
        ..Brand::default()
    }
}

/// Returns a software company without products or pictures, with a formal voice, in English.
pub fn software() -> Brand {
    Brand {
        name: Some("Tidewater".to_owned()),
        tagline: Some("Schedules that hold".to_owned()),
        description: Some("Tidewater plans shifts for hospitals and care homes, fairly and in minutes.".to_owned()),
        languages: vec!["en-GB".to_owned()],
        social: vec![social("linkedin")],
        contact: BrandContact { email: Some("support@example.org".to_owned()), ..BrandContact::default() },
        voice: BrandVoice {
            person: Some(BrandPerson::We),
            formality: Some(BrandFormality::Neutral),
            sentence_words: Some(19.0),
            emoji: true,
            ..BrandVoice::default()
        },
        ..Brand::default()
    }
}

/// Returns a furniture maker with an informal or formal voice, in German.
pub fn furniture(formality: BrandFormality) -> Brand {
    Brand {
        name: Some("Nordlicht".to_owned()),
        tagline: Some("Möbel, die bleiben".to_owned()),
        description: Some(
            "Nordlicht baut Leuchten und Möbel aus heimischem Holz. Jedes Stück entsteht in unserer Werkstatt in Kiel."
                .to_owned(),
        ),
        languages: vec!["de".to_owned()],
        products: vec![
            product("Leuchte Aurora", "129.00", "Warmes Licht, per Berührung gedimmt."),
            product("Hocker Fjord", "89.00", "Aus geölter Eiche, stapelbar."),
            product("Regal Sund", "349.50", "Ohne Werkzeug aufgebaut."),
            product("Tisch Bucht", "1290.00", "Platz für acht."),
        ],
        images: vec![
            image("werkstatt", "Blick in die Werkstatt", &["werkstatt"]),
            image("zimmer", "Wohnzimmer mit Regal", &["sommer"]),
        ],
        social: vec![social("instagram"), social("pinterest")],
        contact: BrandContact {
            address: Some("Holzweg 3, 24103 Kiel".to_owned()),
            email: Some("moin@example.de".to_owned()),
            ..BrandContact::default()
        },
        voice: BrandVoice {
            person: Some(BrandPerson::We),
            formality: Some(formality),
            sentence_words: Some(12.0),
            emoji: false,
            ..BrandVoice::default()
        },
        ..Brand::default()
    }
}

pub fn knowledge() -> Vec<Knowledge<'static>> {
    vec![
        Knowledge {
            title: "How we roast",
            text: "We roast our teas in small batches over charcoal. It takes the whole night, and one of us stays awake for it.",
            url: Some("https://example.com/roasting"),
        },
        Knowledge {
            title: "Brewing oolong",
            text: "Warm the pot first. Then pour water just off the boil over the leaves and wait for forty seconds. Good leaves give five infusions.",
            url: Some("https://example.com/brewing"),
        },
        Knowledge {
            title: "Privacy policy",
            text: "We process your personal data only as far as the law allows us to do so.",
            url: Some("https://example.com/privacy"),
        },
        Knowledge {
            title: "Wie wir unser Holz auswählen",
            text: "Wir kaufen unser Holz bei drei Sägewerken in der Region. Jeder Stamm wird von uns selbst ausgesucht und zwei Jahre lang getrocknet.",
            url: Some("https://example.com/holz"),
        },
    ]
}
