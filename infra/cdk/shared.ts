// The shared stack, like infra/shared.yaml: the search domain, unless one exists, and the dashboard.
import { Aws, CfnCondition, CfnOutput, Fn, Stack, type StackProps, Token } from 'aws-cdk-lib';
import { CfnDashboard } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnDomain } from 'aws-cdk-lib/aws-opensearchservice';
import { CfnLogGroup, CfnResourcePolicy } from 'aws-cdk-lib/aws-logs';
import { CfnParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';

import { TAG, keptAs, regional, tagList } from './names.ts';
import { declare, logRetentionDays, number, prefix, text } from './parameters.ts';
import { kept as retained } from './storage.ts';

const choices = {
  Prefix: prefix,
  LogRetentionDays: logRetentionDays,
  ExistingSearchEndpoint: text('The URL of an OpenSearch that exists; empty makes a domain.', '', '^(https?://[^/]+)?$'),
  ExistingSearchDomainArn: text('The ARN of that domain.', '', '^(arn:[a-z-]+:es:.+)?$'),
  SearchInstanceType: text("Of the domain's data nodes.", 't3.small.search', '^[a-z0-9-]+\\.[a-z0-9]+\\.search$'),
  SearchInstanceCount: number('How many data nodes the domain has.', 1),
  SearchVolumeGiB: number('The disk of each data node, in GiB.', 10),
};

export class SharedStack extends Stack {
  constructor(scope: Construct, props: StackProps) {
    super(scope, 'shared', { ...props, description: 'Cairn: what its systems share, search and a dashboard.' });
    const chosen = declare(this, choices);
    const makesDomain = new CfnCondition(this, 'MakesDomain', {
      expression: Fn.conditionEquals(chosen.ExistingSearchEndpoint.valueAsString, ''),
    });
    // The domain's own warnings and errors. OpenSearch Service checks the permission when logging is enabled.
    const logGroupName = `/cairn/${chosen.Prefix.valueAsString}search`;
    const retentionInDays = chosen.LogRetentionDays.valueAsNumber;
    const logs = new CfnLogGroup(this, 'SearchLogs', { logGroupName, retentionInDays, tags: tagList('shared') });
    const mayLog = new CfnResourcePolicy(this, 'SearchLogsPolicy', {
      policyName: `${chosen.Prefix.valueAsString}search-logs`,
      policyDocument: JSON.stringify(writesTo(logGroupName)),
    });
    // It accepts only signed requests over TLS that name their index in the path, since the policies of the
    // functions allow paths.
    const domain = new CfnDomain(this, 'Domain', {
      domainName: `${chosen.Prefix.valueAsString}search`,
      engineVersion: 'OpenSearch_2.19',
      clusterConfig: {
        instanceType: chosen.SearchInstanceType.valueAsString,
        instanceCount: chosen.SearchInstanceCount.valueAsNumber,
      },
      ebsOptions: { ebsEnabled: true, volumeType: 'gp3', volumeSize: chosen.SearchVolumeGiB.valueAsNumber },
      encryptionAtRestOptions: { enabled: true },
      nodeToNodeEncryptionOptions: { enabled: true },
      domainEndpointOptions: { enforceHttps: true, tlsSecurityPolicy: 'Policy-Min-TLS-1-2-PFS-2023-10' },
      logPublishingOptions: { ES_APPLICATION_LOGS: { cloudWatchLogsLogGroupArn: logs.attrArn, enabled: true } },
      advancedOptions: { 'rest.action.multi.allow_explicit_index': 'false' },
      tags: tagList('shared'),
    });
    domain.addResourceDependency(mayLog);
    for (const made of [domain, logs, mayLog]) {
      made.cfnOptions.condition = makesDomain;
    }
    retained(domain);
    // Otherwise another engine version replaces the domain by one of the same name.
    domain.cfnOptions.updatePolicy = { enableVersionUpgrade: true };
    new CfnDashboard(this, 'Dashboard', {
      dashboardName: `${chosen.Prefix.valueAsString}cairn`,
      dashboardBody: JSON.stringify({ widgets: widgets() }),
    });
    const either = (own: string, existing: string) =>
      Token.asString(Fn.conditionIf(makesDomain.logicalId, own, existing));
    const endpoint = either(`https://${domain.attrDomainEndpoint}`, chosen.ExistingSearchEndpoint.valueAsString);
    const arn = either(domain.attrArn, chosen.ExistingSearchDomainArn.valueAsString);
    new CfnOutput(this, 'SearchEndpoint', { description: 'The URL of OpenSearch.', value: endpoint });
    new CfnOutput(this, 'SearchDomainArn', { description: 'The ARN of the search domain.', value: arn });
    // The stacks of the systems read it at each deployment. An exported value cannot change while another stack
    // imports it, so no system could move to another domain.
    const kept = { SearchEndpointParameter: ['endpoint', endpoint], SearchDomainArnParameter: ['arn', arn] } as const;
    for (const [id, [name, value]] of Object.entries(kept)) {
      const parameter = { name: keptAs(chosen.Prefix.valueAsString, name), type: 'String', value };
      new CfnParameter(this, id, { ...parameter, tags: { [TAG]: 'shared' } });
    }
  }
}

function writesTo(logGroup: string) {
  return {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { Service: 'es.amazonaws.com' },
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: `${regional('logs')}:log-group:${logGroup}:*`,
        Condition: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      },
    ],
  };
}

// The dashboard finds every system by its metrics.
function widgets() {
  const shown: [title: string, metric: string, statistic: string][] = [
    ['Requests that failed', 'ServerErrors', 'Sum'],
    ['Events that were not handled', 'Failures', 'Sum'],
    ['Latency, the slowest of a hundred (ms)', 'Latency', 'p99'],
    ['Search behind the tables (ms)', 'Lag', 'Maximum'],
    ['Records quarantined', 'Quarantined', 'Sum'],
    ['Records left for the next delivery', 'Retried', 'Sum'],
    ['Read units', 'ReadUnits', 'Sum'],
    ['Write units', 'WriteUnits', 'Sum'],
    ['Requests refused', 'ClientErrors', 'Sum'],
  ];
  return shown.map(([title, metric, statistic], at) => ({
    type: 'metric',
    x: (at % 2) * 12,
    y: Math.floor(at / 2) * 6,
    width: 12,
    height: 6,
    properties: {
      title,
      region: Aws.REGION,
      metrics: ['System', 'Operation,System'].map((of) => [
        { expression: `SEARCH('{Cairn,${of}} MetricName="${metric}"', '${statistic}', 300)` },
      ]),
      view: 'timeSeries',
    },
  }));
}
