import { connect, type Socket } from 'node:net';

/** Called with the status and the first bytes of the body, once all of it has come. */
export type OnAnswer = (status: number, beginning: string) => void;

const headEnd = Buffer.from('\r\n\r\n');
const lengthField = 'content-length: ';
/** Up to the status of a message, which comes after its text. */
const beginningLength = 300;

/**
 * One kept connection, one request at a time. It reads what our own server writes (a content length, no chunks) and nothing else, and so
 * takes a third of what a whole HTTP client takes: the load shares the machine with what it measures.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #onLost: (error: Error) => void;
  #onAnswer: OnAnswer | undefined;
  #head: Buffer | undefined;
  #status = 0;
  #missing = 0;
  #beginning = '';

  private constructor(socket: Socket, onLost: (error: Error) => void) {
    this.#socket = socket;
    this.#onLost = onLost;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => onLost(error));
    socket.on('end', () => onLost(new Error('the server closed a connection')));
  }

  static open(port: number, onLost: (error: Error) => void): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new Connection(socket, onLost)));
    });
  }

  exchange(request: string, onAnswer: OnAnswer): void {
    this.#onAnswer = onAnswer;
    this.#socket.write(request, 'latin1');
  }

  close(): void {
    this.#socket.removeAllListeners('end').destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#missing > 0) {
      this.#readBody(chunk);
      return;
    }
    const bytes = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
    const end = bytes.indexOf(headEnd);
    if (end === -1) {
      this.#head = bytes;
      return;
    }
    this.#head = undefined;
    const head = bytes.toString('latin1', 0, end);
    const at = head.indexOf(lengthField);
    if (at === -1) {
      this.#onLost(new Error(`an answer without a length:\n${head}`));
      return;
    }
    this.#status = Number(head.slice(9, 12));
    this.#missing = Number.parseInt(head.slice(at + lengthField.length, at + lengthField.length + 12), 10);
    this.#beginning = '';
    this.#readBody(bytes.subarray(end + headEnd.length));
  }

  #readBody(chunk: Buffer): void {
    const room = beginningLength - this.#beginning.length;
    if (room > 0) this.#beginning += chunk.toString('latin1', 0, Math.min(room, chunk.length));
    this.#missing -= chunk.length;
    if (this.#missing === 0) this.#onAnswer?.(this.#status, this.#beginning);
  }
}
