// The comparison finds every property that differs, by name: each is changed in turn on a copy.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compare, covers, ofResource } from './differences.ts';
import type { Json, Members } from './normal.ts';
import { folders, ignored, stacks } from './stacks.ts';

const all = stacks(...folders());
const pairs = Object.values(all).flatMap(([sam, cdk]) =>
  Object.keys(sam.Resources).map((name) => [name, sam.Resources[name], cdk.Resources[name]] as const),
);
const mayDiffer = (type: string, property: string) =>
  ignored.some((may) => covers(may, { resource: '', type, property, sam: undefined, cdk: undefined }));

for (const side of ['sam', 'cdk'] as const) {
  test(`each property that changes on the side of ${side} is named with its resource`, () => {
    let changed = 0;
    for (const [name, sam, cdk] of pairs) {
      const own = (side === 'sam' ? sam : cdk) as Members;
      const properties = Object.keys(own['Properties'] as Members).filter((property) => property !== 'Tags');
      for (const property of properties.filter((property) => !mayDiffer(String(own['Type']), property))) {
        for (const other of variants((own['Properties'] as Members)[property]!)) {
          const copy = { ...own, Properties: { ...(own['Properties'] as Members), [property]: other } };
          const found = side === 'sam' ? ofResource(name, copy, cdk) : ofResource(name, sam, copy);
          const named = found.filter((one) => !ignored.some((may) => covers(may, one)));
          assert.ok(named.length > 0, `${name}.${property}: ${JSON.stringify(other)} is not found`);
          for (const one of named) {
            assert.equal(one.resource, name);
            assert.equal(one.property.split('.')[0], property);
          }
          changed += 1;
        }
      }
    }
    assert.ok(changed > 5000, `${changed} properties were changed`);
  });

  test(`a resource that is missing on the side of ${side} is named`, () => {
    const copy = structuredClone(all);
    const [stack] = Object.keys(copy);
    const [sam, cdk] = copy[stack!]!;
    const [gone] = Object.keys(sam.Resources);
    delete (side === 'sam' ? sam : cdk).Resources[gone!];
    const named = compare(copy, ignored).differences.map(({ resource, property }) => [resource, property]);
    assert.deepEqual(named, [[`${stack}: ${gone}`, '']]);
  });
}

test('what is ignored and no longer differs is named', () => {
  const stale = { type: 'AWS::S3::Bucket', property: 'BucketName', reason: 'none' };
  assert.deepEqual(compare(all, [...ignored, stale]).stale, [stale]);
});

test('a text is not taken for a reference', () => {
  const [sam, cdk] = ['${Prefix}', { 'Fn::Sub': '${Prefix}' }].map((Name) => ({ Type: 'Toy', Properties: { Name } }));
  assert.deepEqual(ofResource('Toy', sam, cdk).map(({ property }) => property), ['Name']);
});

// Copies of the value with each leaf changed, and with each member of a list removed.
function variants(value: Json): Json[] {
  if (Array.isArray(value)) {
    const shorter = value.map((_, at) => value.toSpliced(at, 1));
    return [...shorter, ...value.flatMap((entry, at) => variants(entry).map((other) => value.with(at, other)))];
  }
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).flatMap(([name, inner]) => variants(inner).map((other) => ({ ...value, [name]: other })));
  }
  if (typeof value === 'number') {
    return [value + 1];
  }
  return [typeof value === 'boolean' ? !value : `${value}x`];
}
