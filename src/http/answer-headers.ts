type Header = { description: string; schema: { type: 'string' | 'integer'; example: string | number } };

const ofAll: Record<string, Header> = {
  'X-Request-Id': {
    description: 'Equals `meta.request_id`.',
    schema: { type: 'string', example: 'req_01kagq3v5xf7r8t2m9n4c6w0dr' },
  },
};

/** What answers to a valid key carry. */
const ofKeys: Record<string, Header> = {
  'X-RateLimit-Limit': {
    description: 'Requests the key may make in a minute.',
    schema: { type: 'integer', example: 600 },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests it has left in this minute.',
    schema: { type: 'integer', example: 599 },
  },
  'X-RateLimit-Reset': {
    description: 'When the minute ends, in Unix seconds.',
    schema: { type: 'integer', example: 1_795_143_900 },
  },
};

const ofLimits: Record<string, Header> = {
  'Retry-After': { description: 'Seconds until the limit allows more.', schema: { type: 'integer', example: 12 } },
};

const ofReplays: Record<string, Header> = {
  'Idempotent-Replayed': {
    description: '`true` where this is the stored answer to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', example: 'true' },
  },
};

/** Headers of answers, once for the whole document. */
export function headerComponents(isPublic: boolean): Record<string, Header> {
  return isPublic ? { ...ofAll, ...ofKeys, ...ofLimits, ...ofReplays } : ofAll;
}

type Operation = {
  parameters?: Array<{ in: string; name: string }>;
  responses: Record<string, { headers?: Record<string, { $ref: string }> }>;
};

/** Names, for each answer of a document, the headers it comes with. */
export function addHeaders({ paths }: { paths?: unknown }, isPublic: boolean): void {
  const operations = Object.values((paths ?? {}) as Record<string, Record<string, Operation>>).flatMap((methods) =>
    Object.values(methods),
  );
  for (const { parameters = [], responses } of operations) {
    const mayReplay = isPublic && parameters.some(({ name }) => name === 'idempotency-key');
    for (const [status, response] of Object.entries(responses)) {
      const headers = {
        ...ofAll,
        ...(isPublic && status !== '401' ? ofKeys : {}),
        ...(status === '429' ? ofLimits : {}),
        ...(mayReplay && !['401', '403', '429'].includes(status) ? ofReplays : {}),
      };
      response.headers = Object.fromEntries(
        Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
      );
    }
  }
}
