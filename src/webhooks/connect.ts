import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector } from 'undici';
import type { Resolve, TargetGuard, TargetPolicy } from './target.ts';

/** The receiver's address is one that the policy refuses. */
export class RefusedAddressError extends Error {
  override name = 'RefusedAddressError';
}

function noneWhenNotFound(error: unknown): [] {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA')) return [];
  throw error;
}

async function resolveBySystem(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true }).catch(noneWhenNotFound);
  return found.map(({ address }) => address);
}

/**
 * Resolves by DNS, without `getaddrinfo`: that one runs on a pool of four threads, where four receivers with dead name servers would
 * keep everybody else waiting. Names that only this machine knows (hosts file, search domains) are private ones, so the system is asked
 * for them only where the policy lets private addresses in.
 */
export function createResolve(policy: TargetPolicy, nameServers?: readonly string[]): Resolve {
  if (policy.allowPrivate) return resolveBySystem;
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  return async (hostname) => {
    // RFC 6761: never asked of a name server.
    if (/(^|\.)localhost\.?$/i.test(hostname)) return ['127.0.0.1', '::1'];
    const answers = await Promise.all([
      resolver.resolve4(hostname).catch(noneWhenNotFound),
      resolver.resolve6(hostname).catch(noneWhenNotFound),
    ]);
    const addresses = answers.flat();
    return addresses.length === 0 && policy.allowedNetworks.length > 0 ? resolveBySystem(hostname) : addresses;
  };
}

function createLookup({ isAllowed, resolve }: TargetGuard): LookupFunction {
  const find = async (hostname: string) => {
    const addresses = await resolve(hostname);
    // One refused address condemns the name: whoever answers for it chooses which one we would get.
    if (!addresses.every(isAllowed)) throw new RefusedAddressError(`${hostname} has a private or reserved address`);
    const [first] = addresses;
    if (first === undefined) throw new Error(`${hostname} has no address`);
    return { first, all: addresses.map((address) => ({ address, family: isIP(address) })) };
  };
  const findThenCall = callbackify(find);
  return (hostname, options, callback) => {
    findThenCall(hostname, (error, found) => {
      if (error) callback(error, '');
      else if (options.all === true) callback(null, found.all);
      else callback(null, found.first, isIP(found.first));
    });
  };
}

/**
 * Connects to receivers. The socket is given the very addresses that were checked, so a name that changes its mind between check and
 * connection gains nothing. No proxy is ever asked.
 */
export class Connector {
  readonly connect: buildConnector.connector;
  readonly #open = new Set<Socket>();

  constructor(guard: TargetGuard, timeoutMs: number) {
    const connect = buildConnector({ lookup: createLookup(guard), timeout: timeoutMs, allowH2: false });
    this.connect = (options, callback) => {
      // Sockets do not look up what is an address already.
      if (isIP(options.hostname) !== 0 && !guard.isAllowed(options.hostname)) {
        const error = new RefusedAddressError(`${options.hostname} is a private or reserved address`);
        queueMicrotask(() => callback(error, null));
        return;
      }
      connect(options, (...result) => {
        const [, socket] = result;
        if (socket) this.#open.add(socket.once('close', () => this.#open.delete(socket)));
        callback(...result);
      });
    };
  }

  /** Closes what is connected still; call it when nothing is under way. */
  close(): void {
    for (const socket of this.#open) socket.destroy();
  }
}
