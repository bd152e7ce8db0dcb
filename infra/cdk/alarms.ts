// The alarms of a system, optionally with that of its routes.
import { Fn } from 'aws-cdk-lib';
import { CfnAlarm, type CfnAlarmProps } from 'aws-cdk-lib/aws-cloudwatch';

import { polls, type Operation, type Socket, type System } from './declaration.ts';
import { id } from './names.ts';
import { GIVEN_UP_SECONDS, mappingId } from './sources.ts';
import type { SystemStack } from './system.ts';

// The handler that audits search.
const AUDIT = 'auditIndex';
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const MILLIS = 1000;

// Rings for the first period that is not zero.
const ABOVE_ZERO = {
  threshold: 0,
  evaluationPeriods: 1,
  comparisonOperator: 'GreaterThanThreshold',
  treatMissingData: 'notBreaching',
};

// An alarm on the sum or the maximum of one metric.
type Watched = Pick<
  CfnAlarmProps,
  | 'namespace'
  | 'metricName'
  | 'statistic'
  | 'threshold'
  | 'period'
  | 'evaluationPeriods'
  | 'comparisonOperator'
  | 'treatMissingData'
> & {
  dimensions: Record<string, string>;
};

export class Alarms {
  constructor(private readonly stack: SystemStack) {}

  // The alarms of a system.
  system(system: System, apiId: string): void {
    const failed = 'The API answered 5xx: a function failed, was throttled or ran out of time.';
    this.add('ApiServerErrorsAlarm', 'answers 5xx', failed, {
      namespace: 'AWS/ApiGateway',
      metricName: '5xx',
      dimensions: { ApiId: apiId },
    });
    // A failing mirror shows as lag, a failing object event is discarded within minutes, and a deployment
    // fails itself.
    for (const { name } of system.functions.filter(({ name }) => polls(system, name))) {
      const about = 'Invocations failed or ran out of time; what they were to do waits for the next.';
      this.add(id(name, 'ErrorsAlarm'), `${name} fails`, about, {
        namespace: 'AWS/Lambda',
        metricName: 'Errors',
        dimensions: this.ofFunction(name),
        evaluationPeriods: 3,
      });
      const notInvoked = 'EventBridge has not invoked it for ten minutes: no job makes progress.';
      this.add(id(name, 'NotInvokedAlarm'), `${name} is not invoked`, notInvoked, {
        namespace: 'AWS/Lambda',
        metricName: 'Invocations',
        dimensions: this.ofFunction(name),
        threshold: 1,
        evaluationPeriods: 2,
        comparisonOperator: 'LessThanThreshold',
        treatMissingData: 'breaching',
      });
    }
    for (const source of system.sources) {
      // The audit has an alarm of its own, `audit is overdue`. A failed run of another handler is made up for by the
      // next one.
      if (source.kind === 'schedule' && source.everyMinutes >= 60 && source.handler !== AUDIT) {
        const about =
          'Invocations failed or ran out of time in two consecutive periods; what they were to do may not be done.';
        this.add(id(source.handler, 'ErrorsAlarm'), `${source.handler} fails`, about, {
          namespace: 'AWS/Lambda',
          metricName: 'Errors',
          dimensions: this.ofFunction(source.handler),
          period: source.everyMinutes * MINUTE,
          evaluationPeriods: 2,
        });
      }
    }
    for (const { handler } of system.sources.filter((source) => source.kind === 'objects')) {
      const dropped = 'An event about a file failed three times or waited for six hours. It is in the bucket of failures.';
      this.add(id(handler, 'DroppedEventsAlarm'), `${handler} dropped an event`, dropped, {
        namespace: 'AWS/Lambda',
        metricName: 'AsyncEventsDropped',
        dimensions: this.ofFunction(handler),
      });
    }
    for (const source of system.sources) {
      if (source.kind === 'queue') {
        const dead = 'A message failed five times: see the queue of dead letters.';
        this.add(id(source.handler, 'DeadLettersAlarm'), `${source.handler} has dead letters`, dead, {
          namespace: 'AWS/SQS',
          metricName: 'ApproximateNumberOfMessagesVisible',
          dimensions: { QueueName: this.stack.names.queue(source.deadLetters) },
          statistic: 'Maximum',
        });
      }
    }
    for (const source of system.sources) {
      switch (source.kind) {
        case 'streams':
          this.mirror(source.handler);
          this.stack.mirrored.forEach((table) => this.polling(source.handler, table.name));
          this.reader(source.handler, 'the mirror', 'stream records');
          break;
        case 'schedule':
          system.functions.filter(({ name }) => name === AUDIT && name === source.handler).forEach((audit) => this.audit(audit));
          break;
        case 'records':
          this.records(source.handler);
          this.stack.streamed.forEach((table) => this.polling(source.handler, table.name));
          this.reader(source.handler, 'this reader of the streams', `stream records of ${source.handler}`);
          break;
        case 'socket':
          this.socket(source);
          break;
      }
    }
  }

  // The alarms of the audit of search.
  private audit(operation: Operation): void {
    const dimensions = this.ofOperation(operation.name);
    this.add(id(operation.name, 'OverdueAlarm'), 'audit is overdue', 'No audit of search has ended for 26 hours.', {
      metricName: 'Audits',
      dimensions,
      threshold: 1,
      // CloudWatch looks back over at most seven days, in periods of an hour or more.
      period: HOUR,
      evaluationPeriods: 26,
      comparisonOperator: 'LessThanThreshold',
      treatMissingData: 'breaching',
    });
    const differed = 'An audit found differences between the tables and search: see cairn audit SYSTEM --last.';
    this.add(id(operation.name, 'DifferencesAlarm'), 'search differed', differed, {
      metricName: 'Differences',
      dimensions,
    });
    if (operation.grants.some(({ action }) => action === 's3:GetObject')) {
      const lacks = 'Objects of shapes do not exist: see cairn audit SYSTEM --last.';
      this.add(id(operation.name, 'ShapesAlarm'), 'lacks shapes', lacks, { metricName: 'ShapesMissing', dimensions });
    }
  }

  private records(name: string): void {
    const late = 'Records of the tables have waited for this reader for more than a minute, for ten minutes.';
    this.add(id(name, 'LagAlarm'), `${name} lags`, late, {
      namespace: 'AWS/Lambda',
      metricName: 'IteratorAge',
      dimensions: this.ofFunction(name),
      statistic: 'Maximum',
      threshold: MINUTE * MILLIS,
      evaluationPeriods: 2,
    });
  }

  private socket({ connect, disconnect, receive }: Socket): void {
    for (const name of [connect, disconnect, receive]) {
      const about = 'Events of the socket failed or ran out of time. API Gateway does not repeat them.';
      this.add(id(name, 'ErrorsAlarm'), `${name} fails`, about, {
        namespace: 'AWS/Lambda',
        metricName: 'Errors',
        dimensions: this.ofFunction(name),
        evaluationPeriods: 3,
      });
    }
  }

  private mirror(name: string): void {
    // Lambda's own metric. It grows while a batch is retried, whatever the cause.
    const late = 'Records of the tables have waited for the mirror for more than a minute, for ten minutes.';
    this.add(id(name, 'LagAlarm'), 'search lags', late, {
      namespace: 'AWS/Lambda',
      metricName: 'IteratorAge',
      dimensions: this.ofFunction(name),
      statistic: 'Maximum',
      threshold: MINUTE * MILLIS,
      evaluationPeriods: 2,
    });
    this.add(id(name, 'QuarantineAlarm'), 'quarantines', 'Items cannot be indexed: see cairn quarantine ls.', {
      metricName: 'Quarantined',
      dimensions: this.ofOperation(name),
    });
  }

  // The alarm on a mapping that polls no stream. One that polls reports how many records it found, 0 of an idle table.
  private polling(name: string, table: string): void {
    const mapping = mappingId(name, table);
    const silent = 'Lambda has not read the stream of the table for ten minutes.';
    this.add(`${mapping}SilentAlarm`, `${name} does not poll ${table}`, silent, {
      namespace: 'AWS/Lambda',
      metricName: 'PolledEventCount',
      dimensions: { EventSourceMappingUUID: Fn.ref(mapping) },
      threshold: 0,
      evaluationPeriods: 2,
      comparisonOperator: 'LessThanThreshold',
      treatMissingData: 'breaching',
    });
  }

  // The alarms of every reader of the streams.
  private reader(name: string, title: string, records: string): void {
    this.add(id(name, 'ThrottlesAlarm'), `${name} is throttled`, `The account has no concurrency left for ${title}.`, {
      namespace: 'AWS/Lambda',
      metricName: 'Throttles',
      dimensions: this.ofFunction(name),
      evaluationPeriods: 3,
    });
    // Rings while the loss can still be prevented.
    const expiry = 'Lambda discards records of the tables within the hour and writes them to the bucket of failures.';
    this.add(id(name, 'ExpiryAlarm'), `${records} expire soon`, expiry, {
      namespace: 'AWS/Lambda',
      metricName: 'IteratorAge',
      dimensions: this.ofFunction(name),
      statistic: 'Maximum',
      threshold: (GIVEN_UP_SECONDS - HOUR) * MILLIS,
    });
  }

  // The alarm of the routes, with a state for each. It is optional, since it costs more than most deployments gain.
  routes(): void {
    const query =
      'SELECT SUM("ServerErrors") FROM SCHEMA("Cairn", "System", "Operation") ' +
      `WHERE "System" = '${this.stack.names.deployed}' GROUP BY "Operation" ORDER BY SUM() DESC`;
    const alarm = new CfnAlarm(this.stack, 'RoutesAlarm', {
      ...this.named('a route answers 5xx', 'The routes that answered 5xx are its contributors.'),
      ...ABOVE_ZERO,
      metrics: [{ id: 'errors', expression: query, period: 5 * MINUTE, returnData: true }],
    });
    alarm.cfnOptions.condition = this.stack.parameters.hasRouteAlarms;
  }

  private ofFunction(name: string): Record<string, string> {
    return { FunctionName: this.stack.names.operation(name) };
  }

  private ofOperation(name: string): Record<string, string> {
    return { System: this.stack.names.deployed, Operation: name };
  }

  private add(name: string, title: string, about: string, { dimensions, ...watched }: Partial<Watched>): void {
    new CfnAlarm(this.stack, name, {
      ...this.named(title, about),
      namespace: 'Cairn',
      statistic: 'Sum',
      period: 5 * MINUTE,
      ...ABOVE_ZERO,
      ...watched,
      dimensions: Object.entries(dimensions ?? {}).map(([name, value]) => ({ name, value })),
    });
  }

  private named(title: string, about: string) {
    return {
      alarmName: `${this.stack.names.deployed} ${title}`,
      alarmDescription: about,
      alarmActions: this.stack.parameters.alarmActions,
      tags: this.stack.tagList,
    };
  }
}
