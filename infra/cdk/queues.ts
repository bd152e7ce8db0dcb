// The queues of a system, each with one for its dead letters. SQS encrypts their messages with a key of its own.
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';

import type { Queue } from './declaration.ts';
import { id } from './names.ts';
import type { SystemStack } from './system.ts';

export function queue(stack: SystemStack, declared: Queue): CfnQueue {
  const dead = new CfnQueue(stack, id(declared.deadLetters, 'Queue'), {
    queueName: stack.names.queue(declared.deadLetters),
    sqsManagedSseEnabled: true,
    messageRetentionPeriod: declared.deadLetterSeconds,
    tags: stack.tagList,
  });
  return new CfnQueue(stack, id(declared.queue, 'Queue'), {
    queueName: stack.names.queue(declared.queue),
    sqsManagedSseEnabled: true,
    visibilityTimeout: declared.visibilitySeconds,
    redrivePolicy: { deadLetterTargetArn: dead.attrArn, maxReceiveCount: declared.maxReceives },
    tags: stack.tagList,
  });
}
