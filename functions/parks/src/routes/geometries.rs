//! `/parks/geometries/uploads`.

use web::{Route, Sample, problem};

use super::ADMINISTRATORS;
use crate::access::{ITEM, UPLOAD};
use crate::uploads::{NewUpload, UploadLink, UploadPath, UploadView, create_upload, get_upload};

const UPLOADS: &str = "/parks/geometries/uploads";
const ONE: &str = "/parks/geometries/uploads/{uploadId}";

pub fn routes() -> Vec<Route> {
    vec![
        Route::post("createUpload", UPLOADS, ADMINISTRATORS, create_upload)
            .summary("Announces a GeoJSON file of up to 32 MiB and gives the link that takes it")
            .patterns(&[&UPLOAD])
            .takes::<NewUpload>()
            .creates()
            .answers::<UploadLink>(201)
            .problems(&[problem::TOO_LARGE])
            .sample(Sample::new(UPLOADS).body(r#"{"bytes":5000000}"#)),
        Route::get("getUpload", ONE, ADMINISTRATORS, get_upload)
            .summary("How far an upload has come, with its faults or its shape")
            .patterns(&[&ITEM])
            .path::<UploadPath>()
            .answers::<UploadView>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/parks/geometries/uploads/01890a5d-ac96-774b-bcce-b302099a8057").expects(404)),
    ]
}
