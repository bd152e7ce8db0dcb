// The WebSocket API of a system, with one function for each of its three routes.
import { Aws, CfnOutput } from 'aws-cdk-lib';
import { CfnApi, CfnIntegration, CfnRoute, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { type CfnFunction, CfnPermission } from 'aws-cdk-lib/aws-lambda';

import { logGroup } from './api.ts';
import type { Operation, Socket } from './declaration.ts';
import { TAG, id, regional } from './names.ts';
import type { SystemStack } from './system.ts';

// One line of JSON per event, without the query string, which may contain a credential.
const ACCESS_LOG = {
  'request.id': '$context.requestId',
  route: '$context.routeKey',
  'connection.id': '$context.connectionId',
  status: '$context.status',
  'latency.ms': '$context.integrationLatency',
  'integration.error': '$context.integrationErrorMessage',
};

export class SocketApi {
  readonly api: CfnApi;
  readonly stage: string;

  constructor(
    private readonly stack: SystemStack,
    private readonly socket: Socket,
  ) {
    const { names, parameters } = stack;
    this.stage = socket.stage;
    this.api = new CfnApi(stack, 'SocketApi', {
      name: `${names.deployed}-socket`,
      protocolType: 'WEBSOCKET',
      // Required. There is no route for an action, so messages of any form reach `$default`.
      routeSelectionExpression: '$request.body.action',
      tags: { [TAG]: names.system },
    });
    const events = logGroup(stack, 'SocketAccessLogs', names.socketLogGroup);
    new CfnStage(stack, 'SocketStage', {
      apiId: this.api.ref,
      stageName: socket.stage,
      autoDeploy: true,
      defaultRouteSettings: {
        throttlingRateLimit: parameters.number('ThrottleRate'),
        throttlingBurstLimit: parameters.number('ThrottleBurst'),
      },
      accessLogSettings: parameters.socketLogs({
        DestinationArn: events.attrArn,
        Format: JSON.stringify(ACCESS_LOG),
      }),
      tags: { [TAG]: names.system },
    });
    new CfnOutput(stack, 'SocketUrl', { description: 'Where clients open the socket.', value: this.url('wss') });
  }

  // The URLs in the environment of the functions.
  get variables(): Record<string, string> {
    return { CAIRN_SOCKET_ENDPOINT: this.url('https'), CAIRN_SOCKET_URL: this.url('wss') };
  }

  // Integrates the route of a handler with its function, which verifies the client.
  add(operation: Operation, lambda: CfnFunction): void {
    const { connect, disconnect } = this.socket;
    const routes: Record<string, string> = { [connect]: '$connect', [disconnect]: '$disconnect' };
    const routeKey = routes[operation.name] ?? '$default';
    const functions = `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions`;
    const integration = new CfnIntegration(this.stack, id(operation.name, 'Integration'), {
      apiId: this.api.ref,
      integrationType: 'AWS_PROXY',
      integrationUri: `${functions}/${lambda.attrArn}/invocations`,
    });
    new CfnRoute(this.stack, id(operation.name, 'Route'), {
      apiId: this.api.ref,
      routeKey,
      authorizationType: 'NONE',
      target: `integrations/${integration.ref}`,
    });
    new CfnPermission(this.stack, id(operation.name, 'Permission'), {
      functionName: lambda.ref,
      action: 'lambda:InvokeFunction',
      principal: 'apigateway.amazonaws.com',
      sourceArn: `${regional('execute-api')}:${this.api.ref}/*/${routeKey}`,
    });
  }

  // With `wss` for clients, with `https` for the management API.
  private url(scheme: string): string {
    return `${scheme}://${this.api.ref}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}/${this.stage}`;
  }
}
