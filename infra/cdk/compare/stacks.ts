// The templates to compare: those of SAM from `infra/`, and those of CDK from this app.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { Ignored } from './differences.ts';
import type { Template } from './normal.ts';

const SYNTHESISED = '.template.json';

// By stack name. The folders contain `{stack}.json` and `{stack}.template.json`.
export function stacks(expanded: string, synthesised: string): Record<string, [sam: Template, cdk: Template]> {
  const sam = names(expanded, '.json');
  const cdk = names(synthesised, SYNTHESISED);
  if (sam.join() !== cdk.join() || sam.length === 0) {
    throw new Error(`SAM has the stacks ${sam.join(', ')}, and CDK has ${cdk.join(', ')}`);
  }
  return Object.fromEntries(
    sam.map((name) => [name, [read(join(expanded, `${name}.json`)), read(join(synthesised, name + SYNTHESISED))]]),
  );
}

export const ignored: Ignored[] = JSON.parse(readFileSync(new URL('ignored.json', import.meta.url), 'utf8'));

// From the environment, since the test runner passes no arguments.
export function folders(): [expanded: string, synthesised: string] {
  const { EXPANDED, SYNTHESISED } = process.env;
  if (EXPANDED === undefined || SYNTHESISED === undefined) {
    throw new Error('EXPANDED and SYNTHESISED name the folders with the templates: `cargo xtask templates` sets them');
  }
  return [EXPANDED, SYNTHESISED];
}

function names(folder: string, ending: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(ending));
  return files.map((name) => name.slice(0, -ending.length)).sort();
}

function read(path: string): Template {
  return JSON.parse(readFileSync(path, 'utf8'));
}
