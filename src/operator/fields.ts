import { Type, type TObject, type TProperties } from 'typebox';
import { ApiError } from '../lib/errors.ts';
import { fromPublicId, type IdPrefix } from '../lib/ids.ts';

/** Ids as the document shows them. */
const exampleIds: Record<IdPrefix, string> = {
  acc: 'acc_01kagnz8w2efkbd3m5x7y9t1qa',
  msg: 'msg_01kagq3v5xf7r8t2m9n4c6w0ds',
  snd: 'snd_01kagp5t9vf2bw6d0y4h8j3kqe',
  key: 'key_01kagp2m7rfh0sx4c8v6b3n5dz',
  whe: 'whe_01kagpa3c1f4dy8f2a6k0m5nsg',
  evt: 'evt_01kagq3x0kf0ztv5q2d8r1m7hc',
  req: 'req_01kagq3v5xf7r8t2m9n4c6w0dr',
};

/** An id of something. */
export const idOf = (prefix: IdPrefix, description?: string) =>
  Type.String({ description, examples: [exampleIds[prefix]] });

/** The one id in a path. */
export const idParams = (prefix: IdPrefix) => Type.Object({ id: idOf(prefix) });

/** A type array rather than a union: the serializer writes it directly instead of validating each branch. */
export const nullableString = (description?: string, example: string | null = null) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, examples: [example] });

export const nullableTime = (description?: string, example: string | null = null) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description, examples: [example] });

export const time = Type.String({ format: 'date-time', examples: ['2026-11-20T03:04:05.678+00:00'] });

/** A text as the document shows it. */
export const shown = (example: string, description?: string) => Type.String({ description, examples: [example] });

/** A number as the document shows it. */
export const shownNumber = (example: number, description?: string) => Type.Number({ description, examples: [example] });

/** One of a few words. */
export function words<Word extends string>(all: readonly Word[], description?: string, example = all[0]) {
  return Type.Unsafe<Word>({ type: 'string', enum: [...all], description, examples: [example] });
}

/** PostgreSQL's text has no NUL. */
export const text = (options: { minLength?: number; maxLength: number; description?: string }) =>
  Type.String({ pattern: '^[^\\u0000]*$', ...options });

/** The account a list is of. Without an example: the reference page would send it where the parameter may be left out. */
export const accountQuery = Type.String({ description: 'An account, `acc_…`.' });

/** A resource of some account, as the operator is shown it: it says whose it is. */
export function owned<Fields extends TProperties>(resource: TObject<Fields>, title: string) {
  const [example] = (resource as { examples?: object[] }).examples ?? [];
  const properties = { account_id: idOf('acc'), ...resource.properties };
  return Type.Object(properties, { title, examples: [{ account_id: exampleIds.acc, ...example }] });
}

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
