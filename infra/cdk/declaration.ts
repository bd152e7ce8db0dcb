// What the systems declare: infra/declaration.json, which `cargo xtask generate` makes. Names are logical.
import { readFileSync } from 'node:fs';

export interface Declaration {
  cors: { methods: string[]; allowed: string[]; exposed: string[]; maxAge: number };
  systems: System[];
}

export interface System {
  name: string;
  tables: Table[];
  buckets: Bucket[];
  sources: Source[];
  functions: Operation[];
}

export interface Table {
  name: string;
  pk: string;
  sk: string | null;
  stream: boolean;
  // What a filtered event source of its stream hands on, as Lambda wants it.
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
  // An object goes so many days after it was made.
  expiring: { prefix: string; days: number }[];
}

export type Source =
  | { kind: 'streams'; handler: string; filtered: boolean }
  | { kind: 'objects'; handler: string; bucket: string; prefix: string }
  | { kind: 'schedule'; handler: string; everyMinutes: number }
  | { kind: 'deployment'; handler: string };

// A route, or a handler of events: one function.
export interface Operation {
  name: string;
  route: { method: string; path: string } | null;
  timeoutSeconds: number;
  // In MB, before the deployment's memory class.
  memory: number;
  grants: Grant[];
}

// One action on one resource; which, the members beside the action say.
export interface Grant {
  action: string;
  table?: string;
  index?: string;
  attributes?: string[];
  bucket?: string;
  // The objects below this prefix.
  objects?: string;
  // The names below this prefix.
  names?: string;
  searchPath?: string;
}

// Whether a clock calls the function several times an hour, mostly in vain.
export function polls(system: System, name: string): boolean {
  return system.sources.some((source) => source.kind === 'schedule' && source.handler === name && source.everyMinutes < 60);
}

export const declaration: Declaration = JSON.parse(
  readFileSync(new URL('../declaration.json', import.meta.url), 'utf8'),
);
