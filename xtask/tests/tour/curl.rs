//! The subset of curl that the tour uses.

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// A command line of curl.
#[derive(Debug)]
pub struct Request {
    pub method: Method,
    pub url: String,
    pub headers: HeaderMap,
    pub body: Option<String>,
    /// `-i`: whether to show status line and header fields.
    pub shows_head: bool,
}

impl Request {
    pub fn only_reads(&self) -> bool {
        self.method == Method::GET
    }
}

/// Reads a command line.
pub fn parse(words: &[String]) -> Request {
    let mut words = words.iter().map(String::as_str);
    assert_eq!(words.next(), Some("curl"));
    let (mut method, mut url, mut body, mut shows_head) = (None, None, None, false);
    let mut headers = HeaderMap::new();
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_else(|| panic!("{word} takes a value"));
        match word {
            "-s" => {}
            "-i" => shows_head = true,
            "-X" => method = Some(Method::from_bytes(value().as_bytes()).unwrap()),
            "-d" => body = Some(value().to_owned()),
            "-H" => {
                let (name, text) = value().split_once(':').unwrap();
                let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
                headers.insert(name, HeaderValue::from_str(text.trim()).unwrap());
            }
            address if !address.starts_with('-') && url.is_none() => url = Some(address.to_owned()),
            other => panic!("curl's `{other}` is not understood here"),
        }
    }
    let url = url.expect("curl is given an address");
    assert!(!url.contains(['[', ']', '{', '}']), "curl makes several addresses of {url}");
    assert!(url.is_ascii(), "curl sends {url} as it is, which is no address");
    if body.is_some() {
        headers.entry("content-type").or_insert(HeaderValue::from_static("application/x-www-form-urlencoded"));
    }
    headers.entry("accept").or_insert(HeaderValue::from_static("*/*"));
    let method = method.unwrap_or(if body.is_some() { Method::POST } else { Method::GET });
    Request { method, url: format!("http://{url}"), headers, body, shows_head }
}

#[test]
fn command_line_is_parsed_as_by_curl() {
    let words = ["curl", "-s", "-H", "Accept: a/b", "-d", "{}", "localhost/x"].map(str::to_owned);
    let request = parse(&words);
    assert_eq!((request.method, request.url.as_str()), (Method::POST, "http://localhost/x"));
    assert_eq!(request.headers["accept"], "a/b");
    assert_eq!(request.headers["content-type"], "application/x-www-form-urlencoded");
    assert!(!request.shows_head);
}
