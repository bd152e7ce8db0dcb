//! The stacks for `sam deploy`: `samconfig.toml`.

use std::fmt::Write;

use crate::artefact::MARK;
use crate::systems::Declared;

/// Returns a section for the shared stack and one for each system.
pub fn stacks(systems: &[Declared]) -> String {
    let mut text = format!(
        "# {MARK}: the stacks, each deployed separately: `sam deploy --config-env shared`, then\n\
         # those of the systems. Parameters that are not named keep their values.\n\
         version = 0.1\n"
    );
    for name in ["shared"].into_iter().chain(systems.iter().map(|declared| declared.app.system().name)) {
        let _ = write!(
            text,
            r#"
[{name}.deploy.parameters]
template_file = "infra/{name}.yaml"
stack_name = "cairn-{name}"
resolve_s3 = true
capabilities = "CAPABILITY_IAM"
confirm_changeset = true
"#
        );
    }
    text
}
