import type { InfobipSettings } from '../../src/providers/infobip.ts';
import { messageWith } from './cases.ts';

export const infobipSettings: InfobipSettings = {
  baseUrl: 'https://api.infobip.com',
  apiKey: 'a-key-of-the-api',
  deliveredToOperatorIsDelivered: true,
  timeoutMs: 1_000,
};

export type Group = 'ACCEPTED' | 'PENDING' | 'UNDELIVERABLE' | 'DELIVERED' | 'EXPIRED' | 'REJECTED';

const groupIds: Record<Group, number> = {
  ACCEPTED: 0,
  PENDING: 1,
  UNDELIVERABLE: 2,
  DELIVERED: 3,
  EXPIRED: 4,
  REJECTED: 5,
};

/** A status as Infobip writes it, with a name and a text made of its id. */
export function statusOf(groupName: Group, id: number) {
  const name = `${groupName}_${id}`;
  return { groupId: groupIds[groupName], groupName, id, name, description: `what Infobip says about ${name}` };
}

/** Our reference, which Infobip echoes. */
export const ref = messageWith().ref;

/** The id that Infobip is given: the first half of the reference's SHA-256. */
export const messageId = 'fk4-yGe0DoY0ZR327QorEQ';

export const noError = {
  groupId: 0,
  groupName: 'OK',
  id: 0,
  name: 'NO_ERROR',
  description: 'No Error',
  permanent: false,
};

export function errorOf(id: number) {
  const name = `EC_${id}`;
  return { groupId: 1, groupName: 'HANDSET_ERRORS', id, name, description: `why ${name}`, permanent: true };
}

/** One report of a call. */
export function reportOf(status: object, error: object | undefined = noError, extras: object = {}) {
  return {
    bulkId: '2034072219640523072',
    messageId,
    to: '447700900123',
    sender: 'HELIO',
    sentAt: '2026-11-20T09:00:00.000+0100',
    doneAt: '2026-11-20T09:00:01.000+0100',
    messageCount: 1,
    mccMnc: '23410',
    callbackData: ref,
    price: { pricePerMessage: 0.01, currency: 'EUR' },
    status,
    error,
    ...extras,
  };
}

export function results(...reports: unknown[]): string {
  return JSON.stringify({ results: reports });
}
