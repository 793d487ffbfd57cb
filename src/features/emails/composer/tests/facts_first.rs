//! Tests of prompts that state a fact. The subject and title of the email must contain the fact.

use super::*;

const ENGLISH: [(&str, &str); 16] = [
    ("Announce that our prices will rise on 1 January", "prices will rise"),
    ("Launch of our new product, available from Monday", "New at"),
    ("Invite customers to our open evening on 3 December at 18:30 in our shop, 12 Harbour Lane", "pen evening"),
    ("Last chance! Sale ends tonight", "ends tonight"),
    ("Say thank you for being a customer for a year", "a year"),
    ("Back in stock notification for our most popular item", "our most popular item"),
    ("Free shipping this weekend on all orders over 30 GBP", "ree shipping"),
    ("Tell customers about our sustainability report: https://example.com/report", "ustainability report"),
    ("Webinar next Tuesday at 15:00: how to get more out of what you bought", "How to get more"),
    ("Product tips: three ways to use what you already have", "ways to use what"),
    ("Refer a friend: give 5 GBP, get 5 GBP", "£5"),
    ("We're closed from 24 December to 2 January", "closed"),
    ("Tell customers our shop will close early on 24 December", "close early"),
    ("Our app will be unavailable on Sunday because of maintenance", "unavailable"),
    (
        "Tell our customers that we are moving to a new shop at Kaiserkai 8 on 1 March. The old shop closes on 26 February.",
        "moving",
    ),
    ("Receipt for order #48213: 2 x Roasted Oolong at 14.50 GBP, total 29.00 GBP", "48213"),
];

const GERMAN: [(&str, &str); 14] = [
    ("Unsere Preise steigen zum 1. Januar", "Unsere Preise steigen zum 1. Januar"),
    ("Wir haben neue Öffnungszeiten: Dienstag bis Samstag von 10 bis 18 Uhr", "neue Öffnungszeiten"),
    ("Der Korb Reet ist wieder da", "Der Korb Reet ist wieder da"),
    ("Letzte Chance! Der Sale endet heute Abend", "endet heute Abend"),
    ("Danke sagen für ein Jahr Treue", "ein Jahr"),
    ("Versandkostenfrei am Wochenende ab 100 EUR", "ersandkostenfrei"),
    ("Online-Seminar am nächsten Dienstag um 15 Uhr: Rad winterfest machen", "Rad winterfest machen"),
    ("Drei Tipps für die Pflege im Winter", "Drei Tipps"),
    ("Einladung zum Werkstattabend am 3. Dezember um 18:30 Uhr, Bahrenfelder Straße 146", "Werkstattabend"),
    ("Kündige an, dass wir am 1. März umziehen", "Wir ziehen am 1. März um"),
    ("Sag unseren Kunden, dass unsere Preise zum 1. Januar steigen", "Unsere Preise steigen zum 1. Januar"),
    ("Wir haben vom 24. Dezember bis 2. Januar geschlossen", "geschlossen"),
    ("Unser neues Produkt ist ab Montag erhältlich", "Neu bei"),
    ("Weihnachtsgrüße, letzter Bestelltag ist der 18. Dezember", "Weihnacht"),
];

const OTHERS: [(&str, &str, &str); 15] = [
    ("fr", "Annonce que nos prix augmentent le 1er janvier", "Nos prix augmentent"),
    ("fr", "Dernière chance ! Les soldes se terminent ce soir", "ce soir"),
    ("fr", "Livraison offerte ce week-end dès 30 €", "Livraison offerte"),
    ("es", "Anuncia que nuestros precios suben el 1 de enero", "Nuestros precios suben"),
    ("es", "¡Última oportunidad! La oferta termina esta noche", "esta noche"),
    ("es", "Envío gratis este fin de semana desde 30 €", "Envío gratis"),
    ("it", "Annuncia che i nostri prezzi aumentano il 1 gennaio", "I nostri prezzi aumentano"),
    ("it", "Ultima occasione! I saldi finiscono stasera", "stasera"),
    ("it", "Spedizione gratuita questo fine settimana da 30 €", "Spedizione gratuita"),
    ("pt", "Anuncie que os nossos preços sobem em 1 de janeiro", "Os nossos preços sobem"),
    ("pt", "Última oportunidade! A promoção termina hoje à noite", "noite"),
    ("pt", "Envio grátis este fim de semana a partir de 30 €", "Envio grátis"),
    ("nl", "Laat weten dat onze prijzen op 1 januari stijgen", "Onze prijzen stijgen op 1 januari"),
    ("nl", "Laatste kans! De sale eindigt vanavond", "vanavond"),
    ("nl", "Gratis verzending dit weekend vanaf 30 €", "Gratis verzending"),
];

fn title(email: &Email) -> String {
    use crate::features::emails::document::Block;
    let title = email.blocks.iter().find_map(|block| match block {
        Block::Hero(hero) => Some(hero.title.to_string()),
        Block::Heading(heading) => Some(heading.text.to_string()),
        _ => None,
    });
    title.unwrap_or_default()
}

fn judge(language: &str, brand: &Brand, prompt: &str, fact: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for seed in [1, 2] {
        let composed = one(prompt, brand, language, seed);
        let (subject, title) = (composed.email.subject.to_string(), title(&composed.email));
        println!("{language} | {prompt}\n     S {subject}\n     T {title}\n     P {}", composed.email.preheader);
        let told = print::text(&composed.email);
        if !subject.contains(fact) && !title.contains(fact) {
            wrong.push(format!("{language} {prompt}: {subject} / {title}"));
        }
        for flaw in twenty::flaws(&composed) {
            wrong.push(format!("{language} {prompt}: {flaw}\n{told}"));
        }
    }
    wrong
}

#[test]
fn subjects_and_titles_contain_the_fact() {
    let mut wrong = Vec::new();
    let brand = Brand { name: Some("Ledgerly, Inc.".to_owned()), ..brands::teas() };
    for (prompt, fact) in ENGLISH {
        wrong.extend(judge("en-GB", &brand, prompt, fact));
    }
    for (prompt, fact) in GERMAN {
        wrong.extend(judge("de", &brands::furniture(crate::features::projects::brand::BrandFormality::Casual), prompt, fact));
    }
    for (language, prompt, fact) in OTHERS {
        wrong.extend(judge(
            language,
            &languages::potter(language, crate::features::projects::brand::BrandFormality::Casual),
            prompt,
            fact,
        ));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
