import process from 'node:process';
import { readProvidersSettings } from '../../src/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Upstream } from '../../src/providers/http.ts';
import type { ProviderName, SendRequest } from '../../src/providers/provider.ts';
import { createProviders } from '../../src/providers/registry.ts';
import { simulatorCredentials } from '../../src/simulator/simulator.ts';
import { latencyOf } from '../quantile.ts';
import { bareRequest, type AdapterPlan, type AdapterResult } from './plan.ts';
import { Numbers, text } from './request.ts';

// One adapter and nothing else of the service, as a process of its own.
const [name = '', simulatorUrl = '', smppPort = ''] = process.argv.slice(2);

/** True where the upstream took the message. */
type Send = (request: SendRequest) => Promise<boolean>;
const numbers = new Numbers(0);
let sends = 0;
const send = name === bareRequest ? createBareSend() : createAdapterSend(name as ProviderName);

process.on('message', (plan: AdapterPlan) => {
  run(plan).then(
    (result) => process.send?.({ result }),
    (error: Error) => process.send?.({ problem: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));

async function run({ durationMs, concurrency }: AdapterPlan): Promise<AdapterResult> {
  const latenciesMs: number[] = [];
  let notAccepted = 0;
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  const sendInTurn = async (): Promise<void> => {
    for (let atMs = performance.now(); atMs < startedMs + durationMs; atMs = performance.now()) {
      if (!(await send(nextRequest()))) notAccepted += 1;
      latenciesMs.push(performance.now() - atMs);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendInTurn));
  const elapsedMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  const latencyMs = latencyOf(latenciesMs);
  return { messages: latenciesMs.length, elapsedMs, cpuMicros: user + system, notAccepted, latencyMs };
}

function nextRequest(): SendRequest {
  sends += 1;
  // As long as the refs of the service; some upstreams refuse one that they have seen.
  const ref = sends.toString(36).padStart(58, '0');
  const callbackUrl = `http://127.0.0.1:8080/receipts/provider/${ref}`;
  return { to: numbers.take('+99901010'), from: 'HELIO', body: text, encoding: 'gsm7', segments: 1, callbackUrl, ref };
}

function createAdapterSend(provider: ProviderName): Send {
  const place =
    provider === 'smpp'
      ? { host: '127.0.0.1', port: Number(smppPort), window: 1_000 }
      : { baseUrl: `${simulatorUrl}/${provider}` };
  const settings = readProvidersSettings({ [provider]: { ...place, ...simulatorCredentials[provider] } });
  const adapter = createProviders(settings, { clock: systemClock, random: Math.random }).get(provider);
  if (adapter === undefined) throw new Error(`there is no adapter ${provider}`);
  return async (request) => (await adapter.send(request)).outcome === 'accepted';
}

function createBareSend(): Send {
  const { accountSid, authToken } = simulatorCredentials.twilio;
  const upstream = new Upstream({
    baseUrl: `${simulatorUrl}/twilio`,
    timeoutMs: 10_000,
    headers: {
      authorization: `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
  });
  const { to: To, from: From, body: Body, callbackUrl: StatusCallback } = nextRequest();
  const body = new URLSearchParams({ To, From, Body, StatusCallback }).toString();
  return async () => {
    const answer = await upstream.post(`/2010-04-01/Accounts/${accountSid}/Messages.json`, body);
    return answer.kind === 'answer' && answer.status === 201;
  };
}
