import { Type } from 'typebox';

/** Settings every HTTP adapter has, for the composed schema of the configuration. */
export function baseUrlSchema(defaultUrl: string, note = '') {
  return Type.String({
    pattern: '^https?://[^/?#\\s]+(/[^?#\\s]*)?$',
    default: defaultUrl,
    description: `Where the API answers: scheme, host and optional path prefix. ${note}`.trimEnd(),
  });
}

export const timeoutMsSchema = Type.Integer({
  minimum: 1,
  maximum: 60_000,
  default: 10_000,
  description: 'Time for one attempt, from waiting for a connection to the last byte of the answer.',
});
