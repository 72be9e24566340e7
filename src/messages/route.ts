import type { ProviderName } from '../providers/provider.ts';
import type { SenderForm } from '../senders/sender-form.ts';

/** An ordered chain of providers for the messages it matches. */
export type Route = {
  id: number;
  name: string;
  /** Recipient prefixes (`+44`), empty for any; sender forms, empty for any. */
  match: { prefixes: readonly string[]; senderTypes: readonly SenderForm[] };
  providers: readonly ProviderName[];
  rates: ReadonlyMap<string, number>;
};

/** How specific a match is; undefined where the route does not match. A longer prefix outweighs a named sender type. */
function specificity(route: Route, recipient: string, senderForm: SenderForm): number | undefined {
  const { prefixes, senderTypes } = route.match;
  if (senderTypes.length > 0 && !senderTypes.includes(senderForm)) return undefined;
  const bySender = senderTypes.length > 0 ? 1 : 0;
  if (prefixes.length === 0) return bySender;
  const lengths = prefixes.filter((prefix) => recipient.startsWith(prefix)).map((prefix) => prefix.length);
  return lengths.length === 0 ? undefined : Math.max(...lengths) * 2 + bySender;
}

/** The most specific route that matches; among equals the one configured first. Undefined where none matches. */
export function matchRoute(routes: readonly Route[], recipient: string, senderForm: SenderForm): Route | undefined {
  let best: { route: Route; score: number } | undefined;
  for (const route of routes) {
    const score = specificity(route, recipient, senderForm);
    if (score !== undefined && (best === undefined || score > best.score)) best = { route, score };
  }
  return best?.route;
}

/** The chain to try, in order: the caller's preferred provider first, then the route's (spec: What the service does, 3). */
export function chainOf(route: Route, preferred: ProviderName | undefined): ProviderName[] {
  if (preferred === undefined) return [...route.providers];
  return [preferred, ...route.providers.filter((provider) => provider !== preferred)];
}
