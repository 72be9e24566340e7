import fc from 'fast-check';

/** As much of JSON Schema as the documents use. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
};

/** Values that mean something here, by the name of the parameter. */
export type Hints = Readonly<Record<string, readonly unknown[]>>;

const odd = [null, '', 0, -1, 1.5, 1e308, 2 ** 53, true, [], {}, '\u0000', '\ud800', '9'.repeat(400), '__proto__'];

/** Mostly what is meant, sometimes anything that JSON can say. */
function sometimesOdd(meant: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 24, arbitrary: meant },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(...odd) },
    { weight: 1, arbitrary: fc.jsonValue({ stringUnit: 'binary' }) },
  );
}

function ofType(type: string, schema: Schema, hints: Hints): fc.Arbitrary<unknown> {
  if (type === 'object') return objectOf(schema, hints);
  if (type === 'array') {
    const items = valueOf(schema.items ?? {}, hints);
    return fc.array(items, { minLength: schema.minItems ?? 0, maxLength: Math.min(schema.maxItems ?? 4, 4) });
  }
  if (type === 'string') return fc.string({ unit: 'binary', maxLength: Math.min(schema.maxLength ?? 40, 300) });
  if (type === 'integer') return fc.integer({ min: (schema.minimum ?? -9) - 1, max: schema.maximum ?? 1_000_000 });
  if (type === 'number') return fc.double({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 1_000 });
  return type === 'boolean' ? fc.boolean() : fc.constant(null);
}

/** Values much like those the schema allows. */
function valueOf(schema: Schema, hints: Hints, name?: string): fc.Arbitrary<unknown> {
  const known = name === undefined ? undefined : hints[name];
  if (known !== undefined) return sometimesOdd(fc.constantFrom(...known));
  if (schema.enum !== undefined) return sometimesOdd(fc.constantFrom(...schema.enum));
  const types = [schema.type ?? 'string'].flat();
  return sometimesOdd(fc.oneof(...types.map((type) => ofType(type, schema, hints))));
}

function objectOf({ properties = {}, required = [] }: Schema, hints: Hints): fc.Arbitrary<object> {
  const fields = Object.entries(properties).map(([name, schema]) => [name, valueOf(schema, hints, name)] as const);
  // A required field is there most of the time.
  return fc
    .record(Object.fromEntries(fields), { requiredKeys: [] })
    .chain((given) =>
      fc.record(
        Object.fromEntries(
          fields.map(([name, value]) => [
            name,
            name in given || !required.includes(name) ? fc.constant((given as Record<string, unknown>)[name]) : value,
          ]),
        ),
      ),
    );
}

/** The text of a body: mostly an object as the schema wants it, sometimes other JSON, sometimes none. */
export function bodyOf(schema: Schema, hints: Hints): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 8, arbitrary: objectOf(schema, hints).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  );
}

/** As it is where it is text, else as JSON: an object may have a `toString` of its own. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Query parameters as text: those the operation takes, and others. */
export function queryOf(
  parameters: ReadonlyArray<{ name: string; schema: Schema }>,
  hints: Hints,
): fc.Arbitrary<string> {
  const text = (name: string, schema: Schema): fc.Arbitrary<string> =>
    fc.oneof(
      { weight: 8, arbitrary: valueOf(schema, hints, name).map(textOf) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
    );
  const fields = parameters.map(({ name, schema }) => [name, text(name, schema)] as const);
  const pairs = fc.record(Object.fromEntries([...fields, ['unknown', fc.string()]]), { requiredKeys: [] });
  return fc.oneof(
    { weight: 8, arbitrary: pairs.map((given) => new URLSearchParams(wellFormed(given)).toString()) },
    { weight: 1, arbitrary: asciiText(40) },
  );
}

function wellFormed(given: Record<string, string | undefined>): Record<string, string> {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value = '']) => [name, value.toWellFormed()]));
}

/** What may stand in a request line as it is. */
export function asciiText(maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength });
}

/** One segment of a path: an id that there is, one that there is not, or anything at all. */
export function segmentOf(ids: readonly string[]): fc.Arbitrary<string> {
  const anything = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).map((text) => text.toWellFormed());
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ids) },
    // A dot or two, and nothing else, name another path.
    { weight: 2, arbitrary: anything.filter((text) => !/^\.\.?$/.test(text)).map(encodeURIComponent) },
  );
}

/** What the value of a header may be. */
const latin1Text = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 300,
});

/** Headers beside those that carry the credential. */
export const headers: fc.Arbitrary<Record<string, string>> = fc.record(
  {
    'content-type': fc.oneof(
      { weight: 16, arbitrary: fc.constant('application/json') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          'text/plain',
          'application/json; charset=latin1',
          'multipart/form-data',
          ';;',
          '*/*',
        ),
      },
    ),
    'idempotency-key': latin1Text,
    accept: fc.constantFrom('text/html', '*/*', 'nothing/at-all'),
    'x-forwarded-for': fc.constantFrom('203.0.113.7', 'nobody', ', ,'),
    'x-request-id': latin1Text,
    'x-odd': latin1Text,
  },
  { requiredKeys: ['content-type'] },
);
