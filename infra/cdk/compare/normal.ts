// The normal form of templates: equal for what SAM makes of infra/{system}.yaml and what CDK makes of this app.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Members = { [name: string]: Json };

export interface Template {
  Parameters?: Members;
  Conditions?: Members;
  Mappings?: Members;
  Resources: Members;
  Outputs?: Members;
}

// Lists without an order become objects, keyed by the first of these members that all entries have.
const NAMING = ['Sid', 'Key', 'PolicyName', 'IndexName', 'AttributeName', 'Name'];

// A resource without the members that only tools read.
export function resource(resource: Json): Json {
  const { Metadata: _, ...told } = resource as Members;
  return normal(told, '');
}

export function normal(value: Json, name: string): Json {
  if (typeof value === 'string') {
    return isJson(name, value) ? parsed(value) : escaped(value);
  }
  if (value === null || typeof value !== 'object') {
    return value;
  }
  const text = asText(value);
  if (text !== undefined) {
    return isJson(name, text) ? parsed(text) : text;
  }
  if (Array.isArray(value)) {
    return list(value.map((entry) => normal(entry, '')), name);
  }
  const members = Object.entries(value).map(([member, inner]) => [member, normal(inner, member)] as const);
  return Object.fromEntries(members);
}

// References and joined texts become one text in the form of Fn::Sub.
function asText(value: Json): string | undefined {
  if (typeof value === 'string') {
    return escaped(value);
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value) || Object.keys(value).length !== 1) {
    return undefined;
  }
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Sub': sub, 'Fn::Join': join } = value;
  if (typeof Ref === 'string') {
    return `\${${Ref}}`;
  }
  if (attribute !== undefined) {
    return `\${${Array.isArray(attribute) ? attribute.join('.') : attribute}}`;
  }
  if (typeof sub === 'string') {
    return sub;
  }
  const [between, parts] = Array.isArray(join) ? join : [];
  if (between !== '' || !Array.isArray(parts)) {
    return undefined;
  }
  const texts = parts.map(asText);
  return texts.every((text) => text !== undefined) ? texts.join('') : undefined;
}

// Escapes a text outside Fn::Sub, where `${Name}` is no reference.
function escaped(text: string): string {
  return text.replaceAll('${', '${!');
}

// Properties with JSON as text, whose members have no order.
function isJson(name: string, text: string): boolean {
  return ['DashboardBody', 'PolicyDocument', 'Format'].includes(name) && text.startsWith('{');
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function list(entries: Json[], name: string): Json {
  if (name === 'Action' || name === 'Resource') {
    return entries.length === 1 ? entries[0]! : entries.toSorted();
  }
  if (name === 'DependsOn') {
    return entries.toSorted();
  }
  const naming = NAMING.find((naming) => entries.length > 0 && entries.every((entry) => typeof at(entry, naming) === 'string'));
  if (naming === undefined || name === 'KeySchema') {
    return entries;
  }
  const named = entries.map((entry) => [at(entry, naming) as string, entry] as const);
  return new Set(named.map(([name]) => name)).size === entries.length ? Object.fromEntries(named) : entries;
}

function at(value: Json, member: string): Json | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value[member] : undefined;
}
