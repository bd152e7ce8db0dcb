//! Secrets: how they are generated, and who reads them.

use std::collections::BTreeSet;

use serde_json::json;

use super::{members, of_type, own_statements, systems, text, texts};

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
        for (role, resource) in members(&template["Resources"]).filter(|(_, it)| it["Type"] == "AWS::IAM::Role") {
            for statement in own_statements(resource) {
                let actions = texts(&statement["Action"]);
                if actions.iter().any(|action| action.starts_with("secretsmanager:")) {
                    assert_eq!(actions, ["secretsmanager:GetSecretValue"], "{system}: {role}");
                    let secret = text(&statement["Resource"]["Fn::GetAtt"][0]);
                    assert_eq!(template["Resources"][&secret]["Type"], "AWS::SecretsManager::Secret", "{role}");
                    readers.insert(role.strip_suffix("Role").unwrap_or(role).to_owned());
                }
            }
        }
        let reads = |patterns: &[&table::AccessPattern]| {
            patterns.iter().flat_map(|pattern| pattern.calls).any(|call| matches!(call, table::Call::Secret { .. }))
        };
        let verifies = app.own_issuer().is_some();
        let routes = app.routes().filter(|route| verifies || reads(route.declared_patterns())).map(web::Route::name);
        let handlers = app.event_handlers().iter().filter(|own| reads(own.declared_patterns())).map(|own| own.name());
        let capital = |name: &str| {
            let (first, rest) = name.split_at(1);
            format!("{}{rest}", first.to_uppercase())
        };
        assert_eq!(readers, routes.chain(handlers).map(capital).collect(), "{system}");
    }
}
