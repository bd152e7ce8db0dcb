// One function per operation; all of a system share one zip, which is uploaded once.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { CfnMapping } from 'aws-cdk-lib';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';

import { polls, receives, type Operation, type System } from './declaration.ts';
import { BUCKET_SUFFIX, QUEUE_URLS, id } from './names.ts';
import { role } from './policy.ts';
import { statements } from './sources.ts';
import type { SystemStack } from './system.ts';

const CLASSES = { small: 1, medium: 2, large: 4 };

export class Functions {
  private readonly code: CfnFunction.CodeProperty;
  private readonly memory: CfnMapping;

  constructor(
    private readonly stack: SystemStack,
    private readonly system: System,
  ) {
    const path = join(stack.node.getContext('zips'), system.name, 'bootstrap.zip');
    if (!existsSync(path)) {
      throw new Error(`${path} is missing: run \`cargo lambda build --release --arm64 --output-format zip\` first`);
    }
    const zip = new Asset(stack, 'Zip', { path });
    this.code = { s3Bucket: zip.s3BucketName, s3Key: zip.s3ObjectKey };
    const sizes = system.functions.map((operation) => operation.memory);
    const inClass = (times: number) => Object.fromEntries(sizes.map((size) => [`Mb${size}`, size * times]));
    this.memory = new CfnMapping(stack, 'Memory', {
      mapping: Object.fromEntries(Object.entries(CLASSES).map(([name, times]) => [name, inClass(times)])),
    });
  }

  add(operation: Operation): CfnFunction {
    const { names, parameters, logs } = this.stack;
    const { route } = operation;
    return new CfnFunction(this.stack, id(operation.name, 'Function'), {
      functionName: names.operation(operation.name),
      description: route === null ? `Handler of events ${operation.name}` : `${route.method} ${route.path}`,
      runtime: 'provided.al2023',
      handler: operation.name,
      code: this.code,
      architectures: [parameters.text('Architecture')],
      timeout: operation.timeoutSeconds,
      memorySize: this.memory.findInMap(parameters.text('MemoryClass'), `Mb${operation.memory}`) as unknown as number,
      role: role(this.stack, operation, statements(this.stack, this.system, operation)).attrArn,
      // X-Ray samples the first request of each second, so a polling function would produce 44 000 empty traces a month.
      tracingConfig: { mode: polls(this.system, operation.name) ? 'PassThrough' : 'Active' },
      // It may send the next message to its own queue. After about 16 such messages Lambda would drop one.
      ...(receives(this.system, operation.name) ? { recursiveLoop: 'Allow' } : {}),
      loggingConfig: { logGroup: logs.ref },
      environment: {
        variables: {
          CAIRN_PREFIX: names.prefix,
          CAIRN_BUCKET_SUFFIX: BUCKET_SUFFIX,
          ...(this.system.sources.some(({ kind }) => kind === 'queue') ? { CAIRN_QUEUES: QUEUE_URLS } : {}),
          ...this.stack.socketVariables,
          CAIRN_SEARCH_ENDPOINT: parameters.text('SearchEndpoint'),
          CAIRN_ISSUERS: parameters.text('Issuers'),
          CAIRN_CURSOR_SECRETS: parameters.text('CursorSecrets'),
          CAIRN_TOMBSTONE_HOURS: parameters.text('TombstoneRetentionHours'),
          CAIRN_ROUTE_METRICS: parameters.routeMetrics,
          ...parameters.further,
        },
      },
      tags: this.stack.tagList,
    });
  }
}
