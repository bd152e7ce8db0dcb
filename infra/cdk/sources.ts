// The event sources of a system: streams, objects, queues, schedules, deployments, state machines, sockets.
import { Aws, CfnResource } from 'aws-cdk-lib';
import { CfnRule } from 'aws-cdk-lib/aws-events';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  CfnEventInvokeConfig,
  CfnEventSourceMapping,
  type CfnEventSourceMappingProps,
  type CfnFunction,
  CfnPermission,
  type CfnPermissionProps,
} from 'aws-cdk-lib/aws-lambda';
import type { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { CfnStateMachine } from 'aws-cdk-lib/aws-stepfunctions';

import { calls, type Operation, type Queue, type System } from './declaration.ts';
import { id } from './names.ts';
import { allow, roleOf } from './policy.ts';
import type { Streamed, SystemStack } from './system.ts';

// The maximum age of a stream record.
export const GIVEN_UP_SECONDS = 20 * 3600;

// The permissions that an event source needs in the role of its function: to read, and to store discarded records.
export function statements(stack: SystemStack, system: System, operation: Operation): PolicyStatement[] {
  const received = system.sources.find((source) => source.kind === 'queue' && source.handler === operation.name);
  if (received?.kind === 'queue') {
    const receive = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];
    return [allow(id(`Receive-${received.queue}`, ''), receive, stack.queue(received.queue).attrArn)];
  }
  const own = system.sources.find(
    (source) => ['streams', 'records', 'objects'].includes(source.kind) && calls(source, operation.name),
  );
  if (own === undefined) {
    return [];
  }
  const { names } = stack;
  const read = own.kind === 'streams' ? stack.mirrored : own.kind === 'records' ? stack.streamed : [];
  const streams = read.flatMap(({ name, table }) => [
    allow(
      id(`Stream-${name}`, ''),
      ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
      table.attrStreamArn,
    ),
    allow(id(`Streams-${name}`, ''), ['dynamodb:ListStreams'], `${names.tableArn(name)}/stream/*`),
  ]);
  const failures = names.bucketArn(names.failures);
  return [
    ...streams,
    allow('GivenUp', ['s3:PutObject'], `${failures}/*`),
    allow('GivenUpBucket', ['s3:ListBucket'], failures),
  ];
}

// The event sources of a function and their permissions to invoke it.
export function sources(stack: SystemStack, system: System, operation: Operation, lambda: CfnFunction): void {
  for (const source of system.sources.filter((source) => calls(source, operation.name))) {
    switch (source.kind) {
      case 'streams':
        for (const read of stack.mirrored) {
          const filterCriteria = filters(read, source.filtered);
          stream(stack, operation, lambda, read, { batchSize: 1000, parallelizationFactor: 2, filterCriteria });
        }
        break;
      case 'records':
        for (const read of stack.streamed) {
          const filterCriteria = filters(read, source.filtered);
          stream(stack, operation, lambda, read, { batchSize: source.batch, parallelizationFactor: 1, filterCriteria });
        }
        break;
      case 'objects':
        objects(stack, operation, lambda, stack.bucket(source.bucket), source);
        break;
      case 'queue':
        messages(stack, operation, lambda, source);
        break;
      case 'schedule':
        schedule(stack, operation, lambda, source.everyMinutes);
        break;
      case 'deployment':
        deployment(stack, operation, lambda);
        break;
      case 'stateMachine':
        stateMachine(stack, lambda, source);
        break;
      case 'socket':
        stack.socket.add(operation, lambda);
        break;
    }
  }
}

// The mapping of a table's stream, with the settings that all readers share.
function stream(
  stack: SystemStack,
  operation: Operation,
  lambda: CfnFunction,
  { name, table }: Streamed,
  settings: Partial<CfnEventSourceMappingProps>,
): void {
  new CfnEventSourceMapping(stack, mappingId(operation.name, name), {
    functionName: lambda.ref,
    eventSourceArn: table.attrStreamArn,
    startingPosition: 'TRIM_HORIZON',
    functionResponseTypes: ['ReportBatchItemFailures'],
    bisectBatchOnFunctionError: true,
    // Limited by age, below the 24 h retention of a stream, and not by attempts.
    maximumRecordAgeInSeconds: GIVEN_UP_SECONDS,
    destinationConfig: putAside(stack),
    // The alarm on a mapping that does not poll watches `PolledEventCount`.
    metricsConfig: { metrics: ['EventCount'] },
    ...settings,
  });
}

// The filter of the keys that may have documents, for a reader that has one.
function filters({ documents }: Streamed, filtered: boolean) {
  return filtered ? { filters: documents.map((pattern) => ({ pattern })) } : undefined;
}

// The resource that maps a table's stream to a function.
export function mappingId(operation: string, table: string): string {
  return id(operation, '') + id(table, 'Source');
}

// The destination of discarded events.
function putAside(stack: SystemStack) {
  return { onFailure: { destination: stack.failures.attrArn } };
}

// The bucket configures its notifications, and S3 checks the permission to invoke the function then. S3 does not repeat
// an event that Lambda has discarded, so it is stored, too. A schedule repeats by itself.
function objects(
  stack: SystemStack,
  operation: Operation,
  lambda: CfnFunction,
  bucket: CfnBucket,
  source: { bucket: string; prefix: string },
): void {
  const heard = (bucket.notificationConfiguration ?? {}) as CfnBucket.NotificationConfigurationProperty;
  const already = (heard.lambdaConfigurations ?? []) as CfnBucket.LambdaConfigurationProperty[];
  bucket.notificationConfiguration = {
    lambdaConfigurations: [
      ...already,
      {
        event: 's3:ObjectCreated:*',
        filter: { s3Key: { rules: [{ name: 'prefix', value: source.prefix }] } },
        function: lambda.attrArn,
      },
    ],
  };
  // A bucket's ARN does not name its account.
  const account = { sourceArn: stack.names.bucketArn(source.bucket), sourceAccount: Aws.ACCOUNT_ID };
  bucket.addResourceDependency(permission(stack, operation, lambda, 's3.amazonaws.com', account));
  new CfnEventInvokeConfig(stack, id(operation.name, 'Invocations'), {
    functionName: lambda.ref,
    qualifier: '$LATEST',
    maximumRetryAttempts: 2,
    maximumEventAgeInSeconds: 6 * 3600,
    destinationConfig: putAside(stack),
  });
}

// A batch has one message, so that a failure concerns no other message.
function messages(stack: SystemStack, operation: Operation, lambda: CfnFunction, { queue, concurrency }: Queue): void {
  new CfnEventSourceMapping(stack, id(operation.name, '') + id(queue, 'Source'), {
    functionName: lambda.ref,
    eventSourceArn: stack.queue(queue).attrArn,
    batchSize: 1,
    scalingConfig: { maximumConcurrency: concurrency },
  });
}

function schedule(stack: SystemStack, operation: Operation, lambda: CfnFunction, minutes: number): void {
  const rule = new CfnRule(stack, id(operation.name, 'Schedule'), {
    name: stack.names.operation(operation.name),
    scheduleExpression: minutes === 1 ? 'rate(1 minute)' : `rate(${minutes} minutes)`,
    targets: [{ id: operation.name, arn: lambda.attrArn }],
    tags: stack.tagList,
  });
  // EventBridge does not invoke a function whose permission names an account.
  permission(stack, operation, lambda, 'events.amazonaws.com', { sourceArn: rule.attrArn });
}

// A custom resource that the function creates after everything that it uses. Only CloudFormation invokes the function, with
// the permissions of the deployment.
//
// The parameters that the functions check are properties of it, so an update that changes one calls the function, which
// refuses what is not valid.
function deployment(stack: SystemStack, operation: Operation, lambda: CfnFunction): void {
  const { parameters } = stack;
  const limits = parameters.further['CAIRN_LIMITS'];
  const made = new CfnResource(stack, id(operation.name, 'Resource'), {
    type: `Custom::${id(operation.name, '')}`,
    properties: {
      ServiceToken: lambda.attrArn,
      ServiceTimeout: 3600,
      Issuers: parameters.text('Issuers'),
      ...(limits === undefined ? {} : { Limits: limits }),
    },
  });
  for (const before of [...stack.tables, ...stack.buckets.values(), stack.logs]) {
    made.addResourceDependency(before);
  }
}

// A state machine whose executions an operator starts. Its role may only invoke the function.
function stateMachine(stack: SystemStack, lambda: CfnFunction, { name, definition }: { name: string; definition: object }): void {
  const invoke = allow('Invoke', ['lambda:InvokeFunction'], lambda.attrArn);
  const role = roleOf(stack, 'states.amazonaws.com', id(name, 'StateMachineRole'), [invoke]);
  new CfnStateMachine(stack, id(name, 'StateMachine'), {
    stateMachineName: stack.names.operation(name),
    roleArn: role.attrArn,
    definition,
    definitionSubstitutions: { Function: lambda.attrArn },
    tags: stack.tagList,
  });
}

function permission(
  stack: SystemStack,
  operation: Operation,
  lambda: CfnFunction,
  principal: string,
  source: Pick<CfnPermissionProps, 'sourceArn' | 'sourceAccount'>,
): CfnPermission {
  return new CfnPermission(stack, id(operation.name, 'Permission'), {
    functionName: lambda.ref,
    action: 'lambda:InvokeFunction',
    principal,
    ...source,
  });
}
