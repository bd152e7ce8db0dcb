// The HTTP API of a system: one API description with one function per operation.
import { CfnOutput } from 'aws-cdk-lib';
import { CfnApi, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { type CfnFunction, CfnPermission } from 'aws-cdk-lib/aws-lambda';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';

import { type Operation, declaration } from './declaration.ts';
import { TAG, id, regional } from './names.ts';
import type { SystemStack } from './system.ts';

// One line of JSON per request, without the path, which may contain names of people.
const ACCESS_LOG = {
  'request.id': '$context.requestId',
  route: '$context.routeKey',
  status: '$context.status',
  'latency.ms': '$context.responseLatency',
  'integration.error': '$context.integrationErrorMessage',
};

export class Api {
  readonly api: CfnApi;
  // The paths of the API description, complete when all operations have been added.
  private readonly paths: Record<string, Record<string, unknown>> = {};

  // CloudFormation refuses other properties of an API with a body, such as its name and its tags.
  constructor(private readonly stack: SystemStack) {
    const { names, parameters } = stack;
    this.api = new CfnApi(stack, 'Api', {
      body: {
        openapi: '3.0.1',
        info: { title: names.deployed, version: '1' },
        tags: [{ name: TAG, 'x-amazon-apigateway-tag-value': names.system }],
        'x-amazon-apigateway-cors': {
          allowOrigins: parameters.corsOrigins,
          allowMethods: declaration.cors.methods,
          allowHeaders: declaration.cors.allowed,
          exposeHeaders: declaration.cors.exposed,
          maxAge: declaration.cors.maxAge,
        },
        paths: this.paths,
      },
      // Otherwise API Gateway silently drops routes that it cannot read.
      failOnWarnings: true,
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
      tags: { [TAG]: names.system },
    });
    new CfnOutput(stack, 'ApiUrl', { description: 'Where the API is.', value: this.api.attrApiEndpoint });
  }

  // Integrates a route with its function. The function verifies the token, since the responses of an authorizer
  // are not problem details. API Gateway waits for its maximum of 30 s; the function responds
  // before its own timeout.
  add(operation: Operation, { method, path }: NonNullable<Operation['route']>, lambda: CfnFunction): void {
    const named = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    }));
    const item = (this.paths[path] ??= named.length === 0 ? {} : { parameters: named });
    item[method.toLowerCase()] = {
      responses: { default: { description: 'What the function answers.' } },
      'x-amazon-apigateway-integration': {
        type: 'aws_proxy',
        httpMethod: 'POST',
        uri: lambda.attrArn,
        payloadFormatVersion: '2.0',
      },
    };
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
