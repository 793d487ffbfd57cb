//! Renders all layouts with several brands and emails as HTML files for visual review, into the folder that `MAILMILL_GALLERY` named when
//! the tests were built. Without it, nothing is written.
//!
//! Open the pages in a browser: only a person can judge whether an email looks good.

use std::fs;
use std::path::Path;

use super::*;
use crate::base::locale::LanguageTag;
use crate::features::emails::document::*;
use crate::features::projects::brand::{Brand, BrandFonts, BrandLogo, BrandLogoBackground, BrandLogoSource, BrandPalette};

fn brand(name: &str, colors: [&str; 5], fonts: [&str; 2], corner_radius: Option<u16>) -> Brand {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let [background, text, primary, accent, button] = colors.map(given);
    let [heading, body] = fonts.map(given);
    Brand {
        name: Some(name.to_owned()),
        palette: BrandPalette { background, text, primary, accent, button, button_text: None },
        fonts: BrandFonts { heading, body },
        corner_radius,
        ..Brand::default()
    }
}

fn brands() -> Vec<(&'static str, Brand)> {
    let logo = BrandLogo {
        url: "https://example.com/images/logo.png".into(),
        source: BrandLogoSource::Header,
        width: Some(320),
        height: Some(80),
        background: BrandLogoBackground::Light,
    };
    let tea =
        brand("Leaf & Stone", ["#FFFFFF", "#22302A", "#2F6B4F", "#C08A3E", "#2F6B4F"], ["Georgia, serif", "Helvetica"], Some(4));
    let saas = brand("Northbeam", ["#FFFFFF", "#0F172A", "#5B4BF5", "#22D3EE", "#5B4BF5"], ["Inter", "Inter"], Some(12));
    let sport = brand("Volt", ["#FFFFFF", "#111111", "#FFD400", "#111111", "#FFD400"], ["Futura", "Helvetica"], Some(30));
    let dark = brand("Obsidian", ["#0B0B10", "#EDEDF2", "#B794F6", "#22D3EE", "#B794F6"], ["", ""], None);
    let rose = brand("Café Rosé", ["#FFF6F2", "#4A2C2A", "#D9526B", "#F3B562", "#D9526B"], ["Playfair Display", "Lora"], Some(0));
    vec![
        ("tea", Brand { logos: vec![logo], ..tea }),
        ("saas", saas),
        ("sport", sport),
        ("dark", dark),
        ("rose", rose),
        ("none", Brand::default()),
    ]
}

/// Returns the sample in another language, to show both directions.
fn translated(language: &str) -> Email {
    let words = match language {
        "ar" => Words {
            title: "أيدٍ دافئة وعقل صافٍ",
            eyebrow: "تخفيضات الشتاء",
            text: "حتى يوم الأحد جميع أنواع الشاي الشتوية **بخصم 20%**. نعبئها في يوم طلبك. اقرأ [كيف نختارها](https://example.com/how).",
            button: "اختر الشاي",
            heading: "كيف تحضّر شاي أولونغ",
            price: "١٤٫٤٠ €",
        },
        _ => Words {
            title: "ידיים חמות, ראש צלול",
            eyebrow: "מבצע חורף",
            text: "עד יום ראשון כל תה החורף **ב-20% הנחה**. אנחנו אורזים אותו ביום ההזמנה. קראו [איך אנחנו בוחרים](https://example.com/how).",
            button: "בחרו את התה שלכם",
            heading: "איך מכינים אולונג",
            price: "14.40 €",
        },
    };
    let mut email = Email::sample();
    email.language = LanguageTag::parse(language).expect("a language");
    email.direction = Direction::of(&email.language);
    email.subject = words.title.into();
    for block in &mut email.blocks {
        words.fill(block);
    }
    email
}

struct Words {
    title: &'static str,
    eyebrow: &'static str,
    text: &'static str,
    button: &'static str,
    heading: &'static str,
    price: &'static str,
}

impl Words {
    fn action(&self, action: &mut Option<Action>) {
        if let Some(action) = action {
            action.label = self.button.into();
        }
    }

    fn fill(&self, block: &mut Block) {
        match block {
            Block::Hero(hero) => {
                (hero.title, hero.eyebrow) = (self.title.into(), Some(self.eyebrow.into()));
                hero.text = Rich::parse(self.text).ok();
                self.action(&mut hero.button);
            }
            Block::Text(text) => text.text = Rich::parse(self.text).expect("valid"),
            Block::Heading(heading) => heading.text = self.heading.into(),
            Block::Products(products) => {
                products.title = Some(self.heading.into());
                for product in &mut products.products {
                    (product.name, product.price) = (self.eyebrow.into(), Some(self.price.into()));
                }
            }
            Block::List(list) => {
                for item in &mut list.items {
                    (item.title, item.text) = (Some(self.eyebrow.into()), Rich::parse(self.text).expect("valid"));
                }
            }
            Block::Quote(quote) => quote.text = Rich::parse(self.text).expect("valid"),
            Block::Coupon(coupon) => {
                (coupon.title, coupon.text) = (self.title.into(), Rich::parse(self.text).ok());
                self.action(&mut coupon.button);
            }
            Block::Table(table) => {
                for row in &mut table.rows {
                    row.cells[0] = Rich::plain(self.heading);
                }
            }
            Block::Countdown(countdown) => (countdown.title, countdown.date) = (self.eyebrow.into(), self.heading.into()),
            Block::Button(button) => button.label = self.button.into(),
            Block::Footer(footer) => {
                footer.reason = Rich::parse(self.heading).ok();
                footer.unsubscribe = self.button.into();
            }
            Block::Header(_) | Block::Image(_) | Block::Columns(_) | Block::Divider(_) | Block::Social(_) => {}
        }
    }
}

/// A few blocks, like most emails.
fn short() -> Email {
    let mut email = Email::sample();
    let kept = ["header", "hero", "greeting", "teas", "all", "footer"];
    email.blocks.retain(|block| kept.contains(&block.id().as_str()));
    for block in &mut email.blocks {
        match block {
            Block::Products(products) => products.products.truncate(2),
            Block::Header(header) => header.links.clear(),
            _ => {}
        }
    }
    email
}

/// A brand without images, and an author of long titles.
fn bare() -> Email {
    let mut email = Email::sample();
    email.blocks.retain(|block| !matches!(block, Block::Image(_) | Block::Quote(_) | Block::Divider(_)));
    for block in &mut email.blocks {
        match block {
            Block::Hero(hero) => {
                hero.image = None;
                hero.title = "Everything you need to know about our new opening hours in winter".into();
            }
            Block::Products(products) => {
                for product in &mut products.products {
                    product.image = None;
                    product.text = Some("Dark, roasted and a little smoky, like a walk in the forest.".into());
                }
            }
            _ => {}
        }
    }
    email
}

/// Pictures of all shapes, many products, three columns with pictures and buttons.
fn crowded() -> Email {
    let mut email = Email::sample();
    email.blocks.retain(|block| matches!(block, Block::Header(_) | Block::Products(_) | Block::Columns(_) | Block::Footer(_)));
    let sizes = [(800, 800), (600, 900), (1200, 600), (300, 300), (800, 1000)];
    for block in &mut email.blocks {
        match block {
            Block::Products(products) => {
                let first = products.products.clone();
                products.products = first.iter().chain(&first[..2]).cloned().collect();
                for (product, (width, height)) in products.products.iter_mut().zip(sizes) {
                    product.text = Some("Dark, roasted and smoky.".into());
                    product.button = Some("Buy now".into());
                    if let Some(image) = &mut product.image {
                        (image.width, image.height) = (Some(width), Some(height));
                        image.src = ImageUrl::parse(&format!("https://example.com/images/{width}x{height}.jpg")).expect("valid");
                    }
                }
            }
            Block::Columns(columns) => {
                let third = columns.columns[0].clone();
                columns.columns.push(third);
                for (index, column) in columns.columns.iter_mut().enumerate() {
                    let src = ImageUrl::parse("https://example.com/images/800x800.jpg").expect("valid");
                    let image = Picture { src, alt: None, width: Some(800), height: Some(800), href: None };
                    let image = Image { id: format!("i{index}").into(), image, caption: None, width: ImageWidth::Content };
                    column.blocks.insert(0, Cell::Image(image));
                    let href = Link::parse("https://example.com/x").expect("valid");
                    let button =
                        Button { id: format!("b{index}").into(), label: "Read on".into(), href, emphasis: Emphasis::Quiet };
                    column.blocks.push(Cell::Button(button));
                }
            }
            _ => {}
        }
    }
    email
}

#[test]
fn gallery_for_visual_review() {
    let Some(folder) = option_env!("MAILMILL_GALLERY").map(Path::new) else { return };
    fs::create_dir_all(folder).expect("the folder can be created");
    let images = format!("file://{}/images/", folder.display());
    let mut with_logo = Email::sample();
    if let Some(Block::Header(header)) = with_logo.blocks.first_mut() {
        header.logo = ImageUrl::parse("https://example.com/images/logo.png").ok();
    }
    let emails = [
        ("full", with_logo),
        ("short", short()),
        ("bare", bare()),
        ("crowded", crowded()),
        ("ar", translated("ar")),
        ("he", translated("he")),
    ];
    for (brand_name, brand) in brands() {
        for (email_name, email) in &emails {
            for layout in Layout::ALL {
                let mut email = email.clone();
                email.style.layout = Some(layout);
                let drawn = render(&email, &Theme::new(&brand, &email, 0));
                let name = format!("{brand_name}-{email_name}-{layout:?}").to_lowercase();
                let html = drawn.html.replace("https://example.com/images/", &images);
                fs::write(folder.join(format!("{name}.html")), html).expect("the folder can be written");
                fs::write(folder.join(format!("{name}.mjml")), drawn.mjml).expect("the folder can be written");
                fs::write(folder.join(format!("{name}.txt")), drawn.text).expect("the folder can be written");
            }
        }
    }
}
