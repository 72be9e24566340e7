import { ApiError } from '../lib/errors.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Provider, ProviderName } from '../providers/provider.ts';
import type { IsApprovedSender } from '../senders/approved.ts';
import { senderFormOf, type SenderForm } from '../senders/sender-form.ts';
import type { Draft, Fault } from './draft.ts';
import { pricePerSegment, type RateCard } from './price.ts';
import { isRecipient } from './recipient.ts';
import { chainOf, matchRoute, type Route } from './route.ts';
import { bodyLengthMax } from './schema.ts';
import { segment } from './segments.ts';

/** What send and bulk have in common. */
export type Content = {
  from: string;
  body: string;
  routeId: number | null;
  provider: ProviderName | null;
  reference: string | null;
};

export type ComposeDeps = {
  ids: IdSource;
  routes: readonly Route[];
  rateCard: RateCard;
  providers: ReadonlyMap<ProviderName, Provider>;
  isApprovedSender: IsApprovedSender;
};

/** PostgreSQL's text holds no NUL, and a lone surrogate is no character at all. */
function checkText(text: string, param: string): void {
  if (!text.isWellFormed()) {
    throw new ApiError('invalid_request', `The ${param} has half of a surrogate pair. Send well-formed Unicode.`, {
      param,
    });
  }
  if (text.includes('\0')) {
    throw new ApiError('invalid_request', `The ${param} has a NUL character, which no SMS can carry.`, { param });
  }
}

/**
 * Checks what all recipients share and turns each into a draft with its route, segments and price. Throws what makes the whole call invalid; a
 * recipient's own fault stays on its draft.
 */
export async function compose(
  accountId: string,
  recipients: readonly string[],
  content: Content,
  deps: ComposeDeps,
): Promise<Draft[]> {
  const { from, body, reference } = content;
  checkText(body, 'body');
  if (reference !== null) checkText(reference, 'reference');
  if (body.length > bodyLengthMax) {
    throw new ApiError('invalid_request', `The body has ${body.length} characters; at most 1,600 can be sent.`, {
      param: 'body',
    });
  }
  const senderForm = senderFormOf(from);
  if (senderForm === undefined) {
    throw new ApiError(
      'invalid_sender',
      'The sender must be 1 to 11 letters, digits or spaces with at least one letter, or a numeric long or short code.',
      { param: 'from' },
    );
  }
  if (!(await deps.isApprovedSender(accountId, from))) {
    throw new ApiError('sender_not_approved', `"${from}" is not an approved sender of this account.`, {
      param: 'from',
    });
  }
  const forcedRoute = findForcedRoute(content.routeId, deps.routes);
  checkProvider(content.provider, deps.providers);
  const { segments } = segment(body);
  return recipients.map((recipient) => {
    const judged = judge(recipient, forcedRoute, senderForm, deps.routes);
    const base = { id: deps.ids.next(), recipient, sender: from, body, reference, segments };
    if ('fault' in judged) {
      // For its owner to recognize; as much of it as PostgreSQL's text can hold.
      const shown = recipient.replaceAll('\0', '').slice(0, 64).toWellFormed();
      return { ...base, recipient: shown, costMicros: 0, routeId: null, providers: [], fault: judged.fault };
    }
    const { route } = judged;
    return {
      ...base,
      costMicros: segments * pricePerSegment(recipient, deps.rateCard, route.rates),
      routeId: route.id,
      providers: chainOf(route, content.provider ?? undefined),
      fault: null,
    };
  });
}

function judge(
  recipient: string,
  forcedRoute: Route | undefined,
  senderForm: SenderForm,
  routes: readonly Route[],
): { route: Route } | { fault: Fault } {
  if (!isRecipient(recipient)) {
    return {
      fault: {
        code: 'invalid_recipient',
        message:
          'The recipient must be in E.164 form: a plus sign, the country code and the number, such as +14155550123.',
      },
    };
  }
  const route = forcedRoute ?? matchRoute(routes, recipient, senderForm);
  if (route === undefined) {
    return { fault: { code: 'invalid_recipient', message: 'No route of this service leads to this recipient.' } };
  }
  return { route };
}

function findForcedRoute(routeId: number | null, routes: readonly Route[]): Route | undefined {
  if (routeId === null) return undefined;
  const route = routes.find(({ id }) => id === routeId);
  if (route !== undefined) return route;
  throw new ApiError('invalid_request', `There is no route ${routeId}. Omit route_id to let the service choose.`, {
    param: 'route_id',
  });
}

function checkProvider(provider: ProviderName | null, providers: ReadonlyMap<ProviderName, Provider>): void {
  if (provider === null || providers.has(provider)) return;
  throw new ApiError(
    'invalid_request',
    `The provider ${provider} is not configured here. Configured: ${[...providers.keys()].join(', ')}.`,
    { param: 'provider' },
  );
}
