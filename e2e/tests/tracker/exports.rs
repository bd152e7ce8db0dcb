//! A grid as a file, and back again.

use serde_json::{Value, json};
use tracker::schema::TRACKER;

use super::files::{counts, ended, import, new};
use super::fixture::{Fixture, PROJECT, TENANT, person};
use crate::harness::{Answer, User, fetch};
use crate::tests;

tests! { tracker_exports:
    exported_file_imports_unchanged,
    #[long] export_and_import_round_trip_in_every_order,
    export_writes_options_by_label,
    export_has_the_rows_and_order_of_the_grid,
    export_sorted_by_a_choice_stores_retired_options,
}

/// The text of an export, once the clock has begun and ended it.
pub async fn export(fixture: &Fixture, project: &str, new: Value) -> String {
    let begun = fixture.ann.post(&format!("{project}/exports"), new).await.is(202);
    let work = begun.header("location").to_owned();
    fixture.until(async || fixture.ann.get(&work).await.is(200).text("status") == "succeeded").await;
    text_of(&fixture.ann.get(&work).await.is(200)).await
}

/// The text of an export that is done.
async fn text_of(done: &Answer) -> String {
    let fetched = fetch(done.text("link")).await.is(200);
    assert_eq!(fetched.header("content-type"), "text/csv; charset=utf-8");
    let text = String::from_utf8(fetched.bytes.to_vec()).unwrap();
    let rows = done["counts"]["done"].as_u64().unwrap();
    assert!(text.matches("\r\n").count() as u64 > rows, "{rows} rows: {text}");
    text
}

async fn exported_file_imports_unchanged() {
    let fixture = Fixture::new().await;
    let attributes = [
        json!({ "name": "=Sum", "type": "text" }),
        json!({ "name": "Weight", "type": "decimal" }),
        json!({ "name": "When", "type": "dateTime" }),
        json!({ "name": "Level", "type": "choice", "options": [{ "label": "High" }, { "label": "-Low" }, { "label": "Mid" }] }),
    ];
    let (from, to) = (fixture.project("From").await, fixture.project("To").await);
    let mut ids = Vec::new();
    for project in [&from, &to] {
        for attribute in &attributes {
            let made = fixture.ada.post(&format!("{project}/attributes"), attribute.clone()).await.is(201);
            ids.push(made.text("id").to_owned());
        }
    }
    let texts = [
        "=1+1",
        "'=x",
        "-5",
        "say \"so\", twice",
        "two\r\nlines",
        "\ttab",
        "''",
        "plain",
        " spaces ",
        "\n=1+1",
        " =1+1",
        "＝1+1",
    ];
    let levels = ["High", "-Low", "Mid"];
    for (place, text) in texts.iter().enumerate() {
        let values = json!({
            &ids[0]: text, &ids[1]: format!("-{place}.5"), &ids[2]: "2023-05-01T12:00:00.25+02:00",
            &ids[3]: levels[place % 3],
        });
        let name = if text.contains(char::is_control) { "Lines" } else { text };
        let issue = fixture.issue(&from, name, values).await;
        if place % 2 == 1 {
            fixture.ann.patch(issue.header("location"), json!({ "state": "closed" })).await.is(200);
        }
    }
    fixture.issue(&from, "Bare", json!({})).await;
    // A retired option is still written, and read again.
    let level = format!("{from}/attributes/{}", ids[3]);
    fixture.ada.patch(&level, json!({ "options": [{ "id": "001" }, { "id": "002" }] })).await.is(200);

    let file = export(&fixture, &from, json!({})).await;
    let lines: Vec<&str> = file.split("\r\n").collect();
    assert_eq!(lines[0], "Number,Name,State,'=Sum,Weight,When,Level");
    assert_eq!(lines[1], "1,'=1+1,open,'=1+1,-0.5,2023-05-01T10:00:00.250000Z,High");
    assert_eq!(lines[2], "2,''=x,closed,''=x,-1.5,2023-05-01T10:00:00.250000Z,'-Low");
    assert_eq!(
        lines[4],
        "4,\"say \"\"so\"\", twice\",closed,\"say \"\"so\"\", twice\",-3.5,2023-05-01T10:00:00.250000Z,High"
    );
    assert_eq!(lines.iter().rev().nth(1), Some(&"13,Bare,open,,,,"));

    assert!(file.contains("\r\n11,' =1+1,open,' =1+1,") && file.contains("\r\n12,'＝1+1,closed,'＝1+1,"), "{file}");
    assert!(file.contains("\r\n10,Lines,closed,\"'\n=1+1\","), "{file}");

    let same = import(&fixture.ann, &from, new("upsert", "stop"), &file).await;
    assert_eq!((same.text("status"), &same["counts"]), ("succeeded", &counts(13, 0, 0, 0)), "{}", same.told());
    let copied = import(&fixture.ann, &to, new("create", "stop"), &file).await;
    assert_eq!((copied.text("status"), &copied["counts"]), ("succeeded", &counts(13, 13, 0, 0)), "{}", copied.told());
    assert_eq!(export(&fixture, &to, json!({})).await, file);
    let level = [&ids[3], &ids[7]];
    let orders = [&from, &to].map(|project| (project, if project == &from { level[0] } else { level[1] }));
    let mut sorted = Vec::new();
    for (project, level) in orders {
        sorted.push(export(&fixture, project, json!({ "sort": level, "order": "desc" })).await);
    }
    assert_eq!(sorted[0], sorted[1]);
    fixture.holds().await;
}

/// Attributes by their types, with values that issues have: of each type some are alike.
const COLUMNS: [(&str, &str, &[&str]); 6] = [
    ("Count", "int", &["-9223372036854775808", "-7", "0", "2", "10", "9223372036854775807"]),
    ("Weight", "decimal", &["-12.5", "-12.25", "0", "0.001", "2", "10", "1E+30"]),
    ("Day", "date", &["0001-01-01", "1999-12-31", "2023-05-01", "9999-12-31"]),
    ("Moment", "dateTime", &["1969-07-20T20:17:40.123456Z", "2023-05-01T12:00:00+02:00", "2023-05-01T10:00:00Z"]),
    ("Note", "text", &["apple", "Apple", "Straße", "strasse", "élan", "zebra"]),
    ("Level", "choice", &["High", "Mid", "Low"]),
];

/// A project with these columns; its path, and their ids.
async fn with_columns(fixture: &Fixture, name: &str) -> (String, Vec<String>) {
    let project = fixture.project(name).await;
    let mut ids = Vec::new();
    for (name, of, values) in COLUMNS {
        let mut new = json!({ "name": name, "type": of });
        if of == "choice" {
            new["options"] = values.iter().map(|label| json!({ "label": label })).collect();
        }
        let made = fixture.ada.post(&format!("{project}/attributes"), new).await.is(201);
        ids.push(made.text("id").to_owned());
    }
    // In another order than that of their ids.
    let turned = json!({ "options": [{ "id": "003" }, { "id": "001" }, { "id": "002" }] });
    fixture.ada.patch(&format!("{project}/attributes/{}", ids[5]), turned).await.is(200);
    (project, ids)
}

/// A grid of one page as its export has it.
async fn as_a_file(fixture: &Fixture, project: &str, ids: &[String], query: &str) -> String {
    let page = fixture.ann.get(&format!("{project}/grid?limit=100&{query}")).await.is(200);
    assert!(page.next().is_none(), "{}", page.told());
    let shown = |value: &Value| value["label"].as_str().or(value.as_str()).unwrap_or_default().to_owned();
    let row = |row: &Value| {
        let own = [row["number"].to_string(), shown(&row["name"]), shown(&row["state"])];
        let values = ids.iter().map(|id| shown(&row["values"][id]));
        format!("{}\r\n", own.into_iter().chain(values).collect::<Vec<_>>().join(","))
    };
    let names = COLUMNS.map(|(name, ..)| name).join(",");
    let rows: String = page["items"].as_array().unwrap().iter().map(row).collect();
    format!("Number,Name,State,{names}\r\n{rows}")
}

async fn export_and_import_round_trip_in_every_order() {
    let fixture = Fixture::new().await;
    let (from, from_ids) = with_columns(&fixture, "From").await;
    let (to, to_ids) = with_columns(&fixture, "To").await;
    for place in 0..40 {
        let mut values = json!({});
        for (at, (id, (.., some))) in from_ids.iter().zip(COLUMNS).enumerate() {
            if let Some(value) = some.get((place * (at + 2) + at) % (some.len() + 1)) {
                values[id] = json!(value);
            }
        }
        let name = ["apple", "Apple", "élan", "Issue 10", "Issue 2"][place % 5];
        let issue = fixture.issue(&from, name, values).await;
        if place % 3 == 0 {
            fixture.ann.patch(issue.header("location"), json!({ "state": "closed" })).await.is(200);
        }
    }
    let file = export(&fixture, &from, json!({})).await;
    assert_eq!(file.lines().count(), 41);
    let copied = import(&fixture.ann, &to, new("create", "stop"), &file).await;
    assert_eq!((copied.text("status"), &copied["counts"]), ("succeeded", &counts(40, 40, 0, 0)), "{}", copied.told());
    fixture.cairn.caught_up().await;

    let own = ["number", "name", "state"].map(str::to_owned);
    let columns = |ids: &[String]| [own.as_slice(), ids].concat();
    let begin = async |user: &User, project: &str, sort: &str, order: &str| {
        let exported = json!({ "sort": sort, "order": order });
        let begun = user.post(&format!("{project}/exports"), exported).await.is(202);
        (begun.header("location").to_owned(), format!("sort={sort}&order={order}"))
    };
    // A person may have three open.
    let vic = person(&fixture.cairn, "vic").await;
    let people = [&fixture.ann, &fixture.ada, &vic];
    let sorts: Vec<_> = columns(&from_ids).into_iter().zip(columns(&to_ids)).collect();
    let orders: Vec<_> = sorts.iter().flat_map(|sorts| ["asc", "desc"].map(|order| (sorts, order))).collect();
    for together in orders.chunks(people.len()) {
        let mut begun = Vec::new();
        for (((one, other), order), user) in together.iter().zip(people) {
            begun.push([begin(user, &from, one, order).await, begin(user, &to, other, order).await]);
        }
        for [(one, from_query), (other, to_query)] in &begun {
            let exported = text_of(&ended(&fixture.ann, one).await).await;
            assert_eq!(exported, as_a_file(&fixture, &from, &from_ids, from_query).await, "{from_query}");
            assert_eq!(exported, text_of(&ended(&fixture.ann, other).await).await, "{to_query}");
            assert_eq!(exported, as_a_file(&fixture, &to, &to_ids, to_query).await, "{to_query}");
        }
    }
    fixture.holds().await;
}

/// Though its label is the id of another.
async fn export_writes_options_by_label() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Labels").await;
    let options = ["002", "Low", "=a", "'=a"].map(|label| json!({ "label": label }));
    let level = json!({ "name": "Level", "type": "choice", "options": options });
    let level = fixture.ada.post(&format!("{project}/attributes"), level).await.is(201).text("id").to_owned();
    for option in ["001", "003", "004"] {
        fixture.issue(&project, option, json!({ &level: { "id": option } })).await;
    }
    let file = export(&fixture, &project, json!({})).await;
    assert_eq!(file, "Number,Name,State,Level\r\n1,001,open,002\r\n2,003,open,'=a\r\n3,004,open,''=a\r\n");
    let same = import(&fixture.ann, &project, new("upsert", "stop"), &file).await;
    assert_eq!((same.text("status"), &same["counts"]), ("succeeded", &counts(3, 0, 0, 0)), "{}", same.told());
}

async fn export_has_the_rows_and_order_of_the_grid() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let names = |file: &str| -> Vec<String> {
        file.split("\r\n").skip(1).filter_map(|line| Some(line.split(',').nth(1)?.to_owned())).collect()
    };
    let open = json!({ "sort": "name", "order": "desc", "filter": ["state:eq:open"], "columns": ["xattrib-3fe6"] });
    let file = export(&fixture, PROJECT, open).await;
    assert_eq!(file, "Number,Name,State,Num Items\r\n1,Needs Painting,open,\r\n3,Girder needs replacing,open,42\r\n");
    let by_start = export(&fixture, PROJECT, json!({ "sort": "xattrib-3812", "order": "desc" })).await;
    assert_eq!(names(&by_start), ["Check for rust", "Needs Painting", "Girder needs replacing"]);
    let empty = fixture.project("Empty").await;
    assert_eq!(export(&fixture, &empty, json!({})).await, "Number,Name,State\r\n");
}

/// A worker of the previous release knows only the options in the job.
async fn export_sorted_by_a_choice_stores_retired_options() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Levels").await;
    let options = ["High", "Mid", "Low"].map(|label| json!({ "label": label }));
    let new = json!({ "name": "Level", "type": "choice", "options": options });
    let level = fixture.ada.post(&format!("{project}/attributes"), new).await.is(201).text("id").to_owned();
    for label in ["Low", "Mid", "High"] {
        fixture.issue(&project, label, json!({ &level: label })).await;
    }
    let only_low = json!({ "options": [{ "id": "003" }] });
    fixture.ada.patch(&format!("{project}/attributes/{level}"), only_low).await.is(200);
    let begun = fixture.ann.post(&format!("{project}/exports"), json!({ "sort": &level })).await.is(202);
    let work = begun.header("location");
    let id = work.strip_prefix(&format!("{TENANT}/jobs/")).unwrap();
    let job = fixture.cairn.table_of(&TRACKER).get("tenant-0807", &format!("job-{id}")).await.unwrap();
    let checkpoint = job["checkpoint"].as_m().unwrap()["at"].as_m().unwrap();
    let order: Vec<_> = checkpoint["order"].as_l().unwrap().iter().map(|id| id.as_s().unwrap().as_str()).collect();
    assert_eq!(order, ["003", "001", "002"]);
    let file = text_of(&ended(&fixture.ann, work).await).await;
    assert_eq!(file, "Number,Name,State,Level\r\n1,Low,open,Low\r\n3,High,open,High\r\n2,Mid,open,Mid\r\n");
}
