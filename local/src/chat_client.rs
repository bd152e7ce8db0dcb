//! A small web client of chat at `/chat/app`, for trying chat in a browser. Only the local gateway serves it.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};

/// The files by path, with their types.
const FILES: [(&str, &str, &str); 4] = [
    ("/chat/app", "text/html; charset=utf-8", include_str!("chat_client/index.html")),
    ("/chat/app/chat.css", "text/css; charset=utf-8", include_str!("chat_client/chat.css")),
    ("/chat/app/chat.js", "text/javascript; charset=utf-8", include_str!("chat_client/chat.js")),
    ("/chat/app/live.js", "text/javascript; charset=utf-8", include_str!("chat_client/live.js")),
];

/// Scripts and styles come from the gateway only, and pictures are not loaded. So text that somebody wrote runs nothing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' ws: wss:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// Returns the response to a request for a file of the client. None for every other request.
pub fn response(request: &Request<Bytes>) -> Option<Response<Bytes>> {
    let path = request.uri().path();
    let path = path.strip_suffix('/').unwrap_or(path);
    let (_, content_type, text) = FILES.into_iter().find(|(name, _, _)| *name == path)?;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let mut response = Response::new(Bytes::from_static(text.as_bytes()));
    *response.status_mut() = StatusCode::OK;
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // The files belong to the program that is running now.
        (header::CACHE_CONTROL, "no-store"),
    ];
    response.headers_mut().extend(headers.map(|(name, value)| (name, HeaderValue::from_static(value))));
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(path: &str) -> Option<Response<Bytes>> {
        response(&Request::get(path).body(Bytes::new()).unwrap())
    }

    #[test]
    fn page_names_only_files_that_exist() {
        let page = get("/chat/app/").unwrap();
        let html = std::str::from_utf8(page.body()).unwrap();
        let names = html.split(['"', '\'']).filter(|text| text.starts_with("/chat/app/"));
        let names: Vec<&str> = names.collect();
        assert_eq!(names.len(), 2);
        for name in names {
            assert!(get(name).is_some(), "{name}");
        }
    }

    #[test]
    fn other_paths_and_methods_are_left_to_the_system() {
        for path in ["/chat/me", "/chat/app/other.js", "/chat/application", "/"] {
            assert!(get(path).is_none(), "{path}");
        }
        assert!(response(&Request::post("/chat/app").body(Bytes::new()).unwrap()).is_none());
    }
}
