use geometry::*;
fn main() {
    let mut s = String::new();
    std::io::Read::read_to_string(&mut std::io::stdin(), &mut s).unwrap();
    match check(s.as_bytes(), Kind::Boundary, &Limits::UPLOAD) {
        Ok(c) => println!("{:?} {}", c.repairs, c.shape.canonical()),
        Err(r) => {
            for f in r.faults {
                println!("{} {}", f.pointer, f.detail)
            }
        }
    }
}
