/** What no upstream should write where something else belongs: a text that no database holds, an object that has no text form. */
const odd: readonly unknown[] = [
  null,
  true,
  7,
  -1.5,
  '',
  '__proto__',
  [],
  [null],
  {},
  { toString: null, valueOf: null },
];

/** Every text that is `json` with one value in it, however deep, replaced by something odd; none where it is not JSON. */
export function withOddities(json: string): string[] {
  try {
    return variantsOf(JSON.parse(json)).map((variant) => JSON.stringify(variant));
  } catch {
    return [];
  }
}

function variantsOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [...odd];
  const deeper = Object.entries(value).flatMap(([name, inner]) =>
    variantsOf(inner).map((variant) =>
      Array.isArray(value) ? value.with(Number(name), variant) : { ...value, [name]: variant },
    ),
  );
  return [...odd, ...deeper];
}

/** Whether a text with a NUL is anywhere in `value`. */
export function holdsNul(value: unknown): boolean {
  return JSON.stringify(value).includes('\\u0000');
}
