//! `GET /agencies/me/invitations`: the invitations to the caller's verified address.

use std::collections::HashMap;

use table::{Access, Error, Idpid, Key, Stored};
use web::{Context, Page, PageQuery, Problem, Query, Route, Sample};

use super::{MyInvitation, names};
use crate::access::ADDRESS_INVITATIONS;
use crate::audit::now;
use crate::authorization::SIGNED_IN;
use crate::invitations::own_address;
use crate::item::{Invitation, Removal};
use crate::keys::removal_key;
use crate::names::AgencyId;
use crate::schema::{AGENCIES, BY_PERSON};

pub fn route() -> Route {
    Route::get("listMyInvitations", "/agencies/me/invitations", SIGNED_IN, list)
        .summary("List the invitations to the caller's verified address")
        .patterns(&[&ADDRESS_INVITATIONS])
        .sample(Sample::new("/agencies/me/invitations"))
}

async fn list(cx: Context, Query(query): Query<PageQuery>) -> Result<Page<MyInvitation>, Problem> {
    let after = cx.cursor(query.cursor.as_deref())?;
    let Some(address) = own_address(&cx)? else {
        return Ok(Page { items: Vec::new(), next_cursor: None });
    };
    let (access, now) = (cx.access(), now(&cx));
    let invitations = access.table(&ADDRESS_INVITATIONS, &AGENCIES).query(Invitation::address_partition(&address));
    let (now, me) = (now.as_str(), cx.principal().signed_in()?.idpid());
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
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}

/// The last removals of a person from these agencies.
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
