type Schema = {
  examples?: unknown[];
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
};

const byType: Record<string, unknown> = { boolean: true, integer: 0, number: 0, string: 'text', null: null };

/** A value a schema allows, put together from the examples of its parts. */
export function exampleOf(schema: Schema): unknown {
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.properties !== undefined) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, inner]) => [name, exampleOf(inner)]));
  }
  if (schema.items !== undefined) return [exampleOf(schema.items)];
  return byType[[schema.type ?? 'null'].flat()[0] ?? 'null'];
}
