//! The material for a writer: the facts about the brand, in the form that writers need.

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::features::emails::document::Link;
use crate::features::emails::model::GenerationRequest;
use crate::features::projects::brand::{Brand, BrandFormality, BrandPerson, BrandProduct};
use crate::features::projects::{self, PageText, Site, knowledge};
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::limits;

/// The brand and the material of one conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Material {
    /// The name of the brand in emails.
    pub name: String,
    /// The brand's home page.
    pub site: String,
    pub brand: Brand,
    /// The brand guidelines that users set.
    pub guidelines: Option<String>,
    /// The entries in the brand's knowledge base, newest first.
    pub knowledge: Vec<knowledge::Entry>,
    /// The content of the pages that the request links to.
    pub pages: Vec<PageText>,
    /// The URLs of the images given with the request.
    pub given_images: Vec<String>,
}

pub fn gather(tx: &impl Read, account: AccountId, project: ProjectId, wanted: &GenerationRequest) -> Result<Material, Failure> {
    let material = of_brand(tx, account, project)?;
    Ok(Material { pages: wanted.pages.clone(), given_images: wanted.images.clone(), ..material })
}

/// Returns the material about a brand, without material from a conversation.
pub fn of_brand(tx: &impl Read, account: AccountId, project: ProjectId) -> Result<Material, Failure> {
    let found = projects::brand(tx, account, project)?;
    let (project, brand) = found.ok_or_else(|| Failure::internal("the project of a conversation is missing; report this bug"))?;
    let knowledge = knowledge::all(tx, project.id)?;
    let rules = [&brand.guidelines.design_rules, &brand.guidelines.image_style];
    let rules: Vec<&str> = rules.into_iter().flatten().map(String::as_str).collect();
    Ok(Material {
        name: brand.name.clone().unwrap_or(project.name),
        site: project.urls.first().cloned().unwrap_or_default(),
        guidelines: (!rules.is_empty()).then(|| rules.join("\n")),
        knowledge,
        brand,
        ..Material::default()
    })
}

impl Material {
    /// Returns the images for the model's prompt, each as its URL and a description, up to a limit. Images given with the request come
    /// first.
    pub fn images(&self) -> Vec<String> {
        let given = self.given_images.iter().map(|url| format!("{url} (given with the request: use it)"));
        let logos = self.brand.logos.iter().take(1).map(|logo| format!("{} (the logo)", logo.url));
        let products = self.brand.products.iter().filter_map(|product| {
            let image = product.image.as_ref()?;
            Some(format!("{image} (product: {})", product.name))
        });
        let own = self.brand.images.iter().map(|image| {
            let size = image.width.zip(image.height).map(|(width, height)| format!(", {width}×{height} pixels"));
            let about = image.description.as_deref().unwrap_or("no description");
            format!("{} ({about}{})", image.url, size.unwrap_or_default())
        });
        given.chain(logos).chain(products).chain(own).take(limits::MATERIAL_IMAGES_MAX).collect()
    }

    /// Returns the URLs of the images given with the request and the images of the brand.
    pub fn image_urls(&self) -> Vec<String> {
        let products = self.brand.products.iter().filter_map(|product| product.image.clone());
        let logos = self.brand.logos.iter().map(|logo| logo.url.clone());
        let own = self.brand.images.iter().map(|image| image.url.clone());
        self.given_images.iter().cloned().chain(logos).chain(products).chain(own).map(normal).collect()
    }

    /// Returns links to the brand's home page, products, social networks and email address.
    pub fn site_links(&self) -> Vec<String> {
        let products = self.brand.products.iter().filter_map(|product| product.url.clone());
        let social = self.brand.social.iter().map(|link| link.url.clone());
        let mail = self.brand.contact.email.iter().map(|email| format!("mailto:{email}"));
        std::iter::once(self.site.clone())
            .chain(products)
            .chain(social)
            .chain(mail)
            .take(limits::MATERIAL_LINKS_MAX)
            .map(normal)
            .collect()
    }

    /// Returns the links in the request and the brand's links.
    pub fn links(&self, wanted: &GenerationRequest) -> Vec<String> {
        let mut links = links_in(&wanted.prompt);
        links.extend(self.site_links());
        links
    }

    /// Returns the host of the brand's site, with and without `www.`.
    pub fn hosts(&self) -> Vec<String> {
        let host = self.site.parse::<Site>().map(|site| site.host().to_owned()).unwrap_or_default();
        let bare = host.strip_prefix("www.").unwrap_or(&host);
        if bare.is_empty() { Vec::new() } else { vec![bare.to_owned(), format!("www.{bare}")] }
    }

    /// Returns the newest entries of the knowledge base, each with its content shortened.
    pub fn facts(&self) -> Vec<String> {
        let fact = |entry: &knowledge::Entry| {
            let content: String = entry.content.chars().take(limits::MATERIAL_FACT_CHARACTERS_MAX).collect();
            format!("{}: {content}", entry.title)
        };
        self.knowledge.iter().take(limits::MATERIAL_FACTS_MAX).map(fact).collect()
    }

    /// Returns the pages that the request links to, shortened.
    pub fn page_texts(&self) -> Vec<String> {
        let text = |page: &PageText| {
            let content: String = page.content.chars().take(limits::MATERIAL_PAGE_CHARACTERS_MAX).collect();
            format!("{} ({}): {content}", page.title, page.url)
        };
        self.pages.iter().map(text).collect()
    }

    /// Returns descriptions of the brand's first products for the model's prompt, one line each.
    pub fn products(&self) -> Vec<String> {
        let line = |product: &BrandProduct| {
            let price = product.price.as_ref().map(|price| {
                let before = product.price_before.as_ref().filter(|before| is_higher(before, price));
                let before = before.map(|before| format!(" (before: {before})"));
                format!(", {price}{} {}", before.unwrap_or_default(), product.currency.as_deref().unwrap_or(""))
            });
            let about = product.description.as_ref().map(|about| format!(": {about}"));
            let url = product.url.as_ref().map(|url| format!(" – {url}"));
            format!(
                "{}{}{}{}",
                product.name,
                price.unwrap_or_default().trim_end(),
                about.unwrap_or_default(),
                url.unwrap_or_default()
            )
        };
        self.brand.products.iter().take(limits::MATERIAL_PRODUCTS_MAX).map(line).collect()
    }

    /// Describes the brand's voice as a list of traits.
    pub fn voice(&self) -> Option<String> {
        let voice = &self.brand.voice;
        let mut traits: Vec<String> = Vec::new();
        traits.extend(voice.person.map(|person| {
            match person {
                BrandPerson::We => "speaks of itself as \"we\"",
                BrandPerson::I => "speaks of itself as \"I\"",
                BrandPerson::Third => "speaks of itself by its name",
            }
            .to_owned()
        }));
        traits.extend(voice.formality.map(|formality| {
            match formality {
                BrandFormality::Casual => "casual",
                BrandFormality::Neutral => "neither casual nor stiff",
                BrandFormality::Formal => "formal",
            }
            .to_owned()
        }));
        traits.extend(voice.sentence_words.map(|words| format!("about {words:.0} words a sentence")));
        if !voice.words.is_empty() {
            traits.push(format!("typical words: {}", voice.words.join(", ")));
        }
        if !voice.tone.is_empty() {
            traits.push(format!("tone: {}", voice.tone.join(", ")));
        }
        if !voice.avoid.is_empty() {
            traits.push(format!("never uses the words: {}", voice.avoid.join(", ")));
        }
        if !traits.is_empty() {
            traits.push(if voice.emoji { "uses emoji" } else { "uses no emoji" }.to_owned());
        }
        (!traits.is_empty()).then(|| traits.join("; "))
    }
}

/// Returns whether an original price is higher than the current price. A new price from the site can exceed an original price that a user
/// set.
fn is_higher(before: &str, price: &str) -> bool {
    let number = |price: &str| price.replace(',', ".").parse::<f64>();
    number(before).ok().zip(number(price).ok()).is_none_or(|(before, price)| before > price)
}

/// Normalizes an address in the same way as documents do.
fn normal(url: String) -> String {
    Link::parse(&url).map(|link| link.to_string()).unwrap_or(url)
}

/// Returns the first web addresses in the text, at most [`limits::MATERIAL_LINKS_MAX`].
pub fn links_in(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '(' | ')' | '[' | ']'));
    let bare = words.map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']));
    let web = bare.filter(|word| word.starts_with("https://") || word.starts_with("http://"));
    web.take(limits::MATERIAL_LINKS_MAX).map(|word| normal(word.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_original_price_is_named_only_if_it_is_higher() {
        let product = |before: &str| BrandProduct {
            name: "Bowl".into(),
            price: Some("45".into()),
            price_before: Some(before.into()),
            currency: Some("GBP".into()),
            ..BrandProduct::default()
        };
        let brand = Brand { products: vec![product("42"), product("49.50")], ..Brand::default() };
        let material = Material { brand, ..Material::default() };
        assert_eq!(material.products(), ["Bowl, 45 GBP", "Bowl, 45 (before: 49.50) GBP"]);
    }

    #[test]
    fn addresses_in_a_text_are_found_without_surrounding_punctuation() {
        let text = "See (https://Example.com/sale), <http://a.example/x?y=1>. Not ftp://b.example nor c.example!";
        assert_eq!(links_in(text), ["https://example.com/sale", "http://a.example/x?y=1"]);
    }
}
