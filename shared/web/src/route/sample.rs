//! The sample of a route, from which its sample event is made.

/// A request that shows the route at work: its sample event, and what it is answered on sample data.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    pub(crate) target: Option<&'static str>,
    pub(crate) body: Option<&'static str>,
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) status: Option<u16>,
}

impl Sample {
    /// The path, with a query string where there is one: `/zoo/animals/cat/1?view=full`.
    pub const fn new(target: &'static str) -> Self {
        Self { target: Some(target), body: None, headers: &[], status: None }
    }

    /// A request for the template as it stands, which has no parameters.
    pub(crate) const fn own_path() -> Self {
        Self { target: None, body: None, headers: &[], status: None }
    }

    /// The body as JSON text.
    pub const fn body(mut self, json: &'static str) -> Self {
        self.body = Some(json);
        self
    }

    /// Header fields beside the content type and the token, names in small letters.
    pub const fn headers(mut self, headers: &'static [(&'static str, &'static str)]) -> Self {
        self.headers = headers;
        self
    }

    /// The status that it is answered with, where it is not the first declared one.
    pub const fn expects(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }
}
