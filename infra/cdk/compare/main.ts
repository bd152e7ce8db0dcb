// Prints the differences between the stacks of SAM and of CDK, and fails unless each is listed as ignored.
import { compare } from './differences.ts';
import { folders, ignored, stacks } from './stacks.ts';

const all = stacks(...folders());
const { differences, stale } = compare(all, ignored);
for (const { resource, type, property, sam, cdk } of differences) {
  console.error(`${resource} (${type}): ${property || 'all of it'} is ${told(sam)} with SAM and ${told(cdk)} with CDK`);
}
for (const { type, property } of stale) {
  console.error(`compare/ignored.json: ${property} of ${type} no longer differs: take it out`);
}
for (const [name, [sam]] of Object.entries(all)) {
  console.log(`${name}: ${Object.keys(sam.Resources).length} resources compared`);
}
process.exitCode = differences.length + stale.length === 0 ? 0 : 1;

function told(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value);
}
