import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { SmppSettings } from './settings.ts';

/** Why there is no link, or none any more. */
export type LinkFault = { code: string; message: string };

export type Dialled = { ok: true; socket: Socket } | { ok: false; fault: LinkFault };

/** Connects, over TLS where that is set, within the time limit. Nothing has been written when it fails. */
export function dial(
  { host, port, tls }: Pick<SmppSettings, 'host' | 'port' | 'tls'>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Dialled> {
  return new Promise((resolve) => {
    const socket =
      tls === undefined ? connectTcp({ host, port }) : connectTls({ host, port, ...verification(host, tls) });
    const fail = (fault: LinkFault): void => {
      settle({ ok: false, fault });
      socket.destroy();
    };
    const settle = (dialled: Dialled): void => {
      clearTimeout(deadline);
      signal.removeEventListener('abort', abort);
      socket.off('close', end);
      resolve(dialled);
    };
    const abort = (): void => fail({ code: 'closed', message: 'the bind is being closed' });
    const end = (): void => fail({ code: 'link_closed', message: 'the carrier closed the connection at once' });
    const deadline = setTimeout(
      () => fail({ code: 'connect_timeout', message: `no connection within ${timeoutMs} ms` }),
      timeoutMs,
    );
    signal.addEventListener('abort', abort, { once: true });
    // Stays for good: an error after the connection is made is followed by `close`, which the link listens to.
    socket.on('error', (error) => fail(faultOf(error)));
    socket.on('close', end);
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      socket.setNoDelay(true);
      settle({ ok: true, socket });
    });
    if (signal.aborted) abort();
  });
}

function verification(host: string, { ca, serverName }: NonNullable<SmppSettings['tls']>) {
  // SNI carries names only; the certificate is checked against the address where there is no name.
  const servername = serverName ?? (isIP(host) === 0 ? host : undefined);
  return {
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...(servername === undefined ? {} : { servername }),
  };
}

export function faultOf(error: Error): LinkFault {
  return { code: 'code' in error ? String(error.code) : error.name, message: error.message || 'the connection failed' };
}
