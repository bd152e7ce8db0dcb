//! A cursor is valid only for its caller and its list.

use super::stage::Stage;

pub async fn keep_cursors(stage: &Stage) {
    let lists = stage.operations.iter().filter(|operation| operation.only_reads() && operation.takes("cursor"));
    let (mut walked, mut elsewheres) = (0, 0);
    for list in lists {
        let path = stage.own(list);
        let (mut readers, mut next) = (Vec::new(), None);
        for (name, user) in &stage.principals {
            let mut query = "limit=1".to_owned();
            let mut page = user.get(&format!("{path}?{query}")).await;
            if page.status == 400 {
                // The operation needs the query string of its sample.
                query = format!("{}&limit=1", list.query);
                page = user.get(&format!("{path}?{query}")).await;
            }
            if page.status == 200 {
                readers.push((*name, user));
                let cursor = page.next().map(str::to_owned);
                next = next.or(cursor.map(|cursor| (*name, user, format!("{query}&cursor={cursor}"))));
            }
        }
        let (owner, user, query) = next.unwrap_or_else(|| panic!("no list of {} has a second page", list.name));
        user.get(&format!("{path}?{query}")).await.is(200);
        walked += 1;
        for (name, other) in readers.iter().filter(|(name, _)| *name != owner) {
            let answer = other.get(&format!("{path}?{query}")).await;
            assert_eq!(answer.places(), ["cursor"], "{name} used the cursor of {owner}: {}", answer.told());
            answer.faulty(&["cursor"]);
        }
        // The list of the same name that belongs to another principal.
        let (elsewhere, other) = (stage.foreign(list), stage.user(stage.parts.others));
        let plain = query.split("&cursor=").next().unwrap();
        if elsewhere != path && other.get(&format!("{elsewhere}?{plain}")).await.status == 200 {
            other.get(&format!("{elsewhere}?{query}")).await.faulty(&["cursor"]);
            elsewheres += 1;
        }
        // A principal without access to the list gets no information through its cursor.
        let outsiders = stage.parts.outsiders.iter().filter(|name| stage.hides(list, name));
        for name in outsiders.filter(|name| readers.iter().all(|(reader, _)| reader != *name)) {
            let outsider = stage.user(name);
            let foreign = outsider.get(&format!("{path}?{query}")).await;
            let absent = outsider.get(&format!("{}?{query}", stage.absent(list))).await;
            assert_eq!(foreign.but_for_the_request(), absent.but_for_the_request(), "{}", foreign.told());
        }
    }
    assert!(walked > if stage.is_shared() { 0 } else { 3 }, "{walked} lists");
    assert!(elsewheres > 0 || stage.is_shared(), "no list of another principal");
}
