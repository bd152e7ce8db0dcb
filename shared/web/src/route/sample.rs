//! The sample of a route, from which its sample event is generated.

/// A sample request of a route: the source of its sample event and of the response to it on sample data.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    pub(crate) target: Option<&'static str>,
    pub(crate) body: Option<&'static str>,
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) status: Option<u16>,
}

impl Sample {
    /// Creates a sample of a path with an optional query string: `/zoo/animals/cat/1?view=full`.
    pub const fn new(target: &'static str) -> Self {
        Self { target: Some(target), body: None, headers: &[], status: None }
    }

    /// Creates a sample of the template itself, with [`crate::operation::SAMPLE_ID`] for each parameter.
    pub(crate) const fn own_path() -> Self {
        Self { target: None, body: None, headers: &[], status: None }
    }

    /// Sets the body as JSON text.
    pub const fn body(mut self, json: &'static str) -> Self {
        self.body = Some(json);
        self
    }

    /// Sets header fields besides the content type and the token, with names in lower case.
    pub const fn headers(mut self, headers: &'static [(&'static str, &'static str)]) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the expected status if it is not the first declared one.
    pub const fn expects(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }
}
