import { Socket } from 'node:net';
import process from 'node:process';

type Done = (error?: Error | null) => void;

/**
 * A socket whose writes of one turn of the event loop leave in one system call. The driver writes each statement apart: of a commit's
 * nine statements that was an eighth of the service's processor time.
 */
export class StatementSocket extends Socket {
  #isHeld = false;

  override write(chunk: string | Uint8Array, encodingOrDone?: BufferEncoding | Done, done?: Done): boolean {
    if (!this.#isHeld) {
      this.#isHeld = true;
      this.cork();
      process.nextTick(() => {
        this.#isHeld = false;
        this.uncork();
      });
    }
    return super.write(chunk, encodingOrDone as BufferEncoding, done);
  }
}
