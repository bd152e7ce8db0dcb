//! Stacks that are deployed each by itself, and how they find each other.

use std::collections::BTreeSet;

use serde_json::json;
use xtask::infra::shared;

use super::super::source;
use super::sockets::socket_routes;
use super::{of_type, systems, text};

/// `sam deploy --config-env parks`, as the docs have it.
#[test]
fn each_stack_has_a_section_in_samconfig() {
    let config = source::read("samconfig.toml");
    let names = systems().into_iter().map(|(system, _)| system).chain(["shared"]);
    for name in names {
        let section = format!(
            "\n[{name}.deploy.parameters]\ntemplate_file = \"infra/{name}.yaml\"\nstack_name = \"cairn-{name}\"\n"
        );
        assert!(config.contains(&section), "{section}");
    }
}

/// An update calls the function of the custom resource only if a property of it changes. The function refuses parameters
/// that no function of the system could start with, and the update is rolled back.
#[test]
fn update_of_a_parameter_that_functions_check_calls_one_of_them() {
    for (system, template) in systems() {
        let checked = ["Issuers", "Limits"].into_iter().filter(|name| template["Parameters"].get(name).is_some());
        let checked: BTreeSet<&str> = checked.collect();
        let (name, custom) = of_type(&template, "Custom::CreateIndex").next().unwrap();
        for parameter in checked {
            assert_eq!(custom[parameter], json!({ "Ref": parameter }), "{system}: {name}");
        }
    }
}

/// A system is deployed without being told where search is: it looks where the shared stack of its prefix keeps that.
#[test]
fn systems_find_search_where_the_shared_stack_keeps_it() {
    let shared = serde_json::to_value(shared::node()).unwrap();
    let prefix = text(&shared["Parameters"]["Prefix"]["Default"]);
    let kept: BTreeSet<String> = of_type(&shared, "AWS::SSM::Parameter")
        .map(|(_, parameter)| text(&parameter["Name"]).replace("${Prefix}", &prefix))
        .collect();
    for (parameter, output) in
        [("SearchEndpointParameter", "SearchEndpoint"), ("SearchDomainArnParameter", "SearchDomainArn")]
    {
        let value = &shared["Resources"][parameter]["Properties"]["Value"];
        assert_eq!(value, &shared["Outputs"][output]["Value"], "{parameter}");
    }
    for (system, template) in systems() {
        assert_eq!(template["Parameters"]["Prefix"]["Default"], json!(prefix), "{system}");
        let looked_for = ["SearchEndpoint", "SearchDomainArn"].map(|name| &template["Parameters"][name]);
        for parameter in looked_for {
            assert_eq!(parameter["Type"], "AWS::SSM::Parameter::Value<String>", "{system}");
        }
        let looked_for: BTreeSet<String> = looked_for.iter().map(|parameter| text(&parameter["Default"])).collect();
        assert_eq!(looked_for, kept, "{system}");
    }
}

/// What computes has a processor, and what asks no engine has the least: `MemoryClass` multiplies all.
#[test]
fn a_function_has_the_memory_of_its_kind() {
    for (system, template) in systems() {
        let routes = super::routes(&template).map(|(_, _, function)| text(&function));
        let routes: BTreeSet<String> = routes.chain(socket_routes(&template).map(|(function, _)| function)).collect();
        for (name, function) in of_type(&template, "AWS::Serverless::Function") {
            let expected = match text(&function["Handler"]).as_str() {
                "getApiDescription" => 128,
                "getHealth" => 256,
                "createIndex" | "auditIndex" => 1769,
                // It holds the index of a file's rows beside that of the last file.
                "runJob" if system == "archive" => 2048,
                // It holds the pixels of a picture.
                "storePicture" => 1536,
                "mirror" | "live" | "checkUpload" | "inspectFile" | "startImport" | "runJob" | "runJobs" => 1024,
                handler => {
                    let waits = handler.starts_with("sweep")
                        || ["applyRetention", "fanOutRest", "publishEvents", "logChanges"].contains(&handler);
                    assert!(routes.contains(name) || waits, "{system}: {handler}");
                    512
                }
            };
            let declared = json!(["Memory", { "Ref": "MemoryClass" }, format!("Mb{expected}")]);
            assert_eq!(function["MemorySize"]["Fn::FindInMap"], declared, "{system}: {name}");
            for (class, times) in [("small", 1), ("medium", 2), ("large", 4)] {
                let size = &template["Mappings"]["Memory"][class][format!("Mb{expected}")];
                assert_eq!(size, expected * times, "{system}: {name}");
            }
        }
    }
}
