/** A JSON object as it came, before it is known to hold what it should. */
export type Fields = Readonly<Record<string, unknown>>;

/** What one field must be; an upstream adds how it words that it is not. */
export type Rule = {
  readonly name: string;
  readonly required?: boolean;
  readonly holds: (value: unknown) => boolean;
};

/** `undefined` for what is no JSON object. */
export function parseFields(body: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A rule that does not hold; `missing` where the field is not there at all. */
export type Breach<OwnRule extends Rule> = { readonly rule: OwnRule; readonly missing: boolean };

/** What is wrong, in the order of the rules. */
export function findBreaches<OwnRule extends Rule>(rules: readonly OwnRule[], fields: Fields): Breach<OwnRule>[] {
  const breaches: Breach<OwnRule>[] = [];
  for (const rule of rules) {
    const value = fields[rule.name];
    const missing = value === undefined;
    if (missing ? rule.required === true : !rule.holds(value)) breaches.push({ rule, missing });
  }
  return breaches;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isText(value: unknown, lengthMax: number): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= lengthMax;
}

export function isHttpUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);
}

export function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

export function isWholeNumber(min: number, max: number): (value: unknown) => boolean {
  return (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

export function matches(pattern: RegExp): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && pattern.test(value);
}

export function isOneOf(...allowed: readonly unknown[]): (value: unknown) => boolean {
  return (value) => allowed.includes(value);
}

export function optionalString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function asObject(value: unknown): Fields | undefined {
  return isObject(value) ? value : undefined;
}

/** The only item of an array; `undefined` for any other length, and for what is no array. */
export function onlyItem(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : undefined;
}
