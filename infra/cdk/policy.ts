// The policy of a function's role: its declared calls, its log stream and its traces, and nothing else.
import { CfnRole, PolicyDocument, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';

import type { Grant, Operation } from './declaration.ts';
import { id, regional, sid } from './names.ts';
import type { SystemStack } from './system.ts';

// The role of a function.
export function role(stack: SystemStack, operation: Operation, more: PolicyStatement[]): CfnRole {
  const statements = [...always(stack), ...declared(stack, operation.grants), ...more];
  return roleOf(stack, 'lambda.amazonaws.com', id(operation.name, 'Role'), statements);
}

// A role that a service of AWS assumes.
export function roleOf(stack: SystemStack, service: string, name: string, statements: PolicyStatement[]): CfnRole {
  const trusted = new PolicyStatement({ principals: [new ServicePrincipal(service)], actions: ['sts:AssumeRole'] });
  return new CfnRole(stack, name, {
    assumeRolePolicyDocument: new PolicyDocument({ statements: [trusted] }),
    policies: [{ policyName: 'declared', policyDocument: new PolicyDocument({ statements }) }],
    tags: stack.tagList,
  });
}

export function allow(sid: string, actions: string[], resource: string, conditions?: Record<string, unknown>): PolicyStatement {
  return new PolicyStatement({ sid, actions, resources: [resource], conditions });
}

// No function may create a log group, since such a group has no retention.
function always(stack: SystemStack): PolicyStatement[] {
  return [
    allow('Logs', ['logs:CreateLogStream', 'logs:PutLogEvents'], `${stack.names.logGroupArn}:*`),
    allow('Traces', ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], '*'),
  ];
}

// One statement per resource, with all actions that are allowed on it.
function declared(stack: SystemStack, grants: Grant[]): PolicyStatement[] {
  const byResource = new Map<string, Grant[]>();
  for (const grant of grants) {
    const { action, ...resource } = grant;
    const key = JSON.stringify(resource);
    byResource.set(key, [...(byResource.get(key) ?? []), grant]);
  }
  return [...byResource.values()].map((same) => statement(stack, same));
}

function statement(stack: SystemStack, grants: Grant[]): PolicyStatement {
  const actions = grants.map((grant) => grant.action);
  const first: Partial<Grant> = grants[0] ?? {};
  const { table, index, attributes, bucket, objects, names, queue, eventSource, connections, secret, searchPath } = first;
  if (table !== undefined && attributes !== undefined) {
    return allow(sid('Stamp', table), actions, stack.names.tableArn(table), {
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': attributes },
      // Otherwise a list could reveal names outside the prefix.
      StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] },
    });
  }
  if (table !== undefined && index !== undefined) {
    return allow(sid('Index', `${table} ${index}`), actions, `${stack.names.tableArn(table)}/index/${index}`);
  }
  if (table !== undefined) {
    return allow(sid('Table', table), actions, stack.names.tableArn(table));
  }
  if (bucket !== undefined && objects !== undefined) {
    return allow(sid('Objects', `${bucket} ${objects}`), actions, `${stack.names.bucketArn(bucket)}/${objects}*`);
  }
  if (bucket !== undefined && names !== undefined) {
    const prefix = { StringLike: { 's3:prefix': `${names}*` } };
    return allow(sid('Names', `${bucket} ${names}`), actions, stack.names.bucketArn(bucket), prefix);
  }
  if (queue !== undefined) {
    return allow(sid('Queue', queue), actions, stack.names.queueArn(queue));
  }
  if (eventSource !== undefined) {
    return allow('Events', actions, stack.names.eventBusArn(stack.parameters.eventBus), {
      'ForAllValues:StringEquals': { 'events:source': [stack.names.eventSource(eventSource)] },
      // A request without a source would satisfy the condition above.
      Null: { 'events:source': 'false' },
    });
  }
  if (connections !== undefined) {
    const { api, stage } = stack.socket;
    const called = `${regional('execute-api')}:${api.ref}/${stage}/${connections}/@connections/*`;
    return allow(sid('Connections', connections.toLowerCase()), actions, called);
  }
  if (secret !== undefined) {
    return allow(sid('Secret', secret), actions, stack.secret(secret).attrId);
  }
  if (searchPath !== undefined) {
    // Indexes and aliases in a path start with the prefix.
    const { prefix } = stack.names;
    const path = `${prefix}${searchPath.replace('/_alias/', `/_alias/${prefix}`)}`;
    return allow(sid('Search', searchPath), actions, `${stack.parameters.text('SearchDomainArn')}/${path}`);
  }
  throw new Error(`declaration.json has a grant of a kind that policy.ts does not know: ${JSON.stringify(grants[0])}`);
}
