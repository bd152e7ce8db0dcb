// The self-contained stack of one system, like infra/{system}.yaml.
import { type CfnTag, Stack, type StackProps } from 'aws-cdk-lib';
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import type { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import type { CfnBucket } from 'aws-cdk-lib/aws-s3';
import type { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

import { Alarms } from './alarms.ts';
import { Api, logGroup } from './api.ts';
import { socketOf, type System } from './declaration.ts';
import { Functions } from './functions.ts';
import { Names, tagList } from './names.ts';
import { Parameters } from './parameters.ts';
import { queue } from './queues.ts';
import { secret } from './secrets.ts';
import { SocketApi } from './socket.ts';
import { sources } from './sources.ts';
import { bucket, failures, table } from './storage.ts';

// A table with a stream.
export interface Streamed {
  name: string;
  table: CfnTable;
  // The filters of the keys that may have documents.
  documents: string[];
}

export class SystemStack extends Stack {
  readonly parameters: Parameters;
  readonly names: Names;
  readonly tagList: CfnTag[];
  // The log group of all its functions.
  readonly logs: CfnLogGroup;
  readonly tables: CfnTable[] = [];
  // The tables with a stream.
  readonly streamed: Streamed[] = [];
  readonly failures: CfnBucket;
  readonly buckets = new Map<string, CfnBucket>();
  private readonly queues = new Map<string, CfnQueue>();
  private readonly ownSocket: SocketApi | undefined;

  private readonly secrets = new Map<string, CfnSecret>();

  constructor(scope: Construct, system: System, props: StackProps) {
    super(scope, system.name, { ...props, description: `Cairn: the system ${system.name}, one function per route.` });
    this.parameters = new Parameters(this, system);
    this.names = new Names(this.parameters.text('Prefix'), system.name);
    this.tagList = tagList(system.name);
    for (const declared of system.tables) {
      const made = table(this, declared);
      this.tables.push(made);
      if (declared.stream) {
        this.streamed.push({ name: declared.name, table: made, documents: declared.documents });
      }
    }
    for (const declared of system.buckets) {
      this.buckets.set(declared.name, bucket(this, declared));
    }
    for (const declared of system.secrets) {
      this.secrets.set(declared.name, secret(this, declared));
    }
    this.failures = failures(this);
    for (const source of system.sources) {
      if (source.kind === 'queue') {
        this.queues.set(source.queue, queue(this, source));
      }
    }
    this.logs = logGroup(this, 'Logs', this.names.logGroup);
    const api = new Api(this);
    const socket = socketOf(system);
    this.ownSocket = socket && new SocketApi(this, socket);
    const alarms = new Alarms(this);
    alarms.system(system, api.api.ref);
    alarms.routes();
    const functions = new Functions(this, system);
    for (const operation of system.functions) {
      const lambda = functions.add(operation);
      if (operation.route !== null) {
        api.add(operation, operation.route, lambda);
      }
      sources(this, system, operation, lambda);
    }
  }

  // The tables with a stream and with items that have documents.
  get mirrored(): Streamed[] {
    return this.streamed.filter(({ documents }) => documents.length > 0);
  }

  get socket(): SocketApi {
    if (this.ownSocket === undefined) {
      throw new Error('declaration.json has a grant on the connections of a socket that its system does not have');
    }
    return this.ownSocket;
  }

  // The environment variables with the URLs of the socket, if the system has one.
  get socketVariables(): Record<string, string> {
    return this.ownSocket?.variables ?? {};
  }

  queue(name: string): CfnQueue {
    const made = this.queues.get(name);
    if (made === undefined) {
      throw new Error(`declaration.json has no source on the queue ${name}`);
    }
    return made;
  }

  secret(name: string): CfnSecret {
    const made = this.secrets.get(name);
    if (made === undefined) {
      throw new Error(`declaration.json has a grant on the secret ${name}, which its system does not have`);
    }
    return made;
  }

  bucket(name: string): CfnBucket {
    const made = this.buckets.get(name);
    if (made === undefined) {
      throw new Error(`declaration.json has a source on the bucket ${name}, which its system does not have`);
    }
    return made;
  }
}
