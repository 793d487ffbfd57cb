//! Temporary: prints emails of the sample prompts.
use super::*;
use crate::features::projects::brand::*;
use serde_json::Value;

pub fn brand(value: &Value) -> Brand {
    let s = |k: &str| value[k].as_str().map(str::to_owned);
    Brand {
        name: s("name"),
        tagline: s("tagline"),
        description: s("description"),
        languages: s("language").into_iter().collect(),
        products: value["products"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|p| BrandProduct {
                name: p["name"].as_str().unwrap_or_default().into(),
                url: p["url"].as_str().map(str::to_owned),
                image: p["image"].as_str().map(str::to_owned),
                price: p["price"].as_str().map(str::to_owned),
                ..BrandProduct::default()
            })
            .collect(),
        contact: BrandContact { address: s("address"), email: s("email"), phone: s("phone"), ..BrandContact::default() },
        ..Brand::default()
    }
}

#[test]
fn gallery() {
    let Ok(out) = std::env::var("GALLERY") else { return };
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/prompts");
    let brands: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(format!("{dir}/brands.json")).unwrap()).unwrap();
    let mut text = String::new();
    let mut times = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(format!("{dir}/first")).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    for file in files {
        let prompts: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for p in prompts {
            let value = brands.iter().find(|b| b["id"] == p["brand"]).unwrap();
            let b = brand(value);
            let today: Date = p["today"].as_str().unwrap().parse().unwrap();
            let language = tag(p["language"].as_str().unwrap());
            let prompt = p["prompt"].as_str().unwrap();
            let t0 = std::time::Instant::now();
            let brief = brief::parse(prompt, &b, Some(&language), today);
            let t1 = std::time::Instant::now();
            let request = Request { brief: &brief, images: &[], reference: None, site: value["url"].as_str(), seed: 7, today };
            let plan = plan(&request, &b, false, &language, Some(1));
            let done = compose(&request, &b, &[], &plan, 0, &language);
            times.push((t1 - t0, t1.elapsed()));
            text.push_str(&format!(
                "\n\n######## {} {} {:?}\n{}\n",
                p["id"].as_str().unwrap(),
                p["language"],
                brief.purpose,
                prompt
            ));
            for f in &brief.facts {
                text.push_str(&format!("   - {:?} {:?} {:?} {:?} st{:?}\n", f.kind, f.role, f.text, f.value, f.story));
            }
            for s in &brief.stories {
                text.push_str(&format!("   = story {:?} {:?} {:?}\n", s.heading.as_ref().map(|h| &h.text), s.text.text, s.link));
            }
            text.push_str(&format!(
                "   offer {:?} event {:?} cta {:?} sig {:?} con {:?} unclear {:?} instr {:?}\n",
                brief.offer,
                brief.event,
                brief.cta,
                brief.signature,
                brief.constraints.iter().map(|c| (c.kind, c.value.clone())).collect::<Vec<_>>(),
                brief.unclear.iter().map(|u| &u.text).collect::<Vec<_>>(),
                brief.instructions.iter().map(|u| &u.text).collect::<Vec<_>>()
            ));
            text.push_str(&print::text(&done.email));
            for u in &done.unused {
                text.push_str(&format!("!! unused {:?}\n", u.text));
            }
            for w in &done.warnings {
                text.push_str(&format!("!! {w}\n"));
            }
            for v in done.email.check() {
                text.push_str(&format!("!!!! INVALID {v}\n"));
            }
            let look = crate::features::emails::theme::Theme::new(&b, &done.email, 7);
            std::fs::create_dir_all(format!("{out}/html")).unwrap();
            std::fs::write(
                format!("{out}/html/{}.html", p["id"].as_str().unwrap()),
                crate::features::emails::render::render(&done.email, &look).html,
            )
            .unwrap();
        }
    }
    std::fs::write(format!("{out}/all.txt"), text).unwrap();
    let max = times.iter().map(|t| t.1).max();
    println!(
        "parse {:?} compose max {:?} mean {:?}",
        times.iter().map(|t| t.0).max(),
        max,
        times.iter().map(|t| t.1).sum::<std::time::Duration>() / times.len() as u32
    );
}
