//! The system on AWS Lambda: `_HANDLER` names the one operation or event handler to serve; unset or `bootstrap`
//! serves all of them.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    web::lambda::serve(chat::app).await
}
