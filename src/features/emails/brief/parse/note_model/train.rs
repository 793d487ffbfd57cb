//! Trains the model on the samples in `tests/samples/notes`. To rewrite the weights after the samples or the features have changed:
//!
//!     SNAPSHOTS=write cargo test --lib note_model

use std::path::Path;

use super::super::prompt::{Prompt, Range};
use super::{BUCKETS, STEP, WEIGHTS, features, logistic, probability};
use crate::features::projects::brand::Brand;

const ROUNDS: usize = 18;
const RATE: f32 = 0.25;
/// The weight decay factor for each round, which keeps rare features from dominating.
const SHRINK: f32 = 0.995;

struct Sample {
    text: String,
    features: Vec<usize>,
    is_note: bool,
}

/// Returns the samples in `tests/samples/notes` that have features, in a fixed pseudorandom order, which mixes the languages.
fn samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/notes");
    let files = std::fs::read_dir(folder).expect("the samples exist").map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|own| own == "tsv")).collect();
    files.sort();
    let mut samples = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the samples are text");
        let language = file.file_stem().expect("the file has a name").to_string_lossy().into_owned();
        let brand = Brand { languages: vec![language], ..Brand::default() };
        for line in text.lines() {
            let (label, text) = line.split_once('\t').unwrap_or_else(|| panic!("{}: {line}", file.display()));
            assert!(matches!(label, "N" | "C"), "{}: {line}", file.display());
            let prompt = Prompt::read_part(text, &brand);
            let features = features(&prompt, Range::of(0, prompt.words.len()));
            samples.push(Sample { text: text.to_owned(), features, is_note: label == "N" });
        }
    }
    samples.retain(|sample| !sample.features.is_empty());
    let mut state = 7_u64;
    for at in (1..samples.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        samples.swap(at, (state >> 33) as usize % (at + 1));
    }
    samples
}

/// Trains a logistic regression by stochastic gradient descent with a learning rate for each weight (AdaGrad), and returns the weights.
fn train<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> Vec<f32> {
    let (mut weights, mut squares) = (vec![0.0_f32; BUCKETS], vec![1e-6_f32; BUCKETS]);
    for _ in 0..ROUNDS {
        for sample in samples.clone() {
            let sum: f32 = sample.features.iter().map(|at| weights[*at]).sum();
            let error = logistic(sum) - f32::from(u8::from(sample.is_note));
            for at in &sample.features {
                squares[*at] += error * error;
                weights[*at] -= RATE * error / squares[*at].sqrt();
            }
        }
        weights.iter_mut().for_each(|weight| *weight *= SHRINK);
    }
    weights
}

fn quantized(weights: &[f32]) -> Vec<u8> {
    weights.iter().map(|weight| ((weight / STEP).round().clamp(-127.0, 127.0) as i8).cast_unsigned()).collect()
}

#[test]
fn the_weights_are_those_of_the_samples() {
    let trained = quantized(&train(samples().iter()));
    if std::env::var_os("SNAPSHOTS").is_some_and(|word| word == "write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/brief/notes.weights");
        std::fs::write(path, &trained).expect("the weights can be written");
        return;
    }
    // The result of the exponential function may differ in its last bit between platforms, so a weight may differ by one step.
    let near = |(own, other): (&u8, &u8)| own.cast_signed().abs_diff(other.cast_signed()) <= 1;
    assert!(trained.iter().zip(WEIGHTS).all(near), "the samples changed; run: SNAPSHOTS=write cargo test --lib note_model");
}

/// Trains the model on four fifths of the samples and tests it on the other samples.
#[test]
fn unknown_texts_are_distinguished() {
    let samples = samples();
    let (known, unknown): (Vec<_>, Vec<_>) = samples.iter().enumerate().partition(|(at, _)| at % 5 != 0);
    let weights = train(known.iter().map(|(_, sample)| *sample));
    let right = |sample: &Sample| (sample.features.iter().map(|at| weights[*at]).sum::<f32>() > 0.0) == sample.is_note;
    let count = unknown.iter().filter(|(_, sample)| right(sample)).count();
    let share = count as f32 / unknown.len() as f32;
    println!("{count} of {} unknown texts are right ({share})", unknown.len());
    assert!(share > 0.8, "{share}");
}

fn rated(text: &str) -> Option<f32> {
    let prompt = Prompt::read(text, &Brand::default());
    probability(&prompt, Range::of(0, prompt.words.len()))
}

#[test]
fn notes_and_statements_have_different_probabilities() {
    for note in [
        "please keep the tone light",
        "my boss hates long emails",
        "nicht so werblich bitte",
        "le ton reste simple et sans blabla",
    ] {
        assert!(rated(note).is_some_and(|own| own > 0.5), "{note}");
    }
    for text in
        ["the sauna is open until nine", "bring your own mug", "Hunde müssen draußen bleiben", "entrée gratuite pour les enfants"]
    {
        assert!(rated(text).is_some_and(|own| own < 0.5), "{text}");
    }
    assert_eq!(rated(" … "), None);
    let best = samples().into_iter().max_by_key(|sample| sample.text.len());
    assert!(best.is_some_and(|sample| sample.text.len() < 1000));
}
