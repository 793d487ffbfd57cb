//! Tests that instructions to the writer are not read as facts. Each test has five notes in each of its languages.

use jiff::civil::date;

use super::super::FactValue;
use super::parse;
use crate::base::locale::LanguageTag;
use crate::features::projects::brand::Brand;

/// The statements around a note, by language.
const AROUND: [(&str, &str, &str); 6] = [
    ("en", "The spring sale starts on Saturday 9 October.", "All customers get 20% off every bike."),
    ("de", "Der Räderverkauf beginnt am Samstag, 9. Oktober.", "Alle Kunden bekommen 20 % Rabatt auf jedes Rad."),
    ("fr", "La vente de vélos commence le samedi 9 octobre.", "Les vélos coûtent 120 € cette semaine."),
    ("es", "La venta de bicis empieza el sábado 9 de octubre.", "Todos los clientes tienen un 20 % de descuento."),
    ("nl", "De fietsenverkoop begint op zaterdag 9 oktober.", "Alle klanten krijgen 20% korting op elke fiets."),
    ("pt", "A venda de bicicletas começa no sábado, 9 de outubro.", "Todos os clientes têm 20% de desconto."),
];

/// Asserts that the facts of a prompt do not contain the last two words of any of the notes, and that they contain the statement after
/// the note.
fn hides(language: &str, notes: [&str; 5]) {
    let (_, before, after) = AROUND.iter().find(|(own, ..)| *own == language).expect("the language has statements");
    let tag = LanguageTag::parse(language).expect("the codes are language tags");
    for note in notes {
        let brief = parse(&format!("{before} {note} {after}"), &Brand::default(), Some(&tag), date(2027, 10, 5));
        let facts: Vec<String> = brief.facts.iter().map(|fact| fact.text.to_lowercase()).collect();
        let words: Vec<String> = note.trim_end_matches(['.', '?']).to_lowercase().split(' ').map(str::to_owned).collect();
        let end = words[words.len() - 2..].join(" ");
        assert!(!facts.iter().any(|fact| fact.contains(&end)), "{note}: {facts:?}");
        assert!(facts.iter().any(|fact| fact.contains("20")), "{note}: {facts:?}");
    }
}

#[test]
fn how_the_recipients_read_is_a_note() {
    hides(
        "en",
        [
            "They read it on the bus.",
            "Most people read on their phones.",
            "The parents read this between two lessons.",
            "Everyone reads it in the queue anyway.",
            "Half of the club read it while cooking.",
        ],
    );
    hides(
        "de",
        [
            "Die Leute lesen das zwischen zwei Terminen.",
            "Die Damen lesen am Handy.",
            "Viele lesen das im Zug.",
            "Die Älteren lesen es beim Frühstück.",
            "Das liest am Handy sonst keiner.",
        ],
    );
    hides(
        "fr",
        [
            "Les gens lisent ça entre deux trains.",
            "Ils lisent ça sur leur téléphone.",
            "La plupart le lisent dans le métro.",
            "Les parents lisent ça au travail.",
            "Les anciens lisent sur leur portable.",
        ],
    );
    hides(
        "es",
        [
            "La gente lo lee en el metro.",
            "Los socios lo leen por el móvil.",
            "Casi todos leen en el móvil.",
            "Los padres leen esto entre dos recados.",
            "Las clientas lo leen desde la peluquería.",
        ],
    );
}

#[test]
fn what_the_email_should_look_like_is_a_note() {
    hides(
        "en",
        [
            "It should look like one of us typed it.",
            "It has to sound like a neighbour.",
            "It should read like a postcard.",
            "Write as if one of us is talking.",
            "It should feel like a chat at the bar.",
        ],
    );
    hides(
        "nl",
        [
            "Het moet klinken als een buurman.",
            "Doe alsof wij het zelf typten.",
            "Het moet overkomen als een praatje.",
            "Alsof iemand het aan de toog vertelt.",
            "De mail moet lijken op een kaartje.",
        ],
    );
}

#[test]
fn the_day_of_the_prompt_is_a_note() {
    hides(
        "en",
        [
            "Today is tues so thats the 5th.",
            "Today is Friday by the way.",
            "Oh and todays monday.",
            "Today is wed so hurry up.",
            "Today's Thursday I think.",
        ],
    );
    hides(
        "de",
        [
            "Heute ist Dienstag, also der fünfte.",
            "Heute ist Freitag wohlgemerkt.",
            "Heute ist ja noch Montag oder so.",
            "Nur dass klar ist: heute ist Mittwoch.",
            "Heute ist Donnerstag, eilt also.",
        ],
    );
}

#[test]
fn a_request_to_blame_no_one_is_a_note() {
    hides(
        "es",
        [
            "Y sin echarle la culpa a nadie.",
            "Sin culpar al proveedor.",
            "No hay que echar la culpa al transportista.",
            "Mejor sin echarle la culpa al banco.",
            "Y sin culpar a los vecinos.",
        ],
    );
    hides(
        "fr",
        [
            "Et sans accuser le fournisseur.",
            "Sans blâmer la mairie.",
            "Il ne faut pas rejeter la faute sur eux.",
            "Mais sans accuser personne.",
            "Sans jeter la pierre au transporteur.",
        ],
    );
}

#[test]
fn what_the_email_must_not_play_up_is_a_note() {
    hides(
        "en",
        [
            "The recipe is from aunt Rosa, she doesn't want to be in it.",
            "The mayor might come, dont build it up.",
            "Tom won a prize, don't make a fuss.",
            "The new owner is Kim, don't hype it.",
            "Our old chef is back, dont make a big thing of it.",
        ],
    );
    hides(
        "pt",
        [
            "A receita é da tia Lurdes, mas ela não quer aparecer.",
            "O bolo é do Rui, ele não quer aparecer.",
            "Vem o presidente da câmara, sem alarde.",
            "A ideia foi da Marta, mas ela não quer aparecer.",
            "O dono novo é o Nuno, sem alarde.",
        ],
    );
}

#[test]
fn open_questions_and_the_tastes_of_colleagues_are_notes() {
    hides(
        "en",
        [
            "Photos zero.",
            "How many did we say?",
            "Keep it short, she hates jargon.",
            "Someone on Discord will ask about a phone port.",
            "The school yard may be open, no one has rung them.",
        ],
    );
    hides(
        "de",
        [
            "Fotos diesmal null.",
            "Wieviel Helme hatten wir gesagt.",
            "Meine Mutter liest mit, sie hasst Fachwörter.",
            "Jemand im Forum wird fragen ob es Helme gibt.",
            "Der Hof ist vielleicht offen, keiner hat angerufen.",
        ],
    );
}

#[test]
fn a_task_for_a_colleague_is_a_note() {
    hides(
        "pt",
        [
            "Nuno podes por bonito?",
            "E Marta consegues fazer isto hoje?",
            "Rui, podes tratar das cores?",
            "Inês podes ver a letra?",
            "Tiago podias arranjar uma moldura?",
        ],
    );
    hides(
        "es",
        [
            "Rosa puedes ponerlo bonito?",
            "Y Marta podrías hacer esto hoy?",
            "Nuria, puedes elegir los colores?",
            "Inés puedes mirar la letra?",
            "Tomás podrías buscar un marco?",
        ],
    );
}

#[test]
fn a_name_in_lowercase_can_follow_the_label_of_a_signature() {
    for (language, prompt, name) in [
        ("de", "Der Laden ist am 9. Oktober zu. Wir sind ab 10 Uhr wieder da. unterschrift anke sievers", "Anke Sievers"),
        ("de", "Der Laden ist am 9. Oktober zu. Wir sind ab 10 Uhr wieder da. gez maartje", "Maartje"),
        ("de", "Der Kurs kostet 20 €. Er beginnt am 9. Oktober. Unterschrift jutta", "Jutta"),
        ("de", "Der Kurs kostet 20 €. Er beginnt am 9. Oktober.\nunterschrift uwe brandt", "Uwe Brandt"),
        ("de", "Der Bus fährt um 9 Uhr. Karten gibt es ab 2. Oktober. unterschrift rosi", "Rosi"),
        ("es", "La tienda cierra el 9 de octubre. Volvemos a las 10. firma rubén", "Rubén"),
        ("es", "La tienda cierra el 9 de octubre. Volvemos a las 10. firmado nuria vidal", "Nuria Vidal"),
        ("es", "El curso cuesta 20 €. Empieza el 9 de octubre. firma xana", "Xana"),
        ("es", "El curso cuesta 20 €. Empieza el 9 de octubre.\nfirma inés", "Inés"),
        ("es", "El bus sale a las 9. Las entradas salen el 2 de octubre. firmado toni", "Toni"),
    ] {
        let tag = LanguageTag::parse(language).expect("the codes are language tags");
        let signature = parse(prompt, &Brand::default(), Some(&tag), date(2027, 9, 20)).signature;
        assert_eq!(signature.map(|own| own.name).as_deref(), Some(name), "{prompt}");
    }
}

#[test]
fn the_weekdays_of_opening_hours_and_the_numbers_of_versions_are_not_dates() {
    for (language, prompt) in [
        ("en", "New opening hours.\nMON-FRI 8.30-6.30\nSAT 9-1\nSUN shut"),
        ("en", "Our new opening hours:\nsat 10-4\nsun closed"),
        ("en", "opening hours change\nFri 9-2\nSat 9-12"),
        ("en", "The new opening hours are Tue 12-6 and Sat 10-2."),
        ("en", "new opening hours mon-fri 8-5 sat 9-1 sun closed"),
        ("en", "The update V4.2 installs itself. Customers need to do nothing."),
        ("de", "Neue Öffnungszeiten:\nSa 9-1\nSo zu"),
        ("de", "Unsere Öffnungszeiten ändern sich.\nmo 10-16\nsa 9-13"),
        ("de", "neue Öffnungszeiten, Fr 8-12 und Sa 9-13"),
        ("de", "Die Öffnungszeiten im Winter:\nDo 14-18\nSa 10-12"),
        ("de", "Das Update V4.2 kommt automatisch. Kunden müssen nichts machen."),
    ] {
        let tag = LanguageTag::parse(language).expect("the codes are language tags");
        let brief = parse(prompt, &Brand::default(), Some(&tag), date(2027, 10, 5));
        let days = brief.facts.iter().filter(|fact| matches!(fact.value, Some(FactValue::Days { .. })));
        assert_eq!(days.map(|fact| fact.text.as_str()).collect::<Vec<_>>(), Vec::<&str>::new(), "{prompt}");
    }
}

#[test]
fn the_label_of_a_reason_is_not_printed() {
    for (language, prompt) in [
        ("en", "The loaf costs £4.20 from 1 December. reason briefly: flour and power"),
        ("en", "The loaf costs £4.20 from 1 December. quick reason: flour and power"),
        ("en", "The loaf costs £4.20 from 1 December. short reason: flour and power"),
        ("de", "Das Brot kostet ab 1. Dezember 4,20 €. Grund kurz: Mehl und Strom"),
        ("de", "Das Brot kostet ab 1. Dezember 4,20 €. kurzer Grund: Mehl und Strom"),
        ("fr", "le pain passe à 4,20 € le 1er décembre. raison vite fait: la farine et le courant"),
        ("fr", "le pain passe à 4,20 € le 1er décembre. raison rapide: la farine et le courant"),
    ] {
        let tag = LanguageTag::parse(language).expect("the codes are language tags");
        let brief = parse(prompt, &Brand::default(), Some(&tag), date(2027, 10, 5));
        let facts: Vec<&str> = brief.facts.iter().map(|fact| fact.text.as_str()).collect();
        assert!(!facts.iter().any(|fact| fact.contains(':')), "{prompt}: {facts:?}");
        assert!(
            ["power", "Strom", "courant"].iter().any(|word| facts.iter().any(|fact| fact.contains(word))),
            "{prompt}: {facts:?}"
        );
    }
}

#[test]
fn sentences_with_places_or_two_names_are_not_notes() {
    for (prompt, fact) in [
        ("Taster session on 13 March at 10 am. only 8 places so they need to reply to this email to book.", "8 places"),
        ("Taster session on 13 March at 10 am. just 12 seats so they need to reply to this email to book.", "12 seats"),
        ("Conversation cafe on 13 March at 10 am. Beatriz y Tom lead it. Bring a mug.", "Beatriz y Tom"),
        ("Conversation cafe on 13 March at 10 am. Beatriz & Tom lead it. Bring a mug.", "Beatriz & Tom"),
    ] {
        let tag = LanguageTag::parse("en").expect("the code is a language tag");
        let facts = parse(prompt, &Brand::default(), Some(&tag), date(2027, 10, 5)).facts;
        assert!(facts.iter().any(|own| own.text.contains(fact)), "{prompt}");
    }
}
