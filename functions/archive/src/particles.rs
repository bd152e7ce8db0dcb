//! The particles of surnames, as in `van der Berg`. They belong to the surname after them, and a writer may leave them out.

const PARTICLES: [&str; 22] = [
    "van", "von", "vom", "de", "den", "der", "del", "della", "des", "da", "dos", "du", "di", "la", "le", "ten", "ter",
    "zu", "zum", "zur", "af", "ap",
];

/// Whether a folded word is a particle.
pub fn is_particle(word: &str) -> bool {
    PARTICLES.contains(&word)
}
