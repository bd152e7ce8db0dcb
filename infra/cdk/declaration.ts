// The declarations of the systems, infra/declaration.json, which `cargo xtask generate` writes. Names are logical.
import { readFileSync } from 'node:fs';

export interface Declaration {
  cors: { methods: string[]; allowed: string[]; exposed: string[]; maxAge: number };
  systems: System[];
}

export interface System {
  name: string;
  // Whether it only shows how a system is written. Examples are deployed by choice.
  isExample: boolean;
  tables: Table[];
  buckets: Bucket[];
  secrets: Secret[];
  // Whether it issues tokens itself.
  ownLogin: boolean;
  hasLimits: boolean;
  sources: Source[];
  functions: Operation[];
}

export interface Table {
  name: string;
  pk: string;
  sk: string | null;
  stream: boolean;
  // The filter of an event source of its stream, in Lambda's form.
  documents: string[];
  indexes: Index[];
}

export interface Index {
  name: string;
  pk: string;
  sk: string | null;
  projection: 'KEYS_ONLY' | 'ALL' | 'INCLUDE';
  attributes: string[];
}

export interface Bucket {
  name: string;
  // Objects expire this many days after their creation.
  expiring: { prefix: string; days: number }[];
}

export interface Secret {
  name: string;
  description: string;
  // The number of letters and digits.
  length: number;
}

export type Source =
  | { kind: 'streams'; handler: string; filtered: boolean }
  | { kind: 'records'; handler: string; batch: number; filtered: boolean }
  | { kind: 'objects'; handler: string; bucket: string; prefix: string }
  | ({ kind: 'queue'; handler: string } & Queue)
  | { kind: 'schedule'; handler: string; everyMinutes: number }
  | { kind: 'deployment'; handler: string }
  | { kind: 'stateMachine'; handler: string; name: string; definition: object }
  | ({ kind: 'socket' } & Socket);

// A WebSocket API and the handlers of its routes.
export interface Socket {
  stage: string;
  connect: string;
  disconnect: string;
  receive: string;
}

// A queue and the one for its dead letters.
export interface Queue {
  queue: string;
  visibilitySeconds: number;
  concurrency: number;
  maxReceives: number;
  deadLetters: string;
  deadLetterSeconds: number;
}

// A route or an event handler: one function.
export interface Operation {
  name: string;
  route: { method: string; path: string } | null;
  timeoutSeconds: number;
  // In MB, before the deployment's memory class.
  memory: number;
  grants: Grant[];
}

// One action on one resource, which the other members name.
export interface Grant {
  action: string;
  table?: string;
  index?: string;
  attributes?: string[];
  bucket?: string;
  // The objects under this prefix.
  objects?: string;
  // The names under this prefix.
  names?: string;
  queue?: string;
  // The event bus, for events of this source.
  eventSource?: string;
  // The connections of the socket, by this method of its management API.
  connections?: string;
  secret?: string;
  searchPath?: string;
}

// The socket of a system, if it has one.
export function socketOf(system: System): Socket | undefined {
  return system.sources.find((source) => source.kind === 'socket');
}

// Whether a function of the system puts events on the event bus.
export function putsEvents(system: System): boolean {
  return system.functions.some(({ grants }) => grants.some(({ eventSource }) => eventSource !== undefined));
}

// Whether an event source calls a handler.
export function calls(source: Source, name: string): boolean {
  if (source.kind === 'socket') {
    return [source.connect, source.disconnect, source.receive].includes(name);
  }
  return source.handler === name;
}

// Whether a schedule invokes the function several times an hour, mostly without work.
export function polls(system: System, name: string): boolean {
  return system.sources.some((source) => source.kind === 'schedule' && source.handler === name && source.everyMinutes < 60);
}

// Whether the function receives the messages of a queue.
export function receives(system: System, name: string): boolean {
  return system.sources.some((source) => source.kind === 'queue' && source.handler === name);
}

export const declaration: Declaration = JSON.parse(
  readFileSync(new URL('../declaration.json', import.meta.url), 'utf8'),
);
