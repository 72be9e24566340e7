import type { TSchema } from 'typebox';
import { configFileSchema } from '../src/config-file.ts';

type Described = TSchema & {
  type?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  properties?: Record<string, Described>;
  required?: string[];
  patternProperties?: Record<string, Described>;
};

const opening = `# Heliograph's configuration: providers, routes, prices. Name this file in HELIOGRAPH_CONFIG.
# Every setting stands here with its default; what is commented out is optional. \${NAME} takes a value from the environment.
# A wrong or unknown setting is refused at the start, with its place and the reason.
`;

const snake = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Lists and prices have no default that would show their form. */
const samples: Record<string, string> = {
  public_url: 'https://sms.example.com',
  routes: `
  # The most specific match wins: the longest prefix, then a named sender type. The chain is tried in order.
  - id: 1                        # what callers name in route_id
    name: world
    match: { prefixes: [], sender_types: [] }   # none: any. sender_types: alphanumeric, short_code, long_code
    providers: [twilio, vonage]
    rates: {}                    # prices of this route's own, by prefix
  - { id: 2, name: uk, match: { prefixes: ["+44"] }, providers: [vonage, twilio], rates: { "+44": 0.035 } }`,
  rate_card: `
  # Per segment, in the currency of the accounts; the longest prefix that matches counts.
  default: 0.02
  prefixes: { "+1": 0.0079, "+44": 0.04 }`,
};

function wrap(text: string, indent: string): string {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    if (`${lines.at(-1)} ${word}`.length + indent.length > 116) lines.push('');
    lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
  }
  return lines.map((line) => `${indent}# ${line}\n`).join('');
}

function scalar(value: unknown): string {
  return typeof value === 'string' && value !== '' && !/[:#{}[\]]/.test(value) ? value : JSON.stringify(value);
}

function render(name: string, own: Described, isRequired: boolean, place: string[], defaults: unknown): string {
  // A setting without a default of its own may have one in the default of what it is part of.
  const schema = { default: (defaults as Record<string, unknown> | undefined)?.[name], ...own };
  const key = snake(name);
  const indent = '  '.repeat(place.length);
  const about = schema.description === undefined ? '' : wrap(schema.description, indent);
  const sample = place.length === 0 ? samples[key] : undefined;
  if (sample !== undefined) return `\n${about}${key}:${sample.startsWith('\n') ? '' : ' '}${sample}\n`;
  if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) {
    const isOff = !isRequired && place.length > 1 && schema.default === undefined;
    const body = renderAll(schema, [...place, key]);
    const text = `${indent}${key}:\n${body}`;
    return `${place.length < 2 ? '\n' : ''}${about}${isOff ? commentOut(text) : text}`;
  }
  const hasDefault = schema.default !== undefined;
  const isNumber = schema.type === 'number' || schema.type === 'integer';
  const variable = `"\${${[...place.slice(1), key].join('_').toUpperCase()}}"`;
  const value = hasDefault ? scalar(schema.default) : isNumber ? '100' : variable;
  const line = `${indent}${key}: ${schema.enum === undefined ? value : `${value}   # or ${others(schema)}`}\n`;
  return `${about}${isRequired || hasDefault ? line : commentOut(line)}`;
}

function others({ enum: values = [], default: standard }: Described): string {
  return values.filter((value) => value !== standard).join(', ');
}

function commentOut(text: string): string {
  return text
    .split('\n')
    .map((line) => (line.trim() === '' || line.trim().startsWith('#') ? line : line.replace(/^(\s*)/, '$1# ')))
    .join('\n');
}

function renderAll(schema: Described, place: string[]): string {
  return Object.entries(schema.properties ?? {})
    .map(([name, inner]) => render(name, inner, schema.required?.includes(name) ?? false, place, schema.default))
    .join('');
}

/** `heliograph.example.yaml`, made from the schema that checks the configuration. */
export function renderConfigExample(): string {
  return opening + renderAll(configFileSchema, []);
}
