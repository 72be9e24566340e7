import { Type, type Static } from 'typebox';
import { providerNames } from './providers/provider.ts';
import { providersSettingsSchema } from './providers/registry.ts';
import { retentionSchema } from './retention/retention-days.ts';

const price = Type.Number({ minimum: 0, maximum: 1_000, description: 'Per segment, in the currency of the accounts.' });

const prices = Type.Record(Type.String({ pattern: '^\\+[1-9]\\d{0,14}$' }), price, {
  default: {},
  additionalProperties: false,
  description: 'Prices by prefix of the recipient, such as "+44"; the longest that matches counts.',
});

const routeSchema = Type.Object(
  {
    id: Type.Integer({ description: 'What callers name in route_id.' }),
    name: Type.String({ minLength: 1 }),
    match: Type.Object(
      {
        prefixes: Type.Array(Type.String({ pattern: '^\\+[1-9]\\d{0,14}$' }), { default: [] }),
        senderTypes: Type.Array(
          Type.Unsafe<'alphanumeric' | 'short_code' | 'long_code'>({
            enum: ['alphanumeric', 'short_code', 'long_code'],
          }),
          { default: [] },
        ),
      },
      { additionalProperties: false, default: {} },
    ),
    providers: Type.Array(Type.String({ enum: [...providerNames] }), { minItems: 1, uniqueItems: true }),
    rates: prices,
  },
  { additionalProperties: false },
);

/** The file that `HELIOGRAPH_CONFIG` names, its keys in camel case (snake case in the file). */
export const configFileSchema = Type.Object(
  {
    publicUrl: Type.String({
      pattern: '^https?://[^/?#\\s]+(/[^?#\\s]*)?$',
      description: 'How upstream providers reach this server with their receipts.',
    }),
    providers: providersSettingsSchema,
    routes: Type.Array(routeSchema, { minItems: 1 }),
    rateCard: Type.Object({ default: price, prefixes: prices }, { additionalProperties: false }),
    dispatch: Type.Object(
      {
        onTimeout: Type.Unsafe<'next' | 'stop'>({
          enum: ['next', 'stop'],
          default: 'next',
          description:
            'After a request that was written and got no answer: on to the next provider, or fail the message.',
        }),
      },
      { additionalProperties: false, default: {} },
    ),
    retention: retentionSchema,
  },
  { additionalProperties: false },
);

export type ConfigFile = Static<typeof configFileSchema>;
