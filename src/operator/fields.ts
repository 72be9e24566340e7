import { Type } from 'typebox';
import { ApiError } from '../lib/errors.ts';
import { fromPublicId, type IdPrefix } from '../lib/ids.ts';

/** A type array rather than a union: the serializer writes it directly instead of validating each branch. */
export const nullableString = (description?: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description });

export const nullableTime = (description?: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });

export const time = Type.String({ format: 'date-time' });

/** One of a few words. */
export function words<Word extends string>(all: readonly Word[], description?: string) {
  return Type.Unsafe<Word>({ type: 'string', enum: [...all], description });
}

/** PostgreSQL's text has no NUL. */
export const text = (options: { minLength?: number; maxLength: number; description?: string }) =>
  Type.String({ pattern: '^[^\\u0000]*$', ...options });

export const idParams = Type.Object({ id: Type.String() });

/** The account a list is of. */
export const accountQuery = Type.String({ description: 'An account, `acc_…`.' });

/** The UUID of an id given as a parameter. Throws `invalid_request` naming the parameter. */
export function readId(prefix: IdPrefix, id: string, param: string): string {
  const uuid = fromPublicId(prefix, id);
  if (uuid !== undefined) return uuid;
  throw new ApiError('invalid_request', `The parameter ${param} must be an id that begins with ${prefix}_.`, { param });
}

/** The same where the parameter may be left out. */
export function readOptionalId(prefix: IdPrefix, id: string | undefined, param: string): string | null {
  return id === undefined ? null : readId(prefix, id, param);
}
