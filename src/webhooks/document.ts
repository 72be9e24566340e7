import { eventSchema } from '../events/schema.ts';

const description = `Every event is POSTed to each active endpoint whose \`events\` include its type, until it is answered with 2xx within 10 seconds: at once, then
after 30 seconds, 5 minutes, 30 minutes, 2 hours and 12 hours. The body is the same bytes at every attempt. After 25 failures in a row the
endpoint is disabled.

Verify before parsing: \`v1\` of \`Service-Signature\` is the lowercase hex HMAC-SHA-256, keyed with the endpoint's whole \`signing_secret\`,
of \`t\`, a dot and the raw body. Compare in constant time, refuse what was signed more than 5 minutes ago, and leave out an event \`id\` seen
before. The headers of [Standard Webhooks](https://www.standardwebhooks.com) come besides.`;

function header(name: string, text: string, example: string) {
  return { in: 'header', name, required: true, description: text, schema: { type: 'string' }, example };
}

/** What the service sends to the endpoints of its callers, as its OpenAPI document tells it. */
export const eventWebhooks = {
  event: {
    post: {
      operationId: 'receiveEvent',
      summary: 'An event, delivered to your endpoint',
      description,
      tags: ['webhooks'],
      security: [],
      parameters: [
        header('Service-Signature', 'Unix time and signature.', `t=1795143847,v1=${'5f8d0c2e'.repeat(8)}`),
        header('webhook-id', 'The id of the event.', 'evt_01kagq3x0kf0ztv5q2d8r1m7hc'),
        header('webhook-timestamp', 'Unix time.', '1795143847'),
        header(
          'webhook-signature',
          'HMAC-SHA-256 of id, time and body, in base64.',
          'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
        ),
      ],
      requestBody: { required: true, content: { 'application/json': { schema: eventSchema } } },
      responses: {
        '2XX': { description: 'The event is acknowledged.' },
        '4XX': { description: 'Like every other answer, and none: it is tried again later.' },
      },
    },
  },
};
