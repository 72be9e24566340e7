import { globalAgent } from 'node:https';
import { connect } from 'node:net';
import type { ScriptedServer } from './scripted-server.ts';

/**
 * For clients that know no host but their own: what this process asks of any host over HTTPS goes, without TLS, to a server on loopback.
 * Ends with the function it returns.
 */
export function divertHttps(server: ScriptedServer): () => void {
  const [host, port] = server.host.split(':');
  Object.assign(globalAgent, { createConnection: () => connect(Number(port), host) });
  return () => {
    globalAgent.destroy();
    // What remains is the prototype's.
    Reflect.deleteProperty(globalAgent, 'createConnection');
  };
}
