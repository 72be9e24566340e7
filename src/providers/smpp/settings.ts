import { Type, type Static, type TObject } from 'typebox';
import { timeoutMsSchema } from '../settings.ts';

function addressKind(ton: number, npi: number, whose: string): TObject<{ ton: typeof octet; npi: typeof octet }> {
  return Type.Object(
    { ton: octet, npi: octet },
    {
      additionalProperties: false,
      default: { ton, npi },
      description: `Type of number and numbering plan of ${whose}.`,
    },
  );
}

const octet = Type.Integer({ minimum: 0, maximum: 255 });

/** One bind: an account at one carrier. Carriers differ in all of this; the defaults are what most of them expect. */
export const smppSettingsSchema = Type.Object(
  {
    host: Type.String({ minLength: 1, description: 'Host name or address of the carrier.' }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: 2775, description: 'Often 2775, with TLS 3550.' }),
    tls: Type.Optional(
      Type.Object(
        {
          ca: Type.Optional(
            Type.String({
              minLength: 1,
              description: "PEM certificates that sign the carrier's, where no public authority does.",
            }),
          ),
          serverName: Type.Optional(
            Type.String({
              minLength: 1,
              description: "The name in the carrier's certificate, where it is not `host`.",
            }),
          ),
        },
        {
          additionalProperties: false,
          description: "Speaks TLS and verifies the carrier's certificate. Without it the password travels in clear.",
        },
      ),
    ),
    systemId: Type.String({ minLength: 1, maxLength: 15, description: 'Name of the account at the carrier.' }),
    password: Type.String({ maxLength: 64, description: 'SMPP 3.4 allows 8 characters; some carriers give more.' }),
    systemType: Type.String({ maxLength: 12, default: '', description: 'Only where the carrier names one.' }),
    serviceType: Type.String({ maxLength: 5, default: '', description: 'Only where the carrier names one.' }),
    mode: Type.Enum(['trx', 'tx+rx'], {
      default: 'trx',
      description: 'One transceiver per session, or a transmitter and a receiver.',
    }),
    sessions: Type.Integer({ minimum: 1, maximum: 32, default: 1, description: 'Sessions to keep bound at a time.' }),
    window: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 10,
      description: 'Messages a session may have unanswered.',
    }),
    ratePerSecond: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 10_000,
        description:
          'Message parts a second over all sessions, as the contract with the carrier says. No limit if omitted.',
      }),
    ),
    waitingMax: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 1_000,
      description: 'Parts that may wait for their turn. Further ones go to the next provider.',
    }),
    waitTimeoutMs: Type.Integer({
      minimum: 1,
      maximum: 60_000,
      default: 2_000,
      description:
        'The longest a part waits for its turn (rate, window, a pause the carrier asked for, a bind under way).',
    }),
    timeoutMs: timeoutMsSchema,
    responseTimeoutMs: Type.Integer({
      minimum: 1_000,
      maximum: 120_000,
      default: 30_000,
      description: 'How long an unanswered part keeps its place in the window.',
    }),
    enquireLinkMs: Type.Integer({
      minimum: 1_000,
      maximum: 600_000,
      default: 30_000,
      description: 'Silence after which the carrier is asked whether it is still there.',
    }),
    addresses: Type.Object(
      {
        alphanumeric: addressKind(5, 0, 'alphanumeric senders'),
        shortCode: addressKind(3, 0, 'short codes; some carriers want 0/0, 0/1 or 6/0'),
        longCode: addressKind(1, 1, 'long numbers as senders'),
        destination: addressKind(1, 1, 'recipients'),
      },
      { additionalProperties: false, default: {}, description: 'How numbers are marked.' },
    ),
    concat: Type.Enum(['udh', 'sar', 'payload'], {
      default: 'udh',
      description:
        'Long texts: parts with a user data header, parts with SAR parameters, or one message_payload that the carrier divides.',
    }),
    defaultAlphabet: Type.Enum(['gsm', 'latin1', 'ascii'], {
      default: 'gsm',
      description:
        'What data_coding 0 means at this carrier: GSM 03.38 (unpacked), Latin-1 or ASCII. A text it lacks goes as UCS-2.',
    }),
    validitySeconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 2_591_999,
        description: "How long the carrier tries to deliver, at most 30 days. The carrier's own default if omitted.",
      }),
    ),
    messageIdFormat: Type.Enum(['auto', 'as-is', 'resp-hex-dlr-dec', 'resp-dec-dlr-hex', 'both-hex'], {
      default: 'auto',
      description:
        'How ids in receipts are spelled, compared with those in answers. `auto` tries the id as it is and then its usual spellings.',
    }),
    statusClasses: Type.Record(
      Type.String({ pattern: '^(0x[0-9A-Fa-f]{1,8}|[0-9]{1,10})$' }),
      Type.Enum([
        'invalid_recipient',
        'invalid_sender',
        'invalid_content',
        'blocked',
        'opt_out',
        'billing',
        'throttled',
        'unavailable',
        'credentials',
      ]),
      {
        additionalProperties: false,
        default: {},
        description:
          "What the carrier's own command statuses mean (`0x40B: billing`); also overrides those of SMPP itself. The carrier's manual lists them.",
      },
    ),
    optOutCodes: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'Values of `err:` in receipts that say the recipient opted out, in quotes.',
    }),
    acceptedIsDelivered: Type.Boolean({
      default: false,
      description: 'The carrier sends ACCEPTD as its last receipt of a delivered message.',
    }),
  },
  { additionalProperties: false, description: 'A carrier bind over SMPP 3.4.' },
);

export type SmppSettings = Static<typeof smppSettingsSchema>;
