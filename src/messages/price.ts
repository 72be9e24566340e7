/** Prices per segment in micro-units of the account's currency, by prefix of the recipient (`+44` → 40000). */
export type RateCard = { defaultMicros: number; byPrefix: ReadonlyMap<string, number> };

/** The longest matching prefix wins; undefined where none matches. */
function longestMatch(byPrefix: ReadonlyMap<string, number>, recipient: string): number | undefined {
  if (byPrefix.size === 0) return undefined;
  for (let length = recipient.length; length > 0; length -= 1) {
    const price = byPrefix.get(recipient.slice(0, length));
    if (price !== undefined) return price;
  }
  return undefined;
}

/** Price of one segment to `recipient`: the route's own rate where it has one, else the rate card's. */
export function pricePerSegment(
  recipient: string,
  rateCard: RateCard,
  routeRates: ReadonlyMap<string, number> = new Map(),
): number {
  return longestMatch(routeRates, recipient) ?? longestMatch(rateCard.byPrefix, recipient) ?? rateCard.defaultMicros;
}
