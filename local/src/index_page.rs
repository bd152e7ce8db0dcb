//! The page at `/`: what the platform serves, and where. Only the local gateway has it.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, header};

const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// Returns the page with the systems of these names, or none for another request.
pub fn response(request: &Request<Bytes>, systems: &[&str]) -> Option<Response<Bytes>> {
    if request.uri().path() != "/" || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let mut response = Response::new(Bytes::from(page(systems)));
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    response.headers_mut().extend(headers.map(|(name, value)| (name, HeaderValue::from_static(value))));
    Some(response)
}

fn page(systems: &[&str]) -> String {
    let row = |name: &&str| {
        let app = if *name == "chat" { r#", <a href="/chat/app">web client</a>"# } else { "" };
        format!(
            r#"<li>{name}: <a href="/{name}/openapi.json">API description</a>, <a href="/{name}/health">health</a>{app}</li>"#
        )
    };
    let rows: String = systems.iter().map(row).collect();
    format!(
        r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Cairn on this machine</title>
<style>:root {{ color-scheme: light dark }} body {{ font: 1rem/1.6 system-ui; margin: 2rem auto; max-width: 40rem; padding: 0 1rem }}</style>
<h1>Cairn on this machine</h1>
<p>These systems answer here. Most requests need a token: <code>cargo local</code> has printed the file of one for each
kind of caller.</p>
<ul>{rows}</ul>
</html>
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_links_to_each_system_and_to_the_client_of_chat() {
        let get = |path: &str| response(&Request::get(path).body(Bytes::new()).unwrap(), &["parks", "chat"]);
        let page = get("/").unwrap();
        let html = std::str::from_utf8(page.body()).unwrap();
        let links: Vec<&str> = html.split("href=\"").skip(1).filter_map(|text| text.split('"').next()).collect();
        assert_eq!(links, ["/parks/openapi.json", "/parks/health", "/chat/openapi.json", "/chat/health", "/chat/app"]);
        assert!(get("/parks").is_none() && get("/index.html").is_none());
    }
}
