//! `GET /agencies/me/invitations`: to the caller's verified address; nothing without one.

use std::collections::HashMap;

use table::{Access, Error, Idpid, Key, Position, Stored};
use web::{Answer, Page, Problem, Request};

use super::{MyInvitation, names};
use crate::access::ADDRESS_INVITATIONS;
use crate::invitations::own_address;
use crate::item::{Invitation, Removal};
use crate::keys::removal_key;
use crate::members::list::ListQuery;
use crate::names::AgencyId;
use crate::schema::{AGENCIES, BY_PERSON};
use crate::standing::now;

pub async fn mine(request: Request) -> Result<Answer, Problem> {
    let query: ListQuery = request.query()?;
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let Some(address) = own_address(&request)? else {
        return Ok(Answer::ok(&Page::<MyInvitation> { items: Vec::new(), next_cursor: None }));
    };
    let (access, now) = (request.access(), now(&request));
    let invitations = access.table(&ADDRESS_INVITATIONS, &AGENCIES).query(Invitation::listed_under(&address));
    let (now, me) = (now.as_str(), request.principal().signed_in()?.idpid());
    let named = |page: Vec<Stored>| async move {
        let invitations = page.iter().map(Stored::read::<Invitation>).collect::<Result<Vec<_>, _>>()?;
        let agencies = invitations.iter().map(|invitation| &invitation.agency_id);
        let mut names = names(access, &ADDRESS_INVITATIONS, agencies.clone()).await?;
        let removals = removals(access, agencies, me).await?;
        let named = |invitation: Invitation| {
            let named = names.remove(&invitation.agency_id)?;
            let status = invitation.status_for(removals.get(&invitation.agency_id), now);
            Some(MyInvitation::with_status(status, invitation, named))
        };
        Ok::<_, Problem>(invitations.into_iter().map(named).collect())
    };
    let (items, next) = invitations.index(BY_PERSON).after(after).page_of(query.limit.0, named).await?;
    let next_cursor = next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok(Answer::ok(&Page::<MyInvitation> { items, next_cursor }))
}

/// The person's last removals from these agencies.
async fn removals<'a>(
    access: &Access,
    agencies: impl Iterator<Item = &'a AgencyId>,
    person: &Idpid,
) -> Result<HashMap<AgencyId, Removal>, Error> {
    let agencies: Vec<&AgencyId> = agencies.collect();
    let keys: Vec<Key> = agencies.iter().map(|agency| removal_key(agency, person)).collect();
    let found = access.table(&ADDRESS_INVITATIONS, &AGENCIES).batch_get(&keys).await?;
    let removals = agencies.into_iter().zip(found).filter_map(|(agency, stored)| Some((agency.clone(), stored?)));
    removals.map(|(agency, stored)| Ok((agency, stored.read()?))).collect()
}
