//! `GET /agencies/me/invitations`: the unsettled invitations to the caller's verified address.

use std::collections::HashMap;

use table::{Access, Error, Idpid, Key, Stored};
use web::{Context, Page, PageQuery, Problem, Query, Route, Sample};

use super::{MyInvitation, names};
use crate::access::ADDRESS_INVITATIONS;
use crate::audit::now;
use crate::authorization::SIGNED_IN;
use crate::invitations::own_address;
use crate::item::{Invitation, Member, Removal};
use crate::keys::{member_key, removal_key};
use crate::names::AgencyId;
use crate::schema::{AGENCIES, BY_PERSON};

pub fn route() -> Route {
    Route::get("listMyInvitations", "/agencies/me/invitations", SIGNED_IN, list)
        .summary("List the pending and expired invitations to the caller's verified address")
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
        let histories = histories(access, agencies, me).await?;
        let named = |invitation: Invitation| {
            let named = names.remove(&invitation.agency_id)?;
            let (member, removal) = histories.get(&invitation.agency_id)?;
            if member.as_ref().is_some_and(Member::is_suspended) {
                return None;
            }
            let status = invitation.status_for(removal.as_ref(), now);
            // The agency is absent to an ex-member, and to an invitee who has declined.
            status.is_unsettled().then(|| MyInvitation::with_status(status, invitation, named))
        };
        Ok::<_, Problem>(invitations.into_iter().map(named).collect())
    };
    let (items, next) = invitations.index(BY_PERSON).after(after).page_of(query.limit.0, named).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}

/// A person's membership in an agency and last removal from it.
type History = (Option<Member>, Option<Removal>);

async fn histories<'a>(
    access: &Access,
    agencies: impl Iterator<Item = &'a AgencyId>,
    person: &Idpid,
) -> Result<HashMap<AgencyId, History>, Error> {
    let agencies: Vec<&AgencyId> = agencies.collect();
    let keys: Vec<Key> =
        agencies.iter().flat_map(|agency| [member_key(agency, person), removal_key(agency, person)]).collect();
    let found = access.table(&ADDRESS_INVITATIONS, &AGENCIES).batch_get(&keys).await?;
    let mut histories = HashMap::new();
    for (agency, stored) in agencies.into_iter().zip(found.as_chunks::<2>().0) {
        let [member, removal] = stored;
        let member = member.as_ref().map(Stored::read::<Member>).transpose()?;
        let removal = removal.as_ref().map(Stored::read::<Removal>).transpose()?;
        histories.insert(agency.clone(), (member, removal));
    }
    Ok(histories)
}
