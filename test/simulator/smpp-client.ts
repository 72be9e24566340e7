import { once } from 'node:events';
import { createRequire } from 'node:module';
import { simulatorCredentials } from '../../src/simulator/simulator.ts';

// The npm package `smpp` as an independent peer; it has no types.
type Fields = Record<string, unknown>;

export type PeerPdu = {
  command: string;
  command_status: number;
  message_id?: string;
  esm_class: number;
  source_addr: string;
  destination_addr: string;
  dest_addr_ton: number;
  dest_addr_npi: number;
  short_message: { message: string };
  receipted_message_id?: string;
  message_state?: number;
  network_error_code?: Buffer;
  user_message_reference?: number;
  sc_interface_version?: number;
  system_id?: string;
  response(fields?: Fields): PeerPdu;
};

type PeerSession = {
  on(event: 'deliver_sm' | 'pdu', listener: (pdu: PeerPdu) => void): void;
  on(event: 'error' | 'close' | 'connect', listener: () => void): void;
  send(pdu: PeerPdu, onResponse?: (response: PeerPdu) => void): boolean;
  destroy(): void;
};

type Peer = {
  connect(options: { host: string; port: number }): PeerSession;
  PDU: new (command: string, fields: Fields) => PeerPdu;
};

const require = createRequire(import.meta.url);
const peer: Peer = require('smpp');
const definitions: { gsmCoder: { encode(text: string, table: number): Buffer } } = require('smpp/lib/defs');

/** The peer's own idea of GSM 03.38, one septet in each octet. */
export function gsm(text: string): Buffer {
  return definitions.gsmCoder.encode(text, 0);
}

export function ucs2(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

export type SmppClient = {
  request(command: string, fields?: Fields): Promise<PeerPdu>;
  bind(how?: 'transceiver' | 'transmitter' | 'receiver', fields?: Fields): Promise<PeerPdu>;
  submit(fields: Fields): Promise<PeerPdu>;
  /** Every deliver_sm that came, in order. */
  deliveries: PeerPdu[];
  closed: Promise<unknown>;
  stop(): void;
};

/** `beforeAnswer` is awaited before each deliver_sm is answered with the status it gives. */
export async function connectSmpp(
  port: number,
  beforeAnswer: (delivery: PeerPdu) => Promise<number | void> = () => Promise.resolve(),
): Promise<SmppClient> {
  const session = peer.connect({ host: '127.0.0.1', port });
  const deliveries: PeerPdu[] = [];
  const gone = new Promise<void>((resolve) => session.on('close', resolve));
  session.on('error', () => session.destroy());
  session.on('deliver_sm', (delivery) => {
    deliveries.push(delivery);
    void beforeAnswer(delivery).then((status) => session.send(delivery.response({ command_status: status ?? 0 })));
  });
  await Promise.race([once(session as unknown as NodeJS.EventEmitter, 'connect'), gone]);

  const request = (command: string, fields: Fields = {}) =>
    new Promise<PeerPdu>((resolve, reject) => {
      void gone.then(() => reject(new Error('The connection closed without an answer.')));
      session.send(new peer.PDU(command, fields), resolve);
    });

  return {
    request,
    bind: (how = 'transceiver', fields = {}) =>
      request(`bind_${how}`, {
        system_id: simulatorCredentials.smpp.systemId,
        password: simulatorCredentials.smpp.password,
        interface_version: 0x34,
        ...fields,
      }),
    submit: (fields) =>
      request('submit_sm', {
        source_addr_ton: 5,
        source_addr_npi: 0,
        source_addr: 'HELIO',
        dest_addr_ton: 1,
        dest_addr_npi: 1,
        destination_addr: '447700900123',
        registered_delivery: 1,
        data_coding: 0,
        short_message: gsm('Hello'),
        ...fields,
      }),
    deliveries,
    closed: gone,
    stop: () => session.destroy(),
  };
}
