import { smppCredentials } from '../smpp/smsc.ts';
import type { Upstream } from '../upstream.ts';
import { africastalking } from './africastalking.ts';
import { infobip } from './infobip.ts';
import { messagebird } from './messagebird.ts';
import { plivo } from './plivo.ts';
import { sinch } from './sinch.ts';
import { telnyx } from './telnyx.ts';
import { twilio } from './twilio.ts';
import { vonage } from './vonage.ts';

/** Every upstream the simulator speaks by HTTP. The key is its base path and its name in the control API. */
export const upstreams = {
  twilio,
  vonage,
  infobip,
  sinch,
  plivo,
  telnyx,
  messagebird,
  africastalking,
} as const satisfies Record<string, Upstream>;

export type ProviderId = keyof SimulatorCredentials;

export type SimulatorCredentials = {
  readonly [Id in keyof typeof upstreams]: (typeof upstreams)[Id]['credentials'];
} & { readonly smpp: typeof smppCredentials };

/** The demo account of each upstream: fixed, so that a simulator in another process is known without asking it. */
export const simulatorCredentials = {
  ...Object.fromEntries(Object.entries(upstreams).map(([id, { credentials }]) => [id, credentials])),
  smpp: smppCredentials,
} as SimulatorCredentials;
