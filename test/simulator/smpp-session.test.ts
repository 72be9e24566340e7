import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, simulatorCredentials, startSimulator } from '../../src/simulator/simulator.ts';
import { createPduReader } from '../../src/simulator/smpp/framing.ts';
import { encodePdu, PDU_OCTETS_MAX, type Pdu } from '../../src/simulator/smpp/pdu.ts';
import { listMessages, postControl } from './control-client.ts';
import { connectSmpp, type SmppClient } from './smpp-client.ts';

let simulator: Simulator;
let stops: (() => unknown)[] = [];

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, deliveryDelayMs: 60 });
});

beforeEach(async () => {
  await postControl(simulator.url, '/reset');
});

afterEach(() => {
  for (const stop of stops) stop();
  stops = [];
});

afterAll(async () => {
  await simulator.stop();
});

async function client(...parameters: Parameters<typeof connectSmpp> extends [number, ...infer Rest] ? Rest : never) {
  const connected = await connectSmpp(simulator.smppPort, ...parameters);
  stops.push(() => connected.stop());
  return connected;
}

async function boundClient(how?: Parameters<SmppClient['bind']>[0]): Promise<SmppClient> {
  const bound = await client();
  expect((await bound.bind(how)).command_status).toBe(0);
  return bound;
}

async function rawSocket(): Promise<Socket> {
  const socket = connect(simulator.smppPort, '127.0.0.1');
  socket.on('error', () => {});
  stops.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** What comes until the other side closes. */
async function everything(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks);
}

describe('a bind', () => {
  it.each(['transceiver', 'transmitter', 'receiver'] as const)(
    'as %s names the carrier and its version',
    async (how) => {
      const { command, command_status, system_id, sc_interface_version } = await (await client()).bind(how);
      expect({ command, command_status, system_id, sc_interface_version }).toEqual({
        command: `bind_${how}_resp`,
        command_status: 0,
        system_id: 'simulator',
        sc_interface_version: 0x34,
      });
    },
  );

  it.each([
    [0x0f, { system_id: 'nobody' }],
    [0x0e, { password: 'wrong' }],
  ])('is refused with status %d for %o, and the connection closed', async (status, fields) => {
    const stranger = await client();
    expect((await stranger.bind('transceiver', fields)).command_status).toBe(status);
    await stranger.closed;
  });

  it('is refused in a session that is bound, which goes on', async () => {
    const bound = await boundClient();
    expect((await bound.bind()).command_status).toBe(0x05);
    expect((await bound.submit({})).command_status).toBe(0);
  });

  it('comes before anything is sent, and only a sender may send', async () => {
    expect((await (await client()).submit({})).command_status).toBe(0x04);
    expect((await (await boundClient('receiver')).submit({})).command_status).toBe(0x04);
    expect(await listMessages(simulator.url, {})).toEqual({ messages: [], total: 0 });
  });
});

describe('a session', () => {
  it('answers enquire_link before and after the bind, and unbind by closing', async () => {
    const bound = await client();
    expect((await bound.request('enquire_link')).command).toBe('enquire_link_resp');
    await bound.bind();
    expect((await bound.request('enquire_link')).command_status).toBe(0);
    expect((await bound.request('unbind')).command).toBe('unbind_resp');
    await bound.closed;
  });

  it('answers a command it does not know with generic_nack, and goes on', async () => {
    const bound = await boundClient();
    const nack = await bound.request('query_sm', { message_id: '1' });
    expect([nack.command, nack.command_status]).toEqual(['generic_nack', 0x03]);
    expect((await bound.request('enquire_link')).command_status).toBe(0);
  });

  it.each([0, 15, PDU_OCTETS_MAX + 1, 0xffff_ffff])('ends with generic_nack at a PDU of %d octets', async (octets) => {
    const socket = await rawSocket();
    const header = Buffer.alloc(16);
    header.writeUInt32BE(octets);
    socket.write(header);
    expect(await everything(socket)).toEqual(encodePdu(0x8000_0000, 0x02, 0));
  });

  it('refuses bodies that end early or go on, and goes on itself', async () => {
    const bound = await rawSocket();
    const answers: Pdu[] = [];
    const read = createPduReader((pdu) => answers.push(pdu));
    bound.on('data', (chunk: Buffer) => read(chunk));
    const { systemId, password } = simulatorCredentials.smpp;
    bound.write(encodePdu(0x09, 0, 1, [Buffer.from(`${systemId}\0${password}\0\0\x34\0\0\0`)]));
    bound.write(encodePdu(0x04, 0, 2, [Buffer.from('no address')]));
    bound.write(encodePdu(0x04, 0, 3, [Buffer.from('service type too long\0')]));
    const message = Buffer.from('\0\x05\0HELIO\0\x01\x01447700900123\0\0\0\0\0\0\0\0\0\0\x05Hello', 'latin1');
    bound.write(encodePdu(0x04, 0, 4, [message, Buffer.from([0x04])]));
    bound.write(encodePdu(0x04, 0, 5, [message, Buffer.from([0x02, 0x04, 0xff, 0xff])]));
    bound.write(encodePdu(0x04, 0, 6, [message]));
    await expect
      .poll(() => answers.map(({ sequence, status }) => [sequence, status]))
      .toEqual([
        [1, 0],
        [2, 0x02],
        [3, 0x02],
        [4, 0xc0],
        [5, 0xc0],
        [6, 0],
      ]);
  });

  it('survives any octets at all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), fc.boolean(), async (octets, framed) => {
        const socket = await rawSocket();
        const body = Buffer.from(octets);
        socket.end(framed ? encodePdu(octets[0] ?? 4, 0, 1, [body]) : body);
        await everything(socket);
      }),
      { numRuns: 100 },
    );
    expect((await (await boundClient()).submit({})).command_status).toBe(0);
  });
});

it('PDUs are the same however the stream is cut', () => {
  const pdus = fc.array(fc.tuple(fc.nat(0xffff_ffff), fc.nat(0x7fff_ffff), fc.uint8Array({ maxLength: 60 })));
  fc.assert(
    fc.property(pdus, fc.array(fc.nat(300)), (sent, cuts) => {
      const stream = Buffer.concat(sent.map(([id, sequence, body]) => encodePdu(id, 0, sequence, [Buffer.from(body)])));
      const received: unknown[] = [];
      const read = createPduReader(({ commandId, sequence, body }) => {
        received.push([commandId, sequence, Uint8Array.from(body)]);
      });
      const edges = [0, ...cuts.filter((cut) => cut < stream.length).sort((a, b) => a - b), stream.length];
      for (const [index, edge] of edges.entries()) read(stream.subarray(edges[index - 1] ?? 0, edge));
      expect(received).toEqual(sent);
    }),
  );
});

describe('the control API', () => {
  it('an outage drops every session and each new connection, until it ends', async () => {
    const bound = await boundClient();
    await postControl(simulator.url, '/providers/smpp', { outage: true });
    await bound.closed;
    await (
      await client()
    ).closed;

    await postControl(simulator.url, '/providers/smpp', { outage: false });
    expect((await (await boundClient()).submit({})).command_status).toBe(0);
  });

  it('an error rate fails its share of messages, and latency is added before the answer', async () => {
    const bound = await boundClient();
    await postControl(simulator.url, '/providers/smpp', { errorRate: 0.5 });
    const statuses: number[] = [];
    for (let index = 0; index < 4; index += 1) statuses.push((await bound.submit({})).command_status);
    expect(statuses).toEqual([0, 8, 0, 8]);

    await postControl(simulator.url, '/providers/smpp', { errorRate: 0, latencyMs: 300 });
    const startedAt = performance.now();
    expect((await bound.submit({})).command_status).toBe(0);
    expect(performance.now() - startedAt).toBeGreaterThan(290);
  });
});

it('a simulator that cannot have both its ports stops, and says why', async () => {
  await expect(startSimulator({ port: 0, smppPort: simulator.smppPort })).rejects.toThrow('EADDRINUSE');
  await expect(startSimulator({ port: simulator.port })).rejects.toThrow('EADDRINUSE');
});
