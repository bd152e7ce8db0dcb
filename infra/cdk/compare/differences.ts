// The differences of two templates, by resource and property.
import { type Json, type Members, type Template, normal, resource } from './normal.ts';

export interface Difference {
  // The logical id, or the section with the name in it.
  resource: string;
  // AWS::Lambda::Function; or the section.
  type: string;
  // Tags.cairn:system.Value
  property: string;
  sam: Json | undefined;
  cdk: Json | undefined;
}

// A property that may differ, and everything below it.
export interface Ignored {
  type: string;
  property: string;
  reason: string;
}

// Differences that are not listed as allowed, and listed ones that do not occur.
export interface Findings {
  differences: Difference[];
  stale: Ignored[];
}

const SECTIONS = ['Parameters', 'Conditions', 'Mappings', 'Outputs'] as const;

// By stack name, the templates of SAM and of CDK.
export function compare(stacks: Record<string, [sam: Template, cdk: Template]>, ignored: Ignored[]): Findings {
  const all = Object.entries(stacks).flatMap(([stack, [sam, cdk]]) =>
    templates(sam, cdk).map((difference) => ({ ...difference, resource: `${stack}: ${difference.resource}` })),
  );
  return {
    differences: all.filter((difference) => !ignored.some((may) => covers(may, difference))),
    stale: ignored.filter((may) => !all.some((difference) => covers(may, difference))),
  };
}

export function covers({ type, property }: Ignored, difference: Difference): boolean {
  return type === difference.type && `${difference.property}.`.startsWith(`${property}.`);
}

function templates(sam: Template, cdk: Template): Difference[] {
  const resources = both(sam.Resources, cdk.Resources).flatMap((name) =>
    ofResource(name, sam.Resources[name], cdk.Resources[name]),
  );
  const sections = SECTIONS.flatMap((section) => {
    const [one, other] = [sam[section] ?? {}, cdk[section] ?? {}];
    return both(one, other).flatMap((name) => {
      const found: Difference = { resource: `${section} ${name}`, type: section, property: '', sam: undefined, cdk: undefined };
      return values(found, optional(one[name]), optional(other[name]));
    });
  });
  return [...resources, ...sections];
}

// The differences of one resource.
export function ofResource(name: string, sam: Json | undefined, cdk: Json | undefined): Difference[] {
  const type = (sam ?? cdk) as { Type?: string };
  const found: Difference = { resource: name, type: type.Type ?? '', property: '', sam: undefined, cdk: undefined };
  const [one, other] = [sam, cdk].map((side) => (side === undefined ? undefined : resource(side)));
  return values(found, one, other).map((difference) => ({
    ...difference,
    property: difference.property.replace(/^Properties\./, ''),
  }));
}

function optional(value: Json | undefined): Json | undefined {
  return value === undefined ? undefined : normal(value, '');
}

function values(found: Difference, sam: Json | undefined, cdk: Json | undefined): Difference[] {
  if (members(sam) && members(cdk) && Array.isArray(sam) === Array.isArray(cdk)) {
    return both(sam, cdk).flatMap((name) => {
      const property = found.property === '' ? name : `${found.property}.${name}`;
      return values({ ...found, property }, sam[name], cdk[name]);
    });
  }
  return JSON.stringify(sam) === JSON.stringify(cdk) ? [] : [{ ...found, sam, cdk }];
}

function members(value: Json | undefined): value is Members {
  return value !== null && typeof value === 'object';
}

function both(one: Members, other: Members): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}
