//! Runs `mailmill models test`, which needs neither the data folder nor a running service.

use std::sync::Arc;

use super::{complain, print, runtime};
use crate::base::random::{Random, SystemRandom};
use crate::engine::fetch::Fetch;
use crate::engine::language_model::{Client, Models};
use crate::features::emails::benchmark::{self, BenchmarkReport};
use crate::surfaces::cli::{ModelTest, Problem};
use crate::vocab::settings::{COMPOSER, Settings};

pub(super) fn run(settings: &Settings, wanted: &ModelTest) -> Result<(), Problem> {
    let random: Arc<dyn Random> = Arc::new(SystemRandom::default());
    let models = Models::new(settings, &Arc::new(Fetch::new(settings)), &random);
    let client = choose(&models, wanted.model.as_deref())?;
    // The result of each email goes to standard error, so that standard output contains only the report.
    let report = runtime()?.block_on(benchmark::run(client, |result| complain(&result.line())));
    print(&shown(&report, wanted.json)?);
    match report.is_hopeless() {
        true => {
            let said = "the test was stopped because the model wrote none of the first emails; fix the errors above, and run \
                        the test again";
            Err(Problem::failed(said))
        }
        false => Ok(()),
    }
}

fn shown(report: &BenchmarkReport, as_json: bool) -> Result<String, Problem> {
    match as_json {
        true => serde_json::to_string_pretty(report).map(|json| json + "\n").map_err(Problem::failed),
        false => Ok(report.text()),
    }
}

fn choose<'a>(models: &'a Models, named: Option<&str>) -> Result<&'a Arc<Client>, Problem> {
    let found = named.map_or_else(|| models.default(), |name| models.find(name));
    found.ok_or_else(|| {
        let names: Vec<&str> = models.names().into_iter().filter(|name| *name != COMPOSER).collect();
        match (names.is_empty(), named) {
            (true, _) => Problem::misused(
                "no language model is enabled; set the protocol and the model of one under [models.NAME] in the settings",
            ),
            (false, Some(name)) => {
                Problem::misused(format_args!("no model named {name} is enabled; use one of: {}", names.join(", ")))
            }
            (false, None) => Problem::misused(format_args!("no model was named; use --model with one of: {}", names.join(", "))),
        }
    })
}
