//! What all systems share: the search domain, unless one exists, and the dashboard. `infra/shared.yaml`.

use web::metrics::NAMESPACE;

use super::names;
use super::node::{Node, attribute, reference, sub, to_yaml};
use super::parameters::{equals, log_retention, number, prefix, text};

pub fn template() -> String {
    to_yaml("what the systems share", &node())
}

/// The same, as a value.
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

/// A domain that takes signed requests over TLS only, and only such as name their index in the path: the policies of
/// the functions are about paths.
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
        // Else another version would be another domain, of the same name.
        "UpdatePolicy" => map! { "EnableVersionUpgrade" => true },
        // The domain asks whether it may write its log when it is told to.
        "DependsOn" => list!["SearchLogsPolicy"],
        "Properties" => properties,
    }
}

/// For the stacks of the systems, which look here at each deployment. What a stack exports could not be changed while
/// another imports it, and so no system could move to another domain.
fn kept(name: &str, value: Node) -> Node {
    let properties = map! {
        "Name" => sub(names::kept(name)),
        "Type" => "String",
        "Value" => value,
        "Tags" => names::tags("shared"),
    };
    map! { "Type" => "AWS::SSM::Parameter", "Properties" => properties }
}

/// What the domain itself warns of and fails in.
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

/// Every system is found by the metrics that it sends: nothing is listed here.
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
        // Of requests, if routes have no metrics of their own; and of all else.
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

/// What whoever deploys may choose of it.
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
