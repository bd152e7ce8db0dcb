//! `/parks/imports`.

use web::{Route, Sample, problem};

use super::ADMINISTRATORS;
use crate::access::IMPORT;
use crate::imports::{ImportLink, NewImport, create_import};

const IMPORTS: &str = "/parks/imports";

pub fn routes() -> Vec<Route> {
    vec![
        Route::post("createImport", IMPORTS, ADMINISTRATORS, create_import)
            .summary("Announces a layer of up to 100 MiB and 50 000 rows, and gives the link that takes it and its job")
            .patterns(&[&IMPORT])
            .takes::<NewImport>()
            .creates()
            .answers::<ImportLink>(201)
            .problems(&[problem::TOO_LARGE, problem::UNPROCESSABLE])
            .sample(
                Sample::new(IMPORTS)
                    .body(r#"{"collectionId":"bcparks_1","entity":"facility","format":"geojson","bytes":5000000}"#),
            ),
    ]
}
