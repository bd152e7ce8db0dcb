//! The response to a user, with assertions that print the whole response when they fail.

use std::ops::Index;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// The response to a request.
#[derive(Clone, Debug)]
pub struct Answer {
    /// `GET /parks/health as visitor`
    pub request: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Bytes,
    /// The body as JSON, or null if it is not JSON.
    pub body: Value,
}

/// A page of search hits.
#[derive(Clone, Debug)]
pub struct Found(pub Answer);

impl Answer {
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.told());
        self
    }

    /// Asserts that the response is a problem of this type.
    #[track_caller]
    pub fn refused(self, status: u16, slug: &str) -> Self {
        let answer = self.is(status);
        assert_eq!(answer.header("content-type"), "application/problem+json", "{}", answer.told());
        assert_eq!(answer["type"], format!("urn:cairn:problem:{slug}"), "{}", answer.told());
        assert_eq!(answer["status"], status, "{}", answer.told());
        answer
    }

    /// Asserts that the response is a 400 with faults at exactly these pointers, parameters or header names, in any
    /// order.
    #[track_caller]
    pub fn faulty(self, places: &[&str]) -> Self {
        self.refused(400, "bad-request").at(places)
    }

    /// Asserts that its faults are at exactly these places, in any order.
    #[track_caller]
    pub fn at(self, places: &[&str]) -> Self {
        let (mut found, mut expected) = (self.places(), places.to_vec());
        found.sort();
        found.dedup();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}", self.told());
        self
    }

    /// Returns the pointers, parameters and header names of the faults, in order.
    pub fn places(&self) -> Vec<String> {
        let place = |fault: &Value| {
            let place = ["pointer", "parameter", "header"].into_iter().find_map(|kind| fault.get(kind));
            place.and_then(Value::as_str).unwrap_or("nowhere").to_owned()
        };
        self["errors"].as_array().into_iter().flatten().map(place).collect()
    }

    /// Returns the detail of the fault at this place.
    #[track_caller]
    pub fn fault(&self, place: &str) -> &str {
        let at = self.places().iter().position(|found| found == place);
        let at = at.unwrap_or_else(|| panic!("no fault at {place}: {}", self.told()));
        self["errors"][at]["detail"].as_str().unwrap_or_default()
    }

    /// Returns a header field, or an empty string if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    #[track_caller]
    pub fn tag(&self) -> String {
        let tag = self.header("etag");
        assert!(tag.starts_with('"') && tag.ends_with('"') && tag.len() > 2, "no entity tag: {}", self.told());
        tag.to_owned()
    }

    /// Returns the revision with which the entity tag of an item starts, for any representation.
    #[track_caller]
    pub fn rev(&self) -> u64 {
        let tag = self.tag();
        let revision = tag.trim_matches('"').split('-').next().unwrap_or_default();
        revision.parse().unwrap_or_else(|_| panic!("no revision: {}", self.told()))
    }

    /// Returns the text at this key.
    #[track_caller]
    pub fn text(&self, key: &str) -> &str {
        self[key].as_str().unwrap_or_else(|| panic!("no text at `{key}`: {}", self.told()))
    }

    /// Returns one attribute of each item of a page.
    pub fn each(&self, key: &str) -> Vec<&Value> {
        self["items"].as_array().into_iter().flatten().map(|item| &item[key]).collect()
    }

    /// Returns the sort keys of the items of a page.
    pub fn sks(&self) -> Vec<&str> {
        self.each("sk").into_iter().filter_map(Value::as_str).collect()
    }

    /// Returns the cursor of the next page.
    pub fn next(&self) -> Option<&str> {
        self["nextCursor"].as_str()
    }

    /// Returns the status, the header fields and the body, without ids and times of this request.
    pub fn but_for_the_request(&self) -> (u16, Vec<(String, String)>, Value) {
        let varies = ["date", "apigw-requestid"];
        let fields = self.headers.iter().filter(|(name, _)| !varies.contains(&name.as_str()));
        let mut fields: Vec<(String, String)> = fields
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect();
        fields.sort();
        let mut body = self.body.clone();
        body.as_object_mut().map(|body| body.remove("instance"));
        (self.status, fields, body)
    }

    /// Returns the whole response, for the message of a failed assertion.
    pub fn told(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let body: String = text.chars().take(2000).collect();
        format!("{} was answered {} {:?} {body}", self.request, self.status, self.headers)
    }
}

impl Index<&str> for Answer {
    type Output = Value;

    fn index(&self, key: &str) -> &Value {
        &self.body[key]
    }
}

impl Found {
    /// Returns `pk#sk` of the hits, in order.
    pub fn ids(&self) -> Vec<String> {
        let items = self.0["items"].as_array().into_iter().flatten();
        items.map(|item| format!("{}#{}", item["pk"].as_str().unwrap(), item["sk"].as_str().unwrap())).collect()
    }

    /// Returns the names of the hits, in order.
    pub fn names(&self) -> Vec<&str> {
        self.0.each("displayName").into_iter().filter_map(Value::as_str).collect()
    }

    pub fn total(&self) -> u64 {
        self.0["total"]["value"].as_u64().unwrap()
    }

    /// Asserts that the hits are exactly these, in any order.
    #[track_caller]
    pub fn are(&self, names: &[&str]) {
        let (mut found, mut expected) = (self.names(), names.to_vec());
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}", self.0.told());
        assert_eq!(self.total(), names.len() as u64, "{}", self.0.told());
    }

    #[track_caller]
    pub fn is_nothing(&self) {
        self.are(&[]);
    }

    /// Returns the count of a value in a facet.
    pub fn count(&self, facet: &str, value: &str) -> u64 {
        let counts = self.0["facets"][facet].as_array().into_iter().flatten();
        counts.filter(|count| count["value"] == value).filter_map(|count| count["count"].as_u64()).sum()
    }
}

impl Index<usize> for Found {
    type Output = Value;

    fn index(&self, hit: usize) -> &Value {
        &self.0.body["items"][hit]
    }
}
