//! The system on AWS Lambda: `_HANDLER` names the one operation or event handler to serve.

#[tokio::main]
async fn main() -> std::process::ExitCode {
    web::lambda::serve(shelf::app).await
}
