// The parameters of a deployment, the same as those of the SAM templates.
import { Aws, CfnCondition, CfnParameter, type CfnParameterProps, Fn, type IResolvable, type Stack, Token } from 'aws-cdk-lib';

import { putsEvents, socketOf, type System } from './declaration.ts';
import { keptAs } from './names.ts';

type Choice = (stack: Stack, name: string) => CfnParameter;

const parameter =
  (props: CfnParameterProps): Choice =>
  (stack, name) =>
    new CfnParameter(stack, name, props);

export const text = (description: string, byDefault: string, allowedPattern: string): Choice =>
  parameter({ type: 'String', description, default: byDefault, allowedPattern });

export const number = (description: string, byDefault: number): Choice =>
  parameter({ type: 'Number', description, default: byDefault, minValue: 1 });

// The first value is the default.
const oneOf = (description: string, allowedValues: string[]): Choice =>
  parameter({ type: 'String', description, default: allowedValues[0], allowedValues });

const flag = (description: string, byDefault: boolean): Choice =>
  parameter({ type: 'String', description, default: `${byDefault}`, allowedValues: ['true', 'false'] });

// The value in Parameter Store under this name, read at each deployment.
const kept = (description: string, name: string): Choice =>
  parameter({ type: 'AWS::SSM::Parameter::Value<String>', description, default: keptAs('cairn-', name) });

export const prefix = text(
  'Stands before every name, so that several deployments share an account.',
  'cairn-',
  '^([a-z][a-z0-9-]{0,14})?$',
);

// The numbers that CloudWatch Logs accepts (PutRetentionPolicy).
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

export const logRetentionDays = parameter({
  type: 'Number',
  description: 'How long logs are kept, in days.',
  default: '30',
  allowedValues: retentions.map(String),
});

const choices = {
  Prefix: prefix,
  Architecture: oneOf('Of the functions; the zips must be built for it.', ['arm64', 'x86_64']),
  MemoryClass: oneOf(
    'Multiplies the memory of each function by 1, 2 or 4, and its share of a processor with it.',
    ['small', 'medium', 'large'],
  ),
  LogRetentionDays: logRetentionDays,
  // The type Number allows fractions, which the functions refuse.
  TombstoneRetentionHours: text(
    'How long search remembers deletes, in hours: 25 or more.',
    '25',
    '^(2[5-9]|[3-9][0-9]|[1-9][0-9]{2,4})$',
  ),
  ThrottleRate: number('Requests a second of each route in the long run; what is above is answered 429.', 100),
  ThrottleBurst: number('Requests of each route at one moment.', 200),
  CorsOrigins: parameter({
    type: 'CommaDelimitedList',
    description: 'The origins whose pages may call the API.',
    default: '*',
  }),
  // Lambda allows 4 KB for all variables of a function.
  Issuers: parameter({
    type: 'String',
    description:
      'Whose bearer tokens are taken: a JSON list of {"name", "issuer", "audience"} with "jwks" (the key set\'s URL) or "keys".',
    default: '[]',
    allowedPattern: '^\\[[\\s\\S]*\\]$',
    maxLength: 3000,
  }),
  CursorSecrets: parameter({
    type: 'String',
    description: 'Secrets that encrypt cursors, with commas between; the first encrypts, all decrypt.',
    noEcho: true,
    minLength: 32,
  }),
  SearchEndpoint: kept('Where the shared stack keeps the URL of OpenSearch, by its prefix.', 'endpoint'),
  SearchDomainArn: kept('Where it keeps the ARN of that domain.', 'arn'),
  DeletionProtection: flag('Whether DynamoDB refuses to delete the tables.', true),
  RouteMetrics: flag('Whether each route has metrics of its own (USD 1.50 a month for each route that is called).', false),
  RouteAlarms: flag('Whether an alarm watches the 5xx of each route (USD 0.10 a month for each), which then has metrics.', false),
  AlarmTopicArn: text('The SNS topic that alarms tell; none if empty.', '', '^(arn:[a-z-]+:sns:.+)?$'),
} satisfies Record<string, Choice>;

const socketLogs = flag(
  'Whether the WebSocket API writes an access log. API Gateway needs a role for it in the settings of the account.',
  false,
);

const ownLogin = flag('Whether people register and log in here; if not, the issuers sign them in.', true);

const limits = text(
  'Limits that differ from those of the docs, such as `register=20,logIn=50`.',
  '',
  '^([A-Za-z]+=[1-9][0-9]{0,6}(,[A-Za-z]+=[1-9][0-9]{0,6})*)?$',
);

const eventBus = text(
  'The event bus of EventBridge that receives an event for each change.',
  'default',
  '^[A-Za-z0-9._/-]{1,256}$',
);

// The parameters of a system's stack, and values derived from them.
export class Parameters {
  private readonly chosen: Record<keyof typeof choices, CfnParameter>;
  readonly hasRouteAlarms: CfnCondition;
  private readonly hasRouteMetrics: CfnCondition;
  private readonly hasAlarmTopic: CfnCondition;
  private readonly hasSocketLogs: CfnCondition | undefined;

  private readonly ownEventBus: string | undefined;

  // The environment variables of parameters that only some systems have.
  readonly further: Record<string, string>;

  constructor(stack: Stack, system: System) {
    this.chosen = declare(stack, choices);
    if (putsEvents(system)) {
      this.ownEventBus = eventBus(stack, 'EventBus').valueAsString;
    }
    this.further = {
      ...(this.ownEventBus !== undefined ? { CAIRN_EVENT_BUS: this.ownEventBus } : {}),
      ...(system.ownLogin ? { CAIRN_OWN_LOGIN: ownLogin(stack, 'OwnLogin').valueAsString } : {}),
      ...(system.hasLimits ? { CAIRN_LIMITS: limits(stack, 'Limits').valueAsString } : {}),
    };
    if (socketOf(system) !== undefined) {
      const chosen = socketLogs(stack, 'SocketLogs').valueAsString;
      this.hasSocketLogs = new CfnCondition(stack, 'HasSocketLogs', { expression: Fn.conditionEquals(chosen, 'true') });
    }
    this.hasRouteAlarms = new CfnCondition(stack, 'HasRouteAlarms', {
      expression: Fn.conditionEquals(this.text('RouteAlarms'), 'true'),
    });
    this.hasRouteMetrics = new CfnCondition(stack, 'HasRouteMetrics', {
      expression: Fn.conditionOr(
        Fn.conditionEquals(this.text('RouteMetrics'), 'true'),
        Fn.conditionEquals(this.text('RouteAlarms'), 'true'),
      ),
    });
    this.hasAlarmTopic = new CfnCondition(stack, 'HasAlarmTopic', {
      expression: Fn.conditionNot(Fn.conditionEquals(this.text('AlarmTopicArn'), '')),
    });
  }

  text(name: keyof typeof choices): string {
    return this.chosen[name].valueAsString;
  }

  number(name: 'LogRetentionDays' | 'ThrottleRate' | 'ThrottleBurst'): number {
    return this.chosen[name].valueAsNumber;
  }

  // The value as a boolean property.
  flag(name: 'DeletionProtection'): IResolvable {
    return this.chosen[name].value;
  }

  get corsOrigins(): string[] {
    return this.chosen.CorsOrigins.valueAsList;
  }

  // The name of the event bus, which only a system with a grant on it has.
  get eventBus(): string {
    if (this.ownEventBus === undefined) {
      throw new Error('declaration.json has a grant on the event bus for a system that puts no events');
    }
    return this.ownEventBus;
  }

  // Whether requests have metrics per route, in the form that functions read.
  get routeMetrics(): string {
    return Token.asString(Fn.conditionIf(this.hasRouteMetrics.logicalId, 'true', 'false'));
  }

  // The settings of the access log of a WebSocket API, if it writes one.
  socketLogs(settings: { DestinationArn: string; Format: string }): IResolvable {
    return Fn.conditionIf(this.hasSocketLogs?.logicalId ?? '', settings, Aws.NO_VALUE);
  }

  // The SNS topic of alarms.
  get alarmActions(): string[] {
    return Token.asList(Fn.conditionIf(this.hasAlarmTopic.logicalId, [this.text('AlarmTopicArn')], []));
  }
}

export function declare<Name extends string>(stack: Stack, choices: Record<Name, Choice>): Record<Name, CfnParameter> {
  const declared = Object.entries<Choice>(choices).map(([name, choice]) => [name, choice(stack, name)]);
  return Object.fromEntries(declared);
}
