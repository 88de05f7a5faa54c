// Tells the linker where pkg-config finds libtandem.
fn main() {
    let asked = std::process::Command::new("pkg-config").args(["--libs-only-L", "tandem"]).output();
    let said = asked.expect("pkg-config is not installed");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    for word in String::from_utf8_lossy(&said.stdout).split_whitespace() {
        println!("cargo:rustc-link-search={}", word.trim_start_matches("-L"));
    }
}
