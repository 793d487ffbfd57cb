//! Translates presentational attributes of older HTML, such as `width`, `bgcolor`, `align` and `cellpadding`, to CSS declarations.
//!
//! The translation follows the "rendering" section of the HTML standard and, for other details, the common behavior of browsers.

use std::fmt::Write;

use scraper::ElementRef;

use crate::engine::render::css;

/// The state that an element passes on to its descendants.
#[derive(Clone, Debug, Default)]
pub struct AncestorState {
    /// The side to which an ancestor's `align` attribute or a `<center>` element moves blocks. CSS has no property for this.
    pushed: Option<Side>,
    /// Whether an ancestor sets the text alignment.
    aligned: bool,
    /// The declarations that the enclosing table sets for its cells.
    cells: String,
    /// Whether an ancestor sets the font size.
    sized: bool,
}

impl AncestorState {
    /// Returns the initial state for a document. `sized` is whether the document's style sheets may set font sizes.
    pub fn at_root(sized: bool) -> Self {
        Self { sized, ..Self::default() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Center,
    Right,
}

impl Side {
    fn parse(value: &str) -> Option<Self> {
        match value.trim().to_ascii_lowercase().as_str() {
            "left" => Some(Self::Left),
            "center" | "middle" => Some(Self::Center),
            "right" => Some(Self::Right),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Center => "center",
            Self::Right => "right",
        }
    }

    /// Returns the margins that push a block to this side.
    fn margins(self) -> &'static str {
        match self {
            Self::Left => "margin-right:auto;",
            Self::Center => "margin-left:auto;margin-right:auto;",
            Self::Right => "margin-left:auto;",
        }
    }
}

struct Hints<'a> {
    element: ElementRef<'a>,
    name: &'a str,
    /// The properties that the element's own `style` sets.
    styled: Vec<String>,
    /// Whether the element's own `style` makes it a block.
    is_block: bool,
    out: String,
}

/// Returns the declarations for the attributes of an element, and the state that the element passes on. `picture` turns the URL of a
/// background image into an image key.
pub fn of(element: ElementRef<'_>, around: &AncestorState, picture: &mut dyn FnMut(&str) -> String) -> (String, AncestorState) {
    let name = element.value().name();
    let style = element.attr("style").unwrap_or_default();
    let declarations = css::declarations(style);
    let is_block = declarations.iter().any(|one| one.name == "display" && matches!(one.value.trim(), "block" | "table"));
    let styled = declarations.into_iter().map(|one| one.name).collect();
    let mut hints = Hints { element, name, styled, is_block, out: String::new() };
    let mut within = around.clone();
    hints.colors(picture);
    hints.sizes();
    hints.parts(around, &mut within);
    hints.align(around, &mut within);
    (hints.out, within)
}

impl Hints<'_> {
    fn attr(&self, name: &str) -> Option<&str> {
        self.element.attr(name).map(str::trim).filter(|value| !value.is_empty())
    }

    fn says(&mut self, property: &str, value: &str) {
        write!(self.out, "{property}:{value};").expect("writing to a string cannot fail");
    }

    fn length(&mut self, attribute: &str, property: &str, zero: bool) {
        let value = self.attr(attribute).and_then(dimension).filter(|value| zero || !value.starts_with("0px"));
        if let Some(value) = value {
            self.says(property, &value);
        }
    }

    fn pixels(&mut self, attribute: &str, properties: &[&str]) {
        let Some(value) = self.attr(attribute).and_then(dimension).filter(|value| value.ends_with("px")) else { return };
        properties.iter().for_each(|property| self.says(property, &value));
    }

    fn colors(&mut self, picture: &mut dyn FnMut(&str) -> String) {
        let holds_background = matches!(self.name, "body" | "table" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" | "col");
        if holds_background {
            if let Some(color) = self.attr("bgcolor").and_then(color) {
                self.says("background-color", &color);
            }
            if let Some(key) = self.attr("background").map(picture) {
                self.says("background-image", &format!("url(\"{key}\")"));
            }
        }
        match self.name {
            "body" => {
                if let Some(color) = self.attr("text").and_then(color) {
                    self.says("color", &color);
                }
                for (attribute, sides) in [
                    ("marginwidth", &["margin-left", "margin-right"][..]),
                    ("marginheight", &["margin-top", "margin-bottom"][..]),
                    ("leftmargin", &["margin-left"][..]),
                    ("rightmargin", &["margin-right"][..]),
                    ("topmargin", &["margin-top"][..]),
                    ("bottommargin", &["margin-bottom"][..]),
                ] {
                    self.pixels(attribute, sides);
                }
            }
            "font" => self.font(),
            _ => {}
        }
    }

    fn font(&mut self) {
        if let Some(color) = self.attr("color").and_then(color) {
            self.says("color", &color);
        }
        if let Some(face) = self.attr("face").map(|face| face.replace(['{', '}', ';', '<', '\\', '"', '\''], "")) {
            let families: Vec<String> = face.split(',').map(|family| format!("\"{}\"", family.trim())).collect();
            self.says("font-family", &families.join(","));
        }
        const SIZES: [&str; 7] = ["10px", "13px", "16px", "18px", "24px", "32px", "48px"];
        if let Some(size) = self.attr("size") {
            let number: Option<i32> = size.trim_start_matches('+').parse().ok();
            let signed = size.starts_with(['+', '-']);
            if let Some(number) = number.map(|number| if signed { 3 + number.clamp(-9, 9) } else { number }) {
                self.says("font-size", SIZES[number.clamp(1, 7) as usize - 1]);
            }
        }
    }

    fn sizes(&mut self) {
        match self.name {
            "table" | "img" | "td" | "th" | "hr" | "col" | "colgroup" => {
                self.length("width", "width", !matches!(self.name, "td" | "th"));
                if self.name != "hr" {
                    self.length("height", "height", !matches!(self.name, "td" | "th" | "table"));
                }
            }
            "tr" | "thead" | "tbody" | "tfoot" => self.length("height", "height", false),
            _ => {}
        }
        if matches!(self.name, "img" | "table") {
            self.pixels("hspace", &["margin-left", "margin-right"]);
            self.pixels("vspace", &["margin-top", "margin-bottom"]);
        }
        if matches!(self.name, "td" | "th") && self.element.attr("nowrap").is_some() {
            self.says("white-space", "nowrap");
        }
    }

    fn parts(&mut self, around: &AncestorState, within: &mut AncestorState) {
        match self.name {
            "table" => {
                self.pixels("cellspacing", &["border-spacing"]);
                let border = self.element.attr("border").map(|value| dimension(value).unwrap_or_else(|| "1px".into()));
                within.cells = String::new();
                if let Some(border) = border.filter(|border| border.ends_with("px") && border != "0px") {
                    self.frame(&border, within);
                }
                if let Some(padding) = self.attr("cellpadding").and_then(dimension).filter(|value| value.ends_with("px")) {
                    write!(within.cells, "padding:{padding};").expect("writing to a string cannot fail");
                }
            }
            "td" | "th" => {
                self.out.push_str(&around.cells);
                within.cells = String::new();
            }
            "img" => {
                if let Some(border) = self.attr("border").and_then(dimension).filter(|value| value.ends_with("px")) {
                    self.says("border", &format!("{border} solid"));
                }
            }
            "hr" => {
                if self.element.attr("noshade").is_some() {
                    self.says("border-color", "#808080");
                }
                if let Some(color) = self.attr("color").and_then(color) {
                    self.says("border-color", &color);
                    self.says("background-color", &color);
                }
                let size = self.attr("size").and_then(|size| size.parse::<u16>().ok());
                match size {
                    Some(0 | 1) => self.says("border-bottom-width", "0"),
                    Some(size) => self.says("height", &format!("{}px", size - 2)),
                    None => {}
                }
            }
            // Monospace text is smaller than other text, unless a font size is set.
            "pre" | "code" | "kbd" | "samp" | "tt" if !around.sized => {
                self.says("font-size", "13px");
                within.sized = true;
            }
            "ul" | "ol" | "li" => {
                let kind = self.attr("type").and_then(|kind| match kind {
                    "1" => Some("decimal"),
                    "a" => Some("lower-alpha"),
                    "A" => Some("upper-alpha"),
                    "i" => Some("lower-roman"),
                    "I" => Some("upper-roman"),
                    "disc" | "circle" | "square" | "none" => Some(kind),
                    _ => None,
                });
                let kind = kind.map(str::to_owned);
                if let Some(kind) = kind {
                    self.says("list-style-type", &kind);
                }
            }
            _ => {}
        }
        let valign = self.attr("valign").map(str::to_ascii_lowercase);
        if let Some(valign) = valign.filter(|value| ["top", "middle", "bottom", "baseline"].contains(&value.as_str()))
            && matches!(self.name, "td" | "th" | "tr" | "thead" | "tbody" | "tfoot")
        {
            self.says("vertical-align", &valign);
        }
    }

    /// Sets the borders of a table that has the `border` attribute, and of its cells. The table looks raised and the cells look sunken, but
    /// if the borders collapse or have a set color, they are plain lines.
    fn frame(&mut self, border: &str, within: &mut AncestorState) {
        const LIT: &str = "#767676";
        let color = self.attr("bordercolor").and_then(color);
        let style = self.element.attr("style").unwrap_or_default();
        let collapses = css::declarations(style).iter().any(|one| one.name == "border-collapse" && one.value == "collapse");
        let shade = color.as_deref().unwrap_or("currentcolor");
        let lit = if color.is_some() || collapses { shade } else { LIT };
        self.says("border", &format!("{border} solid"));
        self.says("border-color", &format!("{lit} {shade} {shade} {lit}"));
        write!(within.cells, "border:1px solid;border-color:{shade} {lit} {lit} {shade};")
            .expect("writing to a string cannot fail");
    }

    fn align(&mut self, around: &AncestorState, within: &mut AncestorState) {
        let styled = |property: &str| self.styled.iter().any(|name| name == property);
        let (styles_text, styles_width) = (styled("text-align"), styled("width") || styled("max-width"));
        let side = self.attr("align").and_then(Side::parse);
        match self.name {
            "table" => {
                match side {
                    Some(Side::Center) => self.says("margin-left", "auto;margin-right:auto"),
                    Some(side) => self.says("float", side.word()),
                    // The alignment of an ancestor overrides the block's own margins.
                    None => self.out.push_str(&around.pushed.map_or("", Side::margins).replace("auto", "auto !important")),
                }
                if around.pushed.is_some() {
                    self.says("text-align", "start");
                    within.aligned = false;
                }
                within.pushed = None;
            }
            "img" => self.align_image(around),
            "hr" => match side {
                Some(Side::Left) => self.says("margin-left", "0;margin-right:auto"),
                Some(Side::Right) => self.says("margin-left", "auto;margin-right:0"),
                _ => {}
            },
            "center" => (within.pushed, within.aligned) = (Some(Side::Center), true),
            "div" | "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "td" | "th" | "tr" | "thead" | "tbody" | "tfoot"
            | "caption" => {
                if let Some(side) = side {
                    self.says("text-align", side.word());
                    (within.pushed, within.aligned) = (Some(side), true);
                } else if self.attr("align").is_some_and(|value| value.eq_ignore_ascii_case("justify")) {
                    self.says("text-align", "justify");
                    (within.pushed, within.aligned) = (None, true);
                }
                let is_cell = matches!(self.name, "td" | "th" | "tr" | "thead" | "tbody" | "tfoot" | "caption");
                if !is_cell && styles_width {
                    self.out.push_str(around.pushed.map_or("", Side::margins));
                }
                if self.name == "th" && side.is_none() && around.aligned {
                    self.says("text-align", "inherit");
                }
            }
            _ if self.is_block && styles_width => self.out.push_str(around.pushed.map_or("", Side::margins)),
            _ => {}
        }
        if styles_text {
            (within.pushed, within.aligned) = (None, true);
        }
        let styles_size = self.styled.iter().any(|name| name == "font" || name == "font-size");
        within.sized |= styles_size || self.name == "font";
    }

    /// Sets the position of an image in its line, and of a block image in its block.
    fn align_image(&mut self, around: &AncestorState) {
        let place = self.attr("align").or_else(|| self.attr("valign")).map(str::to_ascii_lowercase);
        match place.as_deref() {
            Some(side @ ("left" | "right")) => return self.says("float", side),
            Some(place @ ("top" | "baseline")) => self.says("vertical-align", place),
            Some("texttop") => self.says("vertical-align", "text-top"),
            Some("absmiddle" | "center") => self.says("vertical-align", "middle"),
            Some("absbottom") => self.says("vertical-align", "bottom"),
            // With `valign`, `bottom` means the bottom of the line; with `align`, it means the baseline.
            Some("bottom") => self.says("vertical-align", if self.attr("align").is_some() { "baseline" } else { "bottom" }),
            Some("middle") => self.middle(),
            _ => {}
        }
        // If a block image is inside an element with an `align` attribute or inside a `<center>` element, that element moves the image, and
        // overrides the image's own margins. An inline image gets the same margins, unless it has an `hspace` attribute. In a line of text,
        // these margins have no effect, but they apply if a style sheet turns the image into a block.
        let margins = around.pushed.map_or("", Side::margins);
        if self.is_block {
            self.out.push_str(&margins.replace("auto", "auto !important"));
        } else if self.attr("hspace").is_none() {
            self.out.push_str(margins);
        }
    }

    /// Puts the middle of the image on the baseline. Style sheets cannot express this for an image of unknown height, which gets
    /// `vertical-align: middle`.
    fn middle(&mut self) {
        let height = self.attr("height").and_then(dimension).and_then(|height| height.strip_suffix("px")?.parse::<f32>().ok());
        match height.filter(|_| self.attr("align").is_some()) {
            Some(height) => self.says("vertical-align", &format!("{}px", -height / 2.0)),
            None => self.says("vertical-align", "middle"),
        }
    }
}

/// Parses a length as in the HTML standard: leading digits, then a percent sign or any other characters.
fn dimension(value: &str) -> Option<String> {
    let value = value.trim_start();
    let end = value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(value.len());
    let number: f32 = value[..end].parse().ok().filter(|number: &f32| *number <= 100_000.0)?;
    let unit = if value[end..].trim_start().starts_with('%') { "%" } else { "px" };
    Some(format!("{number}{unit}"))
}

/// Parses a color attribute with the HTML standard's rules for legacy colors: a name, or a string in which every character except
/// hexadecimal digits is treated as `0`.
fn color(value: &str) -> Option<String> {
    let value = value.trim();
    if value.is_empty() || value.eq_ignore_ascii_case("transparent") {
        return None;
    }
    let digits = value.trim_start_matches('#');
    let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    match digits.len() {
        3 | 6 if hexadecimal => return Some(format!("#{digits}")),
        _ if !value.starts_with('#') && digits.bytes().all(|byte| byte.is_ascii_alphabetic()) => return Some(value.to_owned()),
        _ if value.starts_with("rgb") => {
            let sound = |c: char| c.is_ascii_alphanumeric() || "(), .%".contains(c);
            return value.chars().all(sound).then(|| value.to_owned());
        }
        _ => {}
    }
    let mut digits: Vec<char> =
        digits.chars().take(128).map(|digit| if digit.is_ascii_hexdigit() { digit } else { '0' }).collect();
    while digits.is_empty() || !digits.len().is_multiple_of(3) {
        digits.push('0');
    }
    let part = digits.len() / 3;
    let one = |number: usize| -> String {
        let digits = &digits[number * part..(number + 1) * part];
        let kept: String = digits[digits.len().saturating_sub(8)..].iter().take(2).collect();
        format!("{kept:0>2}")
    };
    Some(format!("#{}{}{}", one(0), one(1), one(2)))
}

#[cfg(test)]
mod tests {
    use scraper::{Html, Selector};

    use super::*;

    /// Returns the declarations for the first element that the selector `wanted` matches.
    fn hints(html: &str, wanted: &str) -> String {
        let html = Html::parse_document(html);
        let selector = Selector::parse(wanted).expect("the selector is valid");
        let target = html.select(&selector).next().expect("the element exists");
        let mut chain: Vec<ElementRef<'_>> = target.ancestors().filter_map(ElementRef::wrap).collect();
        chain.reverse();
        chain.push(target);
        let mut around = AncestorState::default();
        let mut out = String::new();
        for element in chain {
            (out, around) = of(element, &around, &mut |address| format!("key of {address}"));
        }
        out
    }

    #[test]
    fn a_table_affects_only_its_own_cells() {
        let html = "<table cellpadding=5 cellspacing='3' border=1 bgcolor=ffcc00 width='50%'><tr valign=TOP><td width=10 height=0 nowrap>\
                    <table><tr><th>x</table></table>";
        assert_eq!(
            hints(html, "table"),
            "background-color:#ffcc00;width:50%;border-spacing:3px;border:1px solid;border-color:#767676 currentcolor currentcolor #767676;"
        );
        assert_eq!(hints(html, "tr"), "vertical-align:top;");
        assert_eq!(
            hints(html, "td"),
            "width:10px;white-space:nowrap;border:1px solid;border-color:currentcolor #767676 #767676 currentcolor;padding:5px;"
        );
        assert_eq!(hints(html, "th"), "");
    }

    #[test]
    fn align_pushes_inner_blocks_but_not_those_of_inner_tables() {
        let html =
            "<td align=center></td><div align=center><p style='width:5px'>a<table><tr><td><p style='width:1px'>b<th>c</table>";
        assert_eq!(hints(html, "div"), "text-align:center;");
        assert_eq!(hints(html, "div > p"), "margin-left:auto;margin-right:auto;");
        assert_eq!(hints(html, "table"), "margin-left:auto !important;margin-right:auto !important;text-align:start;");
        assert_eq!(hints(html, "td > p"), "");
        assert_eq!(hints(html, "th"), "");
        assert_eq!(hints("<table><tr align=left><th>x", "th"), "text-align:inherit;");
        assert_eq!(hints("<div align=center style='text-align:left'><table>", "table"), "");
    }

    #[test]
    fn block_images_are_pushed_through_links_and_other_inline_elements() {
        let pushed = "margin-left:auto !important;margin-right:auto !important;";
        for html in [
            "<table><tr><td align=center><a href=x><img style='display:block;margin:0'>",
            "<div align=center><span><a href=x><img style='display: block'>",
            "<center><img style='display:block'>",
        ] {
            assert_eq!(hints(html, "img"), pushed, "{html}");
        }
        assert_eq!(hints("<table><tr><td align=right><img style='display:block'>", "img"), "margin-left:auto !important;");
        // Inline images also get margins, because a style sheet may turn the images into blocks. In a line of text, `auto` margins have no
        // effect.
        assert_eq!(hints("<center><img>", "img"), "margin-left:auto;margin-right:auto;");
        assert_eq!(hints("<center><img hspace=3>", "img"), "margin-left:3px;margin-right:3px;");
        for html in [
            "<div align=center style='text-align:left'><img style='display:block'>",
            "<center><table><tr><td><img style='display:block'>",
            "<p><img style='display:block'>",
        ] {
            assert_eq!(hints(html, "img"), "", "{html}");
        }
        assert_eq!(hints("<center><a style='display:block;width:9px'>x", "a"), "margin-left:auto;margin-right:auto;");
        assert_eq!(hints("<center><a style='display:block'>x", "a"), "");
    }

    #[test]
    fn images_are_placed_in_their_lines_as_in_browsers() {
        for (attributes, place) in [
            ("align=bottom", "vertical-align:baseline;"),
            ("align=absbottom", "vertical-align:bottom;"),
            ("align=texttop", "vertical-align:text-top;"),
            ("align=middle", "vertical-align:middle;"),
            ("align=absmiddle", "vertical-align:middle;"),
            ("valign=bottom", "vertical-align:bottom;"),
            ("valign=middle height=20", "height:20px;vertical-align:middle;"),
            ("align=middle height=20", "height:20px;vertical-align:-10px;"),
            ("align=left valign=top", "float:left;"),
        ] {
            assert_eq!(hints(&format!("<img {attributes}>"), "img"), place, "{attributes}");
        }
    }

    #[test]
    fn images_fonts_and_rules_are_translated() {
        assert_eq!(
            hints("<img width=100% height=20 align=right hspace=4 border=0>", "img"),
            "width:100%;height:20px;margin-left:4px;margin-right:4px;border:0px solid;float:right;"
        );
        assert_eq!(
            hints("<font color=red size=+1 face=\"Arial, 'Open Sans'\">", "font"),
            "color:red;font-family:\"Arial\",\"Open Sans\";font-size:18px;"
        );
        assert_eq!(hints("<body background='a.png' text='#333' topmargin=0>", "body").matches(';').count(), 3);
        assert_eq!(hints("<hr size=1 color=#c000000>", "hr").matches("#c00000").count(), 2);
    }
}
