//! The handler `checkUpload` of the event that a file has arrived: checks the file and stores its shape, or the faults. A
//! checked upload does not change any more, so an event may be delivered twice.

use bytes::Bytes;
use geometry::{InvalidShape, Kind, Limits};
use table::{Access, Action, EntityKey, Error, Stored};
use web::notification::arrived;
use web::{Event, EventFailure, Problem};

use super::{PREFIX, Status, Upload, UploadFault};
use crate::keys::UploadKey;
use crate::schema::{BUCKET, PARKS};
use crate::{access, shapes};

pub async fn check_upload(event: Event) -> Result<Bytes, EventFailure> {
    for object in arrived(&event.payload).map_err(EventFailure::new)? {
        check(event.access(), &object).await.map_err(EventFailure::new)?;
    }
    Ok(Bytes::from_static(b"{}"))
}

/// Checks one file.
async fn check(access: &Access, object: &str) -> Result<(), Problem> {
    let Some(name) = object.strip_prefix(PREFIX) else { return Ok(()) };
    let Ok(upload) = name.parse() else { return Ok(()) };
    let key = UploadKey { upload }.key();
    let parks = access.table(&access::CHECK_UPLOAD, &PARKS);
    let Some(stored) = parks.get_consistent(key.clone()).await? else { return Ok(()) };
    let upload: Upload = stored.read()?;
    if matches!(upload.status, Status::Ready | Status::Rejected) {
        return Ok(());
    }
    let checking = Upload { status: Status::Checking, ..upload.clone() };
    if upload.status != Status::Checking {
        match access.write(&access::CHECK_UPLOAD, update(&stored, &upload, &checking)?).await {
            Ok(_) => {}
            // Another delivery of the same event checks it.
            Err(Error::Stale { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    let bytes = match access.objects(&access::CHECK_UPLOAD, BUCKET, PREFIX).get(name).await {
        Ok(bytes) => bytes,
        Err(Error::NotFound) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let result = match checked(access, &checking, bytes).await? {
        Ok((geometry, repairs)) => {
            Upload { status: Status::Ready, geometry: Some(geometry), repairs, ..checking.clone() }
        }
        Err(refused) => Upload {
            status: Status::Rejected,
            fault_count: Some(refused.count as u64),
            faults: refused
                .faults
                .into_iter()
                .map(|fault| UploadFault { pointer: fault.pointer, detail: fault.detail })
                .collect(),
            ..checking.clone()
        },
    };
    let Some(stored) = parks.get_consistent(key).await? else { return Ok(()) };
    match access.write(&access::CHECK_UPLOAD, update(&stored, &checking, &result)?).await {
        Ok(_) | Err(Error::Stale { .. } | Error::NotFound) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The hash of the file's shape and the repairs, or the faults.
async fn checked(
    access: &Access,
    upload: &Upload,
    file: Bytes,
) -> Result<Result<(String, Vec<String>), InvalidShape>, Problem> {
    let faults: Vec<geometry::Fault> = [
        (file.len() as u64 != upload.bytes)
            .then(|| fault("/bytes", format!("{} were declared and {} arrived", upload.bytes, file.len()))),
        upload
            .sha256
            .as_ref()
            .filter(|declared| **declared != geometry::sha256(&file))
            .map(|_| fault("/sha256", "the hash of the file differs from the declared one".to_owned())),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !faults.is_empty() {
        return Ok(Err(InvalidShape { count: faults.len(), faults, too_large: false }));
    }
    match shapes::check(file.to_vec(), Kind::Any, Limits::UPLOAD).await? {
        Err(refused) => Ok(Err(refused)),
        Ok(checked) => {
            let canonical = checked.shape.canonical();
            let repairs = checked.repairs.iter().map(ToString::to_string).collect();
            let reference = shapes::store_object(access, checked.shape, canonical).await?;
            Ok(Ok((reference.sha256, repairs)))
        }
    }
}

fn fault(pointer: &str, detail: String) -> geometry::Fault {
    geometry::Fault { pointer: pointer.to_owned(), detail }
}

fn update(stored: &Stored, before: &Upload, after: &Upload) -> Result<Action, Error> {
    let changes = table::Changes::between(before, after)?;
    Ok(Action::update(&PARKS, stored.key.clone(), changes).if_unchanged(stored))
}
