//! The least that a function behind API Gateway can be: the baseline of the bench `function`.

use lambda_http::{Error, Request, run, service_fn};

#[tokio::main]
async fn main() -> Result<(), Error> {
    run(service_fn(|_: Request| async { Ok::<_, Error>("hello") })).await
}
