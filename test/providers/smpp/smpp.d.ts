// The npm package `smpp` has no types of its own; these cover what the tests use of it.
declare module 'smpp' {
  import type { EventEmitter } from 'node:events';
  import type { Server, Socket } from 'node:net';
  type Fields = Record<string, unknown>;

  class PDU {
    constructor(command: string | Buffer, fields?: Fields);
    readonly command: string;
    readonly command_status: number;
    readonly sequence_number: number;
    readonly [field: string]: unknown;
    response(fields?: Fields): PDU;
    toBuffer(): Buffer;
  }

  type Answered = (answer: PDU) => void;

  interface Session extends EventEmitter {
    readonly socket: Socket;
    send(pdu: PDU): boolean;
    pause(): void;
    resume(): void;
    close(): void;
    destroy(): void;
    deliver_sm(fields: Fields, answered?: Answered): boolean;
    data_sm(fields: Fields, answered?: Answered): boolean;
    enquire_link(fields: Fields, answered?: Answered): boolean;
    unbind(fields: Fields, answered?: Answered): boolean;
    submit_sm(fields: Fields, answered?: Answered): boolean;
  }

  const smpp: {
    PDU: typeof PDU & { maxLength: number };
    createServer(options: { key?: string; cert?: string }, listener: (session: Session) => void): Server;
    commands: Record<string, { id: number }>;
    errors: Record<string, number>;
    consts: { MESSAGE_STATE: Record<string, number> };
  };
  export default smpp;
  export type { PDU, Session };
}
