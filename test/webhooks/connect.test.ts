import { hostname } from 'node:os';
import { Pool } from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Connector, createResolve } from '../../src/webhooks/connect.ts';
import { post, type PostOutcome } from '../../src/webhooks/post.ts';
import { createTargetGuard, type TargetGuard, type TargetPolicy } from '../../src/webhooks/target.ts';
import { NameServer } from './name-server.ts';
import { Receiver } from './receiver.ts';

const strict: TargetPolicy = { allowPrivate: false, allowedNetworks: [] };
const loopbackOnly: TargetPolicy = { allowPrivate: false, allowedNetworks: ['127.0.0.1/32'] };

const openPolicy: TargetPolicy = { allowPrivate: true, allowedNetworks: [] };

/** Most machines know their own name without a name server. */
const ownAddresses = hostname() === 'localhost' ? [] : await createResolve(openPolicy)(hostname()).catch(() => []);

let receiver: Receiver;
let nameServer: NameServer;

beforeEach(async () => {
  receiver = await Receiver.start();
  nameServer = await NameServer.start();
});

afterEach(async () => {
  await receiver.stop();
  await nameServer.stop();
});

function guardOf(policy: TargetPolicy): TargetGuard {
  return createTargetGuard(policy, createResolve(policy, [nameServer.address]));
}

async function sendTo(host: string, guard: TargetGuard): Promise<PostOutcome> {
  const connector = new Connector(guard, 5_000);
  const { port } = new URL(receiver.url);
  const pool = new Pool(`http://${host}:${port}`, { connect: connector.connect, connections: 1 });
  try {
    return await post(pool, { path: '/', headers: {}, body: Buffer.from('{}'), timeoutMs: 5_000 });
  } finally {
    await pool.close();
    connector.close();
  }
}

const refused = { error: expect.stringContaining('private or reserved address') as string };

describe('connections', () => {
  test.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', 'localhost'])(
    'to %s are refused, and not a byte is sent',
    async (host) => {
      expect(await sendTo(host, guardOf(strict))).toEqual(refused);
      expect(receiver.connections).toBe(0);
    },
  );

  test('to a name that stands for a private address are refused', async () => {
    nameServer.addresses['inside.example'] = ['127.0.0.1'];
    expect(await sendTo('inside.example', guardOf(strict))).toEqual(refused);
    expect(receiver.connections).toBe(0);
  });

  test('to a name are refused when any one of its addresses is private', async () => {
    nameServer.addresses['half.example'] = ['93.184.215.14', '127.0.0.1'];
    expect(await sendTo('half.example', guardOf(strict))).toEqual(refused);
    expect(receiver.connections).toBe(0);
  });

  test('to a network that the operator allows go through, by name and by address', async () => {
    nameServer.addresses['inside.example'] = ['127.0.0.1'];
    expect(await sendTo('inside.example', guardOf(loopbackOnly))).toMatchObject({ status: 200 });
    expect(await sendTo('127.0.0.1', guardOf(loopbackOnly))).toMatchObject({ status: 200 });
    expect(receiver.requests.map(({ headers }) => headers['host'])).toEqual([
      expect.stringContaining('inside.example:'),
      expect.stringContaining('127.0.0.1:'),
    ]);
  });

  test('go to the address that was checked, though the name has changed its mind since', async () => {
    nameServer.addresses['rebound.example'] = ['127.0.0.1'];
    // The second question, if there were one, would be answered with a private address that is not allowed.
    const guard = guardOf(loopbackOnly);
    const rebinding: TargetGuard = {
      ...guard,
      async resolve(name) {
        const addresses = await guard.resolve(name);
        nameServer.addresses[name] = ['10.0.0.1'];
        return addresses;
      },
    };
    expect(await sendTo('rebound.example', rebinding)).toMatchObject({ status: 200 });
    expect(await sendTo('rebound.example', rebinding)).toEqual(refused);
    expect(receiver.requests).toHaveLength(1);
  });

  test('to a name without an address fail, and say so', async () => {
    expect(await sendTo('nowhere.example', guardOf(strict))).toEqual({ error: 'nowhere.example has no address' });
  });

  test('where private receivers are allowed, names that only this machine knows work', async () => {
    const guard = createTargetGuard(openPolicy, createResolve(openPolicy));
    expect(await sendTo('localhost', guard)).toMatchObject({ status: 200 });
  });
});

describe('names', () => {
  test('are asked of the name servers, not of the system', async () => {
    nameServer.addresses['public.example'] = ['93.184.215.14'];
    const resolve = createResolve(strict, [nameServer.address]);
    expect(await resolve('public.example')).toEqual(['93.184.215.14']);
    expect(await resolve('nowhere.example')).toEqual([]);
    expect(nameServer.asked).toContain('public.example');
  });

  test.skipIf(ownAddresses.length === 0)(
    'that only this machine knows are asked of the system where a network is allowed, and nowhere else',
    async () => {
      expect(await createResolve(loopbackOnly, [nameServer.address])(hostname())).toEqual(ownAddresses);
      expect(await createResolve(strict, [nameServer.address])(hostname())).toEqual([]);
    },
  );

  test('that no name server answers for are an error, not an absence', async () => {
    const { address } = nameServer;
    await nameServer.stop();
    await expect(createResolve(strict, [address])('public.example')).rejects.toThrow();
    nameServer = await NameServer.start();
  });
});
