// The HTTP API of a system: explicit routes, each to a function of its own.
import { CfnOutput } from 'aws-cdk-lib';
import { CfnApi, CfnIntegration, CfnRoute, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { type CfnFunction, CfnPermission } from 'aws-cdk-lib/aws-lambda';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';

import { type Operation, declaration } from './declaration.ts';
import { TAG, id, regional } from './names.ts';
import type { SystemStack } from './system.ts';

// One line of JSON a request. The path is left out: it may hold names of people.
const ACCESS_LOG = {
  'request.id': '$context.requestId',
  route: '$context.routeKey',
  status: '$context.status',
  'latency.ms': '$context.responseLatency',
  'integration.error': '$context.integrationErrorMessage',
};

export class Api {
  readonly api: CfnApi;

  constructor(private readonly stack: SystemStack) {
    const { names, parameters } = stack;
    const tags = { [TAG]: stack.names.system };
    this.api = new CfnApi(stack, 'Api', {
      name: names.deployed,
      protocolType: 'HTTP',
      corsConfiguration: {
        allowOrigins: parameters.corsOrigins,
        allowMethods: declaration.cors.methods,
        allowHeaders: declaration.cors.allowed,
        exposeHeaders: declaration.cors.exposed,
        maxAge: declaration.cors.maxAge,
      },
      tags,
    });
    const calls = logGroup(stack, 'AccessLogs', names.accessLogGroup);
    new CfnStage(stack, 'ApiStage', {
      apiId: this.api.ref,
      stageName: '$default',
      autoDeploy: true,
      defaultRouteSettings: {
        throttlingRateLimit: parameters.number('ThrottleRate'),
        throttlingBurstLimit: parameters.number('ThrottleBurst'),
      },
      accessLogSettings: { destinationArn: calls.attrArn, format: JSON.stringify(ACCESS_LOG) },
      tags,
    });
    new CfnOutput(stack, 'ApiUrl', { description: 'Where the API is.', value: this.api.attrApiEndpoint });
  }

  // What API Gateway needs to hand a route's requests to its function.
  add(operation: Operation, { method, path }: NonNullable<Operation['route']>, lambda: CfnFunction): void {
    const integration = new CfnIntegration(this.stack, id(operation.name, 'Integration'), {
      apiId: this.api.ref,
      integrationType: 'AWS_PROXY',
      integrationUri: lambda.attrArn,
      payloadFormatVersion: '2.0',
      // The longest that an HTTP API waits. The function answers for itself before its own timeout.
      timeoutInMillis: 30_000,
    });
    new CfnRoute(this.stack, id(operation.name, 'Route'), {
      apiId: this.api.ref,
      routeKey: `${method} ${path}`,
      // The function verifies the token: an authorizer's answers would be no problem details.
      authorizationType: 'NONE',
      target: `integrations/${integration.ref}`,
    });
    const called = path.replaceAll(/\{[^}]*\}/g, '*');
    new CfnPermission(this.stack, id(operation.name, 'Permission'), {
      functionName: lambda.ref,
      action: 'lambda:InvokeFunction',
      principal: 'apigateway.amazonaws.com',
      sourceArn: `${regional('execute-api')}:${this.api.ref}/*/${method}${called}`,
    });
  }
}

export function logGroup(stack: SystemStack, name: string, logGroupName: string): CfnLogGroup {
  const retentionInDays = stack.parameters.number('LogRetentionDays');
  return new CfnLogGroup(stack, name, { logGroupName, retentionInDays, tags: stack.tagList });
}
