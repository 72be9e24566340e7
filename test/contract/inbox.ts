import { until } from '../helpers/until.ts';
import { Receiver, type Answer, type Received } from '../webhooks/receiver.ts';
import { api, served } from './client.ts';
import type { CreatedWebhookEndpoint, Event } from './resources.ts';

export type Delivery = Received & { event: Event; atMs: number };

/**
 * A webhook endpoint of the account with a receiver behind it. Every test of the run sends from one account, so an inbox gets the events of
 * them all; each test asks for those of its own messages.
 */
export class Inbox implements AsyncDisposable {
  readonly endpoint: CreatedWebhookEndpoint;
  readonly #receiver: Receiver;
  readonly #deliveries: Delivery[];

  private constructor(endpoint: CreatedWebhookEndpoint, receiver: Receiver, deliveries: Delivery[]) {
    this.endpoint = endpoint;
    this.#receiver = receiver;
    this.#deliveries = deliveries;
  }

  /** `answer` is what the receiver does; it acknowledges unless told otherwise. */
  static async open(fields: Record<string, unknown> = {}, answer?: (delivery: Delivery) => Answer): Promise<Inbox> {
    const deliveries: Delivery[] = [];
    const receiver = await Receiver.start((request, response) => {
      const delivery = { ...request, event: JSON.parse(request.body) as Event, atMs: Date.now() };
      deliveries.push(delivery);
      if (answer === undefined) response.writeHead(204).end();
      else answer(delivery)(request, response);
    });
    const endpoint = await api.get('POST /webhooks/create', { json: { url: receiver.url, ...fields } });
    return new Inbox(endpoint, receiver, deliveries);
  }

  /** What came about one message so far. */
  about(messageId: string): Delivery[] {
    const deliveries = this.#deliveries.filter(({ event }) => event.data.id === messageId);
    for (const { event } of deliveries) served.expectComponent('Event', event);
    return deliveries;
  }

  /** The first delivery of an event of a message, as soon as it is there. */
  delivery(messageId: string, type: string, withinMs?: number): Promise<Delivery> {
    return until(
      `${type} of ${messageId} is delivered`,
      () => this.about(messageId).find(({ event }) => event.type === type),
      withinMs,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await api.call('DELETE /webhooks/{id}', { id: this.endpoint.id });
    await this.#receiver.stop();
  }
}
