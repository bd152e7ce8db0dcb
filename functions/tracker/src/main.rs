//! The system on AWS Lambda: `_HANDLER` names the one operation or event handler to serve; unset or `bootstrap`
//! serves all of them.

use std::error::Error;
use std::process::ExitCode;

use table::{Clock, Config, Engines};

#[tokio::main]
async fn main() -> ExitCode {
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error, "tracker cannot start");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn Error>> {
    web::log::to_standard_output();
    let app = tracker::app(Engines::new(Config::from_env()?, Clock::system()));
    Ok(web::lambda::run(app).await?)
}
