//! A hand-written document that serves as the example in the documentation and as a starting point for tests.

use super::*;

impl Email {
    /// Returns an email with every kind of block.
    pub fn sample() -> Self {
        Self {
            version: VERSION,
            language: LanguageTag::parse("en").expect("the language tag en is valid"),
            direction: Direction::Ltr,
            purpose: Purpose::Sale,
            subject: "Twenty per cent off, until Sunday".into(),
            preheader: "Our winter teas, freshly packed. The code is inside.".into(),
            style: Style::default(),
            blocks: [opening(), middle(), end()].concat(),
        }
    }
}

fn link(address: &str) -> Link {
    Link::parse(address).expect("the sample's addresses are valid")
}

fn rich<const MAX: usize>(markup: &str) -> Rich<MAX> {
    Rich::parse(markup).expect("the sample's links are valid")
}

fn action(label: &str) -> Action {
    Action { label: label.into(), href: link("https://example.com/winter") }
}

fn picture(name: &str, alt: &str, (width, height): (u32, u32)) -> Picture {
    let src = ImageUrl::parse(&format!("https://example.com/images/{name}")).expect("the sample's addresses are valid");
    Picture { src, alt: Some(alt.into()), width: Some(width), height: Some(height), href: None }
}

fn product(name: &str, image: &str, price: &str, before: Option<&str>) -> Product {
    Product {
        name: name.into(),
        href: link(&format!("https://example.com/{image}")),
        image: Some(picture(&format!("{image}.jpg"), name, (800, 800))),
        text: None,
        price: Some(price.into()),
        price_before: before.map(Line::from),
        button: None,
    }
}

fn opening() -> Vec<Block> {
    let header = Header {
        id: "header".into(),
        name: "Leaf & Stone".into(),
        logo: None,
        href: Some(link("https://example.com/")),
        links: vec![
            NavLink { label: "Teas".into(), href: link("https://example.com/teas") },
            NavLink { label: "Gifts".into(), href: link("https://example.com/gifts") },
        ],
    };
    let hero = Hero {
        id: "hero".into(),
        eyebrow: Some("Winter sale".into()),
        title: "Warm hands, clear head".into(),
        text: Some(rich("Until Sunday all winter teas are **20 % off**. We pack them the day you order.")),
        image: Some(picture("pot.jpg", "A clay pot and two cups on a stone table", (1200, 800))),
        button: Some(action("Choose your tea")),
    };
    let text = "Hello {{ first_name | default(\"there\") }},\n\nthe first frost is here, and with it the teas that we like best: dark, \
                roasted, a little smoky. Read [how we choose them](https://example.com/how) or go straight to the shelf.";
    vec![Block::Header(header), Block::Hero(hero), Block::Text(Text { id: "greeting".into(), text: rich(text) })]
}

fn middle() -> Vec<Block> {
    let products = vec![
        product("Roasted oolong", "oolong", "€ 14.40", Some("€ 18.00")),
        product("Smoked black", "lapsang", "€ 11.20", Some("€ 14.00")),
        product("Aged white", "white", "€ 24.00", Some("€ 30.00")),
    ];
    let item = |title: &str, text: &str| Item { title: Some(title.into()), text: rich(text) };
    let items = vec![
        item("Warm the pot.", "Rinse it with hot water first."),
        item("Count to forty.", "The first infusion is short."),
        item("Pour again.", "Good leaves give five infusions."),
    ];
    let column = |id: &str, title: &str, text: &str| Column {
        blocks: vec![
            Cell::Heading(Heading { id: format!("{id}-title").into(), text: title.into(), level: HeadingLevel::Small }),
            Cell::Text(Text { id: format!("{id}-text").into(), text: rich(text) }),
        ],
    };
    let columns = vec![
        column("left", "Freshly packed", "On the day you order, in bags that keep the air out."),
        column("right", "Sent for free", "From € 30, with a box that fits your letter box."),
    ];
    let coupon = Coupon {
        id: "coupon".into(),
        title: "20 % off all winter teas".into(),
        code: "FROST20".into(),
        text: Some(rich("Once per person, until 30 November.")),
        button: Some(action("Use the code")),
    };
    vec![
        Block::Products(Products { id: "teas".into(), title: Some("Three for the frost".into()), products, columns: None }),
        Block::Coupon(coupon),
        Block::Heading(Heading { id: "how".into(), text: "How to brew oolong".into(), level: HeadingLevel::Section }),
        Block::List(List { id: "steps".into(), marks: ListMarks::Numbers, items }),
        Block::Columns(Columns { id: "services".into(), columns }),
        Block::Divider(Divider { id: "pause".into(), look: Pause::Line }),
        Block::Quote(Quote {
            id: "praise".into(),
            text: rich("The oolong tastes like the week in the mountains where I first drank it."),
            author: Some("Mara L.".into()),
            role: Some("Customer since 2021".into()),
            image: None,
            stars: Some(5),
        }),
        Block::Image(Image {
            id: "garden".into(),
            image: picture("garden.jpg", "Rows of tea bushes in the morning mist", (1200, 600)),
            caption: Some("Our oolong grows at 1,200 metres.".into()),
            width: ImageWidth::Content,
        }),
    ]
}

fn end() -> Vec<Block> {
    let row = |name: &str, value: &str, strong: bool| Row { cells: vec![Rich::plain(name), Rich::plain(value)], strong };
    let rows = vec![row("Orders up to € 30", "€ 3.90", false), row("Orders from € 30", "free", true)];
    let footer = Footer {
        id: "footer".into(),
        sender: "Leaf & Stone GmbH".into(),
        address: Some("Teestraße 12, 20457 Hamburg, Germany".into()),
        reason: Some(rich("You get this email because you subscribed on our site.")),
        links: vec![NavLink { label: "Privacy".into(), href: link("https://example.com/privacy") }],
        unsubscribe: "Unsubscribe".into(),
        view: Some("View in browser".into()),
    };
    let social = [("Instagram", "https://example.com/instagram"), ("YouTube", "https://example.com/youtube")];
    vec![
        Block::Table(Table { id: "delivery".into(), title: Some("Delivery".into()), head: Vec::new(), rows }),
        Block::Countdown(Countdown {
            id: "deadline".into(),
            title: "The sale ends".into(),
            date: "Sunday, 30 November, at midnight".into(),
            until: "2026-11-30T23:59:00+01:00".parse().expect("the sample's date is valid"),
            text: None,
        }),
        Block::Button(Button {
            id: "all".into(),
            label: "See all teas".into(),
            href: link("https://example.com/teas"),
            emphasis: Emphasis::Secondary,
        }),
        Block::Social(Social {
            id: "social".into(),
            title: Some("See you there".into()),
            links: social.map(|(name, href)| SocialLink { name: name.into(), href: link(href) }).into(),
        }),
        Block::Footer(footer),
    ]
}
