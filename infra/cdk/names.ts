// Physical names: the parameter Prefix, then the logical name. Logical ids: words with capitals.
import { Aws, type CfnTag } from 'aws-cdk-lib';

// `parks-mirror` and `Table` give `ParksMirrorTable`; `getGeozone` and `Role` give `GetGeozoneRole`.
export function id(name: string, kind: string): string {
  return name.split('-').map(capital).join('') + kind;
}

// A statement's id: letters and digits only.
export function sid(kind: string, name: string): string {
  return kind + name.replace('??????', 'generation').split(/[^A-Za-z0-9]+/).map(capital).join('');
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

// The tags of each resource that can have tags, for cost allocation.
export const TAG = 'cairn:system';

// The same where CloudFormation wants a list.
export function tagList(system: string): CfnTag[] {
  return [{ key: TAG, value: system }];
}

// The account and the region make a bucket's name globally unique.
export const BUCKET_SUFFIX = `-${Aws.ACCOUNT_ID}-${Aws.REGION}`;

// The URL of a queue before its name.
export const QUEUE_URLS = `https://sqs.${Aws.REGION}.${Aws.URL_SUFFIX}/${Aws.ACCOUNT_ID}/`;

export class Names {
  constructor(
    readonly prefix: string,
    readonly system: string,
  ) {}

  // The system itself, as metrics and the API call it.
  get deployed(): string {
    return `${this.prefix}${this.system}`;
  }

  // One log group for all functions of a system.
  get logGroup(): string {
    return `/cairn/${this.deployed}`;
  }

  // API Gateway writes it by CloudWatch's log delivery, which adds an entry to a policy of the account for each group
  // with another name prefix, until the policy is full.
  get accessLogGroup(): string {
    return `/aws/vendedlogs/cairn/${this.deployed}/access`;
  }

  get socketLogGroup(): string {
    return `/aws/vendedlogs/cairn/${this.deployed}/socket-access`;
  }

  // The prefix of events that Lambda has discarded.
  get failures(): string {
    return `${this.system}-failures`;
  }

  operation(name: string): string {
    return `${this.deployed}-${name}`;
  }

  table(name: string): string {
    return `${this.prefix}${name}`;
  }

  bucket(name: string): string {
    return `${this.prefix}${name}${BUCKET_SUFFIX}`;
  }

  tableArn(name: string): string {
    return `${regional('dynamodb')}:table/${this.table(name)}`;
  }

  bucketArn(name: string): string {
    return `arn:${Aws.PARTITION}:s3:::${this.bucket(name)}`;
  }

  queue(name: string): string {
    return `${this.prefix}${name}`;
  }

  queueArn(name: string): string {
    return `${regional('sqs')}:${this.queue(name)}`;
  }

  eventBusArn(bus: string): string {
    return `${regional('events')}:event-bus/${bus}`;
  }

  eventSource(name: string): string {
    return `${this.prefix}${name}`;
  }

  secret(name: string): string {
    return `${this.prefix}${name}`;
  }

  get logGroupArn(): string {
    return `${regional('logs')}:log-group:${this.logGroup}`;
  }
}

// The names in Parameter Store under which the shared stack publishes the search domain.
export function keptAs(prefix: string, name: string): string {
  return `/cairn/${prefix}search/${name}`;
}

// The prefix of an ARN of this account and region.
export function regional(service: string): string {
  return `arn:${Aws.PARTITION}:${service}:${Aws.REGION}:${Aws.ACCOUNT_ID}`;
}
