//! Tests that the composer writes complete copy in each language other than English and German.

use super::*;
use crate::features::projects::brand::{BrandFormality, BrandProduct};

pub fn potter(code: &str, formality: BrandFormality) -> Brand {
    let product = |name: &str, price: &str| BrandProduct {
        name: name.to_owned(),
        url: Some("https://example.com/p".to_owned()),
        image: Some("https://example.com/p.jpg".to_owned()),
        price: Some(price.to_owned()),
        currency: Some("EUR".to_owned()),
        ..BrandProduct::default()
    };
    let mut brand = brands::teas();
    brand.name = Some("Alma".to_owned());
    brand.languages = vec![code.to_owned()];
    brand.description = None;
    brand.products = vec![product("Luna", "29.90"), product("Mar", "45"), product("Sol", "12.50"), product("Terra", "1290")];
    brand.voice.formality = Some(formality);
    brand
}

pub const FRENCH: [&str; 10] = [
    "Écris un e-mail de bienvenue pour les nouveaux abonnés avec 10 % de réduction, code BONJOUR10",
    "20 % de réduction sur toute la boutique jusqu'à dimanche avec le code ETE20",
    "Annonce le lancement de notre nouvelle lampe « Aurore », disponible dès le 3 décembre à 129 €",
    "Newsletter mensuelle sur l'art de la céramique",
    "Invite nos clients à un atelier de céramique le vendredi 4 décembre à 18h30 au Café Rosa à Lyon",
    "Relance de panier abandonné pour Luna",
    "Faire revenir les clients inactifs avec 10 € de remise dès 50 € d'achat, code RETOUR",
    "Demande un avis sur Mar",
    "E-mail de Noël avec des idées cadeaux",
    "Annonce que nous déménageons le 1er mars au 12 rue des Lilas",
];

pub const SPANISH: [&str; 10] = [
    "Escribe un correo de bienvenida para nuevos suscriptores con un 10 % de descuento, código HOLA10",
    "20 % de descuento en toda la tienda hasta el domingo con el código VERANO20",
    "Lanzamiento de nuestra nueva lámpara \"Aurora\", disponible desde el 3 de diciembre por 129 €",
    "Boletín mensual sobre el arte de la cerámica",
    "Invita a nuestros clientes a un taller de cerámica el viernes 4 de diciembre a las 18:30 en Casa Rosa, Madrid",
    "Recordatorio de carrito abandonado con Luna",
    "Recuperar clientes inactivos con 10 € de descuento en compras superiores a 50 €, código VUELVE",
    "Pide una reseña de Mar",
    "Correo de Navidad con ideas de regalo",
    "Anuncia que nos mudamos el 1 de marzo a la calle Mayor 8",
];

pub const ITALIAN: [&str; 10] = [
    "Scrivi una mail di benvenuto per i nuovi iscritti con il 10% di sconto, codice CIAO10",
    "20% di sconto su tutto fino a domenica con il codice ESTATE20",
    "Lancio della nostra nuova lampada \"Aurora\", disponibile dal 3 dicembre a 129 €",
    "Newsletter mensile sull'arte della ceramica",
    "Invita i nostri clienti a una degustazione di tè venerdì 4 dicembre alle 18:30 presso Casa Rosa, Torino",
    "Promemoria carrello abbandonato per Luna",
    "Riconquista i clienti inattivi con 10 € di sconto su ordini superiori a 50 €, codice TORNA",
    "Chiedi una recensione di Mar",
    "Mail di Natale con idee regalo",
    "Annuncia che il 1 marzo ci trasferiamo in via Roma 8",
];

pub const PORTUGUESE: [&str; 10] = [
    "Escreva um e-mail de boas-vindas para novos assinantes com 10% de desconto, código OLA10",
    "20% de desconto em toda a loja até domingo com o código VERAO20",
    "Lançamento da nossa nova luminária \"Aurora\", disponível a partir de 3 de dezembro por 129 €",
    "Newsletter mensal sobre a arte da cerâmica",
    "Convide os nossos clientes para uma oficina de cerâmica na sexta-feira, 4 de dezembro, às 18h30 na Casa Rosa, Porto",
    "Lembrete de carrinho abandonado com Luna",
    "Reconquistar clientes inativos com 10 € de desconto em compras acima de 50 €, código VOLTA",
    "Peça uma avaliação de Mar",
    "E-mail de Natal com ideias de presentes",
    "Anuncie que vamos mudar para a Rua das Flores 8 em 1 de março",
];

pub const DUTCH: [&str; 10] = [
    "Schrijf een welkomstmail voor nieuwe abonnees met 10% korting, code HALLO10",
    "20% korting op alles tot en met zondag met de code ZOMER20",
    "Lancering van onze nieuwe lamp \"Aurora\", verkrijgbaar vanaf 3 december voor 129 €",
    "Maandelijkse nieuwsbrief over de kunst van keramiek",
    "Nodig onze klanten uit voor een workshop keramiek op vrijdag 4 december om 18.30 uur in Huis Rosa, Utrecht",
    "Herinnering aan een verlaten winkelwagen met Luna",
    "Win inactieve klanten terug met € 10 korting bij bestellingen vanaf € 50, code TERUG",
    "Vraag om een review van Mar",
    "Kerstmail met cadeautips",
    "Kondig aan dat we op 1 maart verhuizen naar de Lindelaan 8",
];

const ALL: [(&str, &[&str; 10]); 5] =
    [("fr", &FRENCH), ("es", &SPANISH), ("it", &ITALIAN), ("pt-BR", &PORTUGUESE), ("nl", &DUTCH)];

#[test]
fn emails_in_every_language_are_complete() {
    for (code, prompts) in ALL {
        for formality in [BrandFormality::Casual, BrandFormality::Formal] {
            let brand = potter(code, formality);
            twenty::judge(prompts, &brand, code);
        }
    }
}

#[test]
fn an_email_can_be_in_another_language_than_its_prompt() {
    let brand = potter("it", BrandFormality::Casual);
    let composed = one("20% off all teas until Sunday, code WINTER20. We packed them by hand.", &brand, "it", 5);
    let text = print::text(&composed.email);
    assert!(text.contains("20% di sconto") && text.contains("WINTER20") && text.contains("22 novembre"), "{text}");
    assert!(!text.contains("teas") && !text.contains("hand"), "{text}");
    let unused: Vec<&str> = composed.unused.iter().map(|part| part.text.as_str()).collect();
    assert!(unused.iter().any(|part| part.contains("packed them by hand")), "{unused:?}");
}

/// Regression test: for an English prompt with "10% off the first order", the German email promised 10% off everything, without a warning.
#[test]
fn an_offer_in_another_language_keeps_its_scope_or_reports_it() {
    let offer = |prompt: &str, code: &str| {
        let brand = brands::teas();
        let brief = parsed(prompt, &brand, "en");
        let plan = plan(&request(&brief, 5), &brand, false, &tag("en"), Some(1));
        let composed = compose(&request(&brief, 5), &brand, &[], &plan, 0, &tag(code));
        let lost: Vec<String> = composed.untranslated.iter().map(|part| part.text.clone()).collect();
        (print::text(&composed.email), lost)
    };
    for (code, expected) in [
        ("en", "10% off the first order"),
        ("de", "auf die erste Bestellung"),
        ("fr", "sur la première commande"),
        ("es", "en el primer pedido"),
        ("it", "su ogni primo ordine"),
        ("pt", "em cada primeira encomenda"),
        ("nl", "op de eerste bestelling"),
    ] {
        let (text, lost) = offer("Welcome email, 10% off the first order with HELLO10", code);
        assert!(text.contains(expected) && lost.is_empty(), "{code}: {lost:?} {text}");
    }
    let (text, lost) = offer("20% off all mugs until Sunday with MUGS20.", "de");
    assert!(text.contains("20\u{a0}%") && !text.contains("mugs"), "{text}");
    assert_eq!(lost, ["all mugs"]);
    assert_eq!(offer("20% off all mugs until Sunday with MUGS20.", "en").1, [""; 0]);
}

#[test]
fn languages_without_phrases_have_a_warning() {
    let brand = brands::teas();
    let composed = one("20% off until Sunday", &brand, "pl", 5);
    assert_eq!(composed.email.language.as_str(), "en");
    assert!(composed.warnings[0].starts_with("The composer does not write in pl"), "{:?}", composed.warnings);
}

#[test]
fn arabic_and_hebrew_run_from_right_to_left() {
    for (code, word) in [("ar", "خصم"), ("he", "הנחה")] {
        let composed = one("20% off until Sunday, code WINTER20", &potter(code, BrandFormality::Casual), code, 5);
        assert_eq!((composed.email.language.as_str(), composed.email.direction), (code, Direction::Rtl));
        assert_eq!(twenty::flaws(&composed), [""; 0]);
        let text = print::text(&composed.email);
        assert!(text.contains(word) && text.contains("WINTER20"), "{text}");
        assert!(
            composed.warnings.iter().any(|warning| warning.contains("only a small set of phrases")),
            "{:?}",
            composed.warnings
        );
    }
}
