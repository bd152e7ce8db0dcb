//! The handler `checkUpload`: a file has arrived. It is checked and stored as a shape, or refused with its faults.
//! A settled upload is left alone, so an event that comes twice changes nothing.

use bytes::Bytes;
use geometry::{InvalidShape, Kind, Limits};
use table::{Access, Action, Error, Stored};
use web::notification::arrived;
use web::{Event, EventFailure, Problem};

use super::{PREFIX, Status, Upload, UploadFault, key};
use crate::schema::{BUCKET, PARKS};
use crate::{access, shapes};

pub async fn check_upload(event: Event) -> Result<Bytes, EventFailure> {
    for object in arrived(&event.payload).map_err(EventFailure::new)? {
        settle(event.access(), &object).await.map_err(EventFailure::new)?;
    }
    Ok(Bytes::from_static(b"{}"))
}

/// Takes one object from arrived to ready or rejected.
async fn settle(access: &Access, object: &str) -> Result<(), Problem> {
    let Some(name) = object.strip_prefix(PREFIX) else { return Ok(()) };
    let Some(key) = key(name) else { return Ok(()) };
    let parks = access.table(&access::CHECK_UPLOAD, &PARKS);
    let Some(stored) = parks.get_consistent(key.clone()).await? else { return Ok(()) };
    let upload: Upload = stored.read()?;
    if matches!(upload.status, Status::Ready | Status::Rejected) {
        return Ok(());
    }
    let checking = Upload { status: Status::Checking, ..upload.clone() };
    if upload.status != Status::Checking {
        match access.write(&access::CHECK_UPLOAD, change(&stored, &upload, &checking)?).await {
            Ok(_) => {}
            // Another delivery of the same event is at it.
            Err(Error::Stale { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    let bytes = match access.objects(&access::CHECK_UPLOAD, BUCKET, PREFIX).get(name).await {
        Ok(bytes) => bytes,
        Err(Error::NotFound) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let settled = match checked(access, &checking, bytes).await? {
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
    match access.write(&access::CHECK_UPLOAD, change(&stored, &checking, &settled)?).await {
        Ok(_) | Err(Error::Stale { .. } | Error::NotFound) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The hash of the shape that the file has become and how it was mended, or what is wrong with it.
async fn checked(
    access: &Access,
    upload: &Upload,
    file: Bytes,
) -> Result<Result<(String, Vec<String>), InvalidShape>, Problem> {
    let faults: Vec<geometry::Fault> = [
        (file.len() as u64 != upload.bytes)
            .then(|| fault("/bytes", format!("{} were announced and {} arrived", upload.bytes, file.len()))),
        upload
            .sha256
            .as_ref()
            .filter(|announced| **announced != geometry::sha256(&file))
            .map(|_| fault("/sha256", "the file has another hash than was announced".to_owned())),
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

fn change(stored: &Stored, before: &Upload, after: &Upload) -> Result<Action, Error> {
    let changes = table::Changes::between(before, after)?;
    Ok(Action::update(&PARKS, stored.key.clone(), changes).if_unchanged(stored))
}
