//! Says which of the model's labels a text has: cargo run -- model.gguf intents "Move 20 dollars"
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::{env::args, ptr::null, ptr::null_mut, slice::from_raw_parts};

type Handle = *mut c_void;
#[repr(C)]
struct Str(*const c_char, usize);
#[repr(C)]
struct Error(c_int, [c_char; 512]);
#[repr(C)] // the set's name, labels, how many, an instruction
struct Options(*const c_char, *const Str, usize, Str);

#[repr(C)] // how sure of "not mine", of all labels together, tokens
struct Found(f32, f32, usize);

#[link(name = "tandem")]
extern "C" {
    fn td_model_open(path: *const c_char, _: Handle, out: &mut Handle, err: &mut Error) -> c_int;
    fn td_session_new(model: Handle, _: Handle, out: &mut Handle, err: &mut Error) -> c_int;
    fn td_classifier_new(m: Handle, _: &Options, out: &mut Handle, err: &mut Error) -> c_int;
    fn td_classifier_count(classifier: Handle) -> usize;
    fn td_classifier_label(classifier: Handle, index: usize) -> Str;
    #[rustfmt::skip]
    fn td_classify(
        session: Handle,
        classifier: Handle,
        text: Str,
        probabilities: *mut f32,
        out: &mut Found,
        err: &mut Error,
    ) -> c_int;
}

fn main() -> Result<(), String> {
    let words: Vec<CString> = args().skip(1).map(|word| CString::new(word).unwrap()).collect();
    let [path, set, text] = &words[..] else { return Err("usage: labels MODEL SET TEXT".into()) };
    let options = Options(set.as_ptr(), null(), 0, Str(null(), 0));
    let mut err = Error(0, [0; 512]);
    let (mut model, mut session, mut labels) = (null_mut(), null_mut(), null_mut());
    let mut run = || unsafe {
        if td_model_open(path.as_ptr(), null_mut(), &mut model, &mut err) != 0
            || td_session_new(model, null_mut(), &mut session, &mut err) != 0
            || td_classifier_new(model, &options, &mut labels, &mut err) != 0
        {
            return None;
        }
        let mut scores = vec![0f32; td_classifier_count(labels)];
        let words = Str(text.as_ptr(), text.as_bytes().len());
        let out = &mut Found(0.0, 0.0, 0);
        if td_classify(session, labels, words, scores.as_mut_ptr(), out, &mut err) != 0 {
            return None;
        }
        let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]))?;
        let Str(name, len) = td_classifier_label(labels, best);
        let name = String::from_utf8_lossy(from_raw_parts(name.cast(), len));
        Some(format!("{name} {:.2}", scores[best]))
    };
    let said = run(); // the process ends here: what is open is given back with it
    let words = || unsafe { CStr::from_ptr(err.1.as_ptr()).to_string_lossy().into_owned() };
    println!("{}", said.ok_or_else(words)?);
    Ok(())
}
