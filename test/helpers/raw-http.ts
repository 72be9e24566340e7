import { once } from 'node:events';
import net from 'node:net';

export type RawAnswer = { status: number; headers: Headers; body: string };

/** Writes bytes to a server's socket as they are, and reads `count` answers, or as many as come before the server closes. */
export async function exchange(url: string, bytes: string | Buffer, count = 1): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  await once(socket, 'connect');
  const chunks: Buffer[] = [];
  const done = new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (readAnswers(Buffer.concat(chunks).toString()).length >= count) resolve(undefined);
    });
    // A server may close while we still write; what it said before counts.
    socket.on('error', () => undefined);
    socket.on('close', resolve);
  });
  socket.write(bytes);
  await done;
  socket.destroy();
  return readAnswers(Buffer.concat(chunks).toString());
}

/** The answers that are complete; bodies are taken to be ASCII. */
function readAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== '';) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) break;
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n');
    const headers = new Headers(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      }),
    );
    const bodyStart = headEnd + 4;
    const bodyEnd = bodyStart + Number(headers.get('content-length') ?? 0);
    if (rest.length < bodyEnd) break;
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, body: rest.slice(bodyStart, bodyEnd) });
    rest = rest.slice(bodyEnd);
  }
  return answers;
}
