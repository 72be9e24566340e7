import ipaddr from 'ipaddr.js';
import { ApiError } from '../lib/errors.ts';

/** Where webhooks may be sent: to public addresses, and to what the operator allows besides. */
export type TargetPolicy = {
  allowPrivate: boolean;
  /** In CIDR form: `10.1.0.0/16`. */
  allowedNetworks: readonly string[];
};

/** The addresses of a name; none when it has none (yet). Throws when nobody could tell. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** Judges where a webhook may go: once when its endpoint is made, and again at every connection. */
export type TargetGuard = {
  allowsAnything: boolean;
  isAllowed: (address: string) => boolean;
  resolve: Resolve;
};

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** IANA has given out nothing else to the public internet (https://www.iana.org/assignments/ipv6-address-space). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** The well-known NAT64 prefix: the way of an IPv6-only network to an IPv4 address, its last four bytes (RFC 6052). */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

function isPublic(address: Address): boolean {
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  return address.range() === 'unicast' && address.match(globalUnicast);
}

/** The address that packets end up at: IPv4 behind the forms that carry it, else the address itself. */
function destinationOf(text: string): Address {
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv6 && address.match(nat64)) {
    return new ipaddr.IPv4(address.toByteArray().slice(12));
  }
  return address;
}

function parseNetwork(cidr: string): [Address, number] {
  if (!ipaddr.isValidCIDR(cidr)) {
    throw new Error(`"${cidr}" is not a network: write an address, a slash and a length, like 10.1.0.0/16`);
  }
  return ipaddr.parseCIDR(cidr);
}

/** Throws on a network that is not in CIDR form. */
export function createTargetGuard(policy: TargetPolicy, resolve: Resolve): TargetGuard {
  const networks = policy.allowedNetworks.map(parseNetwork);
  const isAllowed = (text: string) => {
    if (policy.allowPrivate) return true;
    const address = destinationOf(text);
    return (
      isPublic(address) ||
      networks.some(([network, length]) => network.kind() === address.kind() && address.match(network, length))
    );
  };
  return { allowsAnything: policy.allowPrivate, isAllowed, resolve };
}

/** The host of a URL as resolvers and sockets know it: no brackets around IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function refuse(message: string): never {
  throw new ApiError('invalid_request', message, { param: 'url' });
}

/**
 * Checks the URL of a new endpoint. A name that does not resolve (yet) is accepted: every connection is checked again.
 * Throws a 400 that never says which address a name stands for.
 */
export async function checkTarget(text: string, guard: TargetGuard): Promise<void> {
  const url = URL.canParse(text) ? new URL(text) : refuse('The parameter url must be an absolute URL.');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    refuse('The parameter url must start with https:// or http://.');
  }
  // What browsers read as a URL besides: blanks around it, line feeds in it, backslashes for slashes, slashes left out.
  if (!/^https?:\/\/[^\s\\/][^\s\\]*$/i.test(text)) {
    refuse('The parameter url must be https:// or http://, a host and a path, without blanks and backslashes.');
  }
  if (url.username !== '' || url.password !== '') {
    refuse('The parameter url must not contain credentials: verify the signature of each event instead.');
  }
  if (guard.allowsAnything) return;
  const host = hostOf(url);
  const addresses = ipaddr.isValid(host) ? [host] : await guard.resolve(host).catch(() => []);
  if (!addresses.every(guard.isAllowed)) {
    refuse('The parameter url must name a host on the public internet; this one has a private or reserved address.');
  }
}
