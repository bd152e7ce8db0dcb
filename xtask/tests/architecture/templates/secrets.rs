//! Secrets: how they are generated, and who reads them.

use std::collections::BTreeSet;

use serde_json::json;
use table::Call;
use xtask::infra::function::resource;

use super::{declared_calls, of_type, statements_on, systems, text, texts};

#[test]
fn secret_is_generated_and_kept_and_in_no_environment() {
    let mut secrets = 0;
    for (declared, (system, template)) in xtask::systems::all().iter().zip(systems()) {
        let app = &declared.app;
        for (name, secret) in of_type(&template, "AWS::SecretsManager::Secret") {
            secrets += 1;
            let generated = json!({ "PasswordLength": 64, "ExcludePunctuation": true });
            assert_eq!(secret["GenerateSecretString"], generated, "{system}: {name}");
            let resource = &template["Resources"][name];
            let kept = (&resource["DeletionPolicy"], &resource["UpdateReplacePolicy"]);
            assert_eq!(kept, (&json!("RetainExceptOnCreate"), &json!("Retain")), "{system}: {name}");
            let environment = template["Globals"]["Function"]["Environment"].to_string();
            assert!(!environment.contains(name) && !environment.contains("resolve:secretsmanager"), "{system}: {name}");
        }
        let count = of_type(&template, "AWS::SecretsManager::Secret").count();
        assert_eq!(count, app.system().secrets.len(), "{system}");
    }
    assert!(secrets > 0);
}

/// The policy names the secret itself, since the name in its ARN ends in random characters.
#[test]
fn secret_is_read_as_declared_and_changed_by_no_function() {
    for (declared, (system, template)) in xtask::systems::all().iter().zip(systems()) {
        let app = &declared.app;
        let mut readers = BTreeSet::new();
        for (function, statement) in statements_on(&template, "secretsmanager:") {
            assert_eq!(texts(&statement["Action"]), ["secretsmanager:GetSecretValue"], "{system}: {function}");
            let secret = text(&statement["Resource"]["Fn::GetAtt"][0]);
            assert_eq!(template["Resources"][&secret]["Type"], "AWS::SecretsManager::Secret", "{function}");
            readers.insert(function);
        }
        let reads = declared_calls(app).filter(|(_, call)| matches!(call, Call::Secret { .. }));
        // A system that issues tokens verifies them in each route.
        let verifying = app.routes().filter(|_| app.own_issuer().is_some()).map(|route| resource(route.name(), ""));
        assert_eq!(readers, reads.map(|(function, _)| function).chain(verifying).collect(), "{system}");
    }
}
