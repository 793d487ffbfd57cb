//! Writes the parts around the content of an email: the header, the signature, the social networks and the legal footer.

use super::facts::without_legal_form;
use super::goals::Pictures;
use super::material;
use super::phrases::escape;
use super::sections::Writer;
use super::text::{capital, tidy};
use crate::features::emails::brief::Goal;
use crate::features::emails::document::*;
use crate::features::projects::brand::BrandPerson;

impl Writer<'_> {
    /// Writes the signature: the person whom the brief names or, if the layout or the goal calls for a signature, the brand itself.
    pub fn closing(&mut self) {
        let signer = self.content.brief.signature.as_ref();
        let signs = self.layout == Layout::Letter || (self.shape.signs && !self.lean);
        // A friendly closing such as "See you soon" does not suit a notice such as a recall.
        let is_notice = !self.shape.sells && self.shape.pictures == Pictures::None;
        let greeting = self.common(if is_notice { "closing_notice" } else { "closing" }).map(|closing| escape(&closing));
        if let Some(signer) = signer.filter(|signer| !signer.name.trim().is_empty()) {
            let name = format!("**{}**", escape(&tidy(&signer.name)));
            let title = signer.title.as_ref().map(|title| escape(&capital(&tidy(title)))).filter(|title| !title.is_empty());
            let lines: Vec<String> = greeting.into_iter().chain([name]).chain(title).collect();
            return self.text(&lines.join("\n"));
        }
        let alone = self.brand.voice.person == Some(BrandPerson::I);
        let signature = if alone { "signature_one" } else { "signature" };
        let (true, Some(greeting), Some(signature)) = (signs, greeting, self.common(signature)) else { return };
        self.text(&format!("{greeting}\n{}", escape(&signature)));
    }

    pub fn social(&mut self) {
        let links = material::social(self.brand);
        let wanted = self.shape.social || self.job == "general.social";
        if links.is_empty() || !wanted || self.lean {
            return;
        }
        let title = self.common("social_heading").map(|title| Line::cut(&title));
        self.push(Block::Social(Social { id: "social".into(), title, links }));
    }

    /// Writes the legally required footer.
    pub fn footer(&mut self) {
        let brand = self.brand;
        let name = [brand.contact.company.as_ref(), brand.name.as_ref()].into_iter().flatten().map(|name| tidy(name));
        let sender = name.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| self.sender_unknown());
        let reason = self.book.text(if self.goal == Goal::Receipt { "common.reason_receipt" } else { "common.reason" });
        let address = brand.contact.address.as_ref().map(|text| tidy(text)).filter(|text| !text.is_empty());
        let footer = Footer {
            id: "footer".into(),
            sender: Line::cut(&sender),
            address: address.map(|text| Line::cut(&text)),
            reason: reason.and_then(|reason| Rich::parse(&reason).ok()),
            links: Vec::new(),
            unsubscribe: Line::cut(&self.book.label("common.unsubscribe")),
            view: Some(Line::cut(&self.book.label("common.view"))),
        };
        self.blocks.push(Block::Footer(footer));
    }

    /// Returns the sender for a brand without a name: the host of its site or, without a site, a dash.
    fn sender_unknown(&self) -> String {
        let host = self.site.as_ref().and_then(|site| site.as_str().split('/').nth(2)).unwrap_or_default();
        if host.is_empty() { "—".to_owned() } else { host.to_owned() }
    }

    pub fn header(&mut self) {
        let name =
            self.brand.name.as_ref().map(|name| without_legal_form(&tidy(name)).to_owned()).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| self.sender_unknown());
        let logo = material::logo(self.brand, self.layout).filter(|_| !self.content.rules.no_images);
        let header = Header { id: "header".into(), name: Line::cut(&name), logo, href: self.site.clone(), links: Vec::new() };
        self.blocks.push(Block::Header(header));
    }
}
