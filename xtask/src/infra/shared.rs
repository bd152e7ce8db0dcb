//! The shared stack: the search domain, unless one exists, and the dashboard. `infra/shared.yaml`.

use web::metrics::NAMESPACE;

use super::names;
use super::node::{Node, attribute, reference, sub, to_yaml};
use super::parameters::{equals, log_retention, number, prefix, text};

pub fn template() -> String {
    to_yaml("what the systems share", &node())
}

/// Returns the template as a value.
pub fn node() -> Node {
    let conditions = map! { "MakesDomain" => equals("ExistingSearchEndpoint", "") };
    let either = |own: Node, existing: &str| map! { "Fn::If" => list!["MakesDomain", own, reference(existing)] };
    let endpoint = either(sub("https://${Domain.DomainEndpoint}"), "ExistingSearchEndpoint");
    let arn = either(attribute("Domain", "Arn"), "ExistingSearchDomainArn");
    let outputs = map! {
        "SearchEndpoint" => map! { "Description" => "The URL of OpenSearch.", "Value" => endpoint.clone() },
        "SearchDomainArn" => map! { "Description" => "The ARN of the search domain.", "Value" => arn.clone() },
    };
    map! {
        "AWSTemplateFormatVersion" => "2010-09-09",
        "Description" => "Cairn: what its systems share, search and a dashboard.",
        "Parameters" => parameters(),
        "Conditions" => conditions,
        "Resources" => map! {
            "Domain" => domain(),
            "SearchLogs" => search_logs(),
            "SearchLogsPolicy" => search_logs_policy(),
            "Dashboard" => dashboard(),
            "SearchEndpointParameter" => kept("endpoint", endpoint),
            "SearchDomainArnParameter" => kept("arn", arn),
        },
        "Outputs" => outputs,
    }
}

/// Returns a domain that accepts only signed requests over TLS with the index in the path, since the functions'
/// policies are about paths.
fn domain() -> Node {
    let properties = map! {
        "DomainName" => sub("${Prefix}search"),
        "EngineVersion" => "OpenSearch_2.19",
        "ClusterConfig" => map! {
            "InstanceType" => reference("SearchInstanceType"),
            "InstanceCount" => reference("SearchInstanceCount"),
        },
        "EBSOptions" => map! { "EBSEnabled" => true, "VolumeType" => "gp3", "VolumeSize" => reference("SearchVolumeGiB") },
        "EncryptionAtRestOptions" => map! { "Enabled" => true },
        "NodeToNodeEncryptionOptions" => map! { "Enabled" => true },
        "DomainEndpointOptions" => map! { "EnforceHTTPS" => true, "TLSSecurityPolicy" => "Policy-Min-TLS-1-2-PFS-2023-10" },
        "LogPublishingOptions" => map! {
            "ES_APPLICATION_LOGS" => map! {
                "CloudWatchLogsLogGroupArn" => attribute("SearchLogs", "Arn"),
                "Enabled" => true,
            },
        },
        "AdvancedOptions" => map! { "rest.action.multi.allow_explicit_index" => "false" },
        "Tags" => names::tag_list("shared"),
    };
    map! {
        "Type" => "AWS::OpenSearchService::Domain",
        "Condition" => "MakesDomain",
        "DeletionPolicy" => "RetainExceptOnCreate",
        "UpdateReplacePolicy" => "Retain",
        // Without it another version would replace the domain by one with the same name.
        "UpdatePolicy" => map! { "EnableVersionUpgrade" => true },
        // The domain checks its permission when its log is enabled.
        "DependsOn" => list!["SearchLogsPolicy"],
        "Properties" => properties,
    }
}

/// Returns a parameter in Parameter Store, which the systems' stacks read at each deployment. An export of a stack
/// could not change while another stack imports it, so no system could move to another domain.
fn kept(name: &str, value: Node) -> Node {
    let properties = map! {
        "Name" => sub(names::kept(name)),
        "Type" => "String",
        "Value" => value,
        "Tags" => names::tags("shared"),
    };
    map! { "Type" => "AWS::SSM::Parameter", "Properties" => properties }
}

/// Returns the log group of the domain's warnings and errors.
fn search_logs() -> Node {
    let properties = map! {
        "LogGroupName" => sub(names::log_group("search")),
        "RetentionInDays" => reference("LogRetentionDays"),
        "Tags" => names::tag_list("shared"),
    };
    map! { "Type" => "AWS::Logs::LogGroup", "Condition" => "MakesDomain", "Properties" => properties }
}

fn search_logs_policy() -> Node {
    let document = serde_json::json!({
        "Version": super::policy::VERSION,
        "Statement": [{
            "Effect": "Allow",
            "Principal": { "Service": "es.amazonaws.com" },
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Resource": format!("{}:*", names::log_group_arn("search")),
            "Condition": { "StringEquals": { "aws:SourceAccount": "${AWS::AccountId}" } },
        }],
    });
    let properties = map! {
        "PolicyName" => sub("${Prefix}search-logs"),
        "PolicyDocument" => sub(document.to_string()),
    };
    map! { "Type" => "AWS::Logs::ResourcePolicy", "Condition" => "MakesDomain", "Properties" => properties }
}

/// Returns the dashboard, which finds every system by its metrics.
fn dashboard() -> Node {
    map! {
        "Type" => "AWS::CloudWatch::Dashboard",
        "Properties" => map! { "DashboardName" => sub("${Prefix}cairn"), "DashboardBody" => sub(body()) },
    }
}

fn body() -> String {
    let widgets = [
        ("Requests that failed", "ServerErrors", "Sum"),
        ("Events that were not handled", "Failures", "Sum"),
        ("Latency, the slowest of a hundred (ms)", "Latency", "p99"),
        ("Search behind the tables (ms)", "Lag", "Maximum"),
        ("Records quarantined", "Quarantined", "Sum"),
        ("Records left for the next delivery", "Retried", "Sum"),
        ("Read units", "ReadUnits", "Sum"),
        ("Write units", "WriteUnits", "Sum"),
        ("Requests refused", "ClientErrors", "Sum"),
    ];
    let widgets = widgets.iter().enumerate().map(|(number, (title, metric, statistic))| {
        // Metrics of requests without route metrics, and of everything else.
        let found = ["System", "Operation,System"].map(|of| {
            let found = format!("SEARCH('{{{NAMESPACE},{of}}} MetricName=\"{metric}\"', '{statistic}', 300)");
            [serde_json::json!({ "expression": found })]
        });
        serde_json::json!({
            "type": "metric",
            "x": number % 2 * 12,
            "y": number / 2 * 6,
            "width": 12,
            "height": 6,
            "properties": {
                "title": title,
                "region": "${AWS::Region}",
                "metrics": found,
                "view": "timeSeries",
            },
        })
    });
    serde_json::json!({ "widgets": widgets.collect::<Vec<_>>() }).to_string()
}

/// Returns the parameters of the stack.
pub fn parameters() -> Node {
    map! {
        "Prefix" => prefix(),
        "LogRetentionDays" => log_retention(),
        "ExistingSearchEndpoint" => text("The URL of an OpenSearch that exists; empty makes a domain.", "", "^(https?://[^/]+)?$"),
        "ExistingSearchDomainArn" => text("The ARN of that domain.", "", "^(arn:[a-z-]+:es:.+)?$"),
        "SearchInstanceType" => text("Of the domain's data nodes.", "t3.small.search", "^[a-z0-9-]+\\.[a-z0-9]+\\.search$"),
        "SearchInstanceCount" => number("How many data nodes the domain has.", 1),
        "SearchVolumeGiB" => number("The disk of each data node, in GiB.", 10),
    }
}
