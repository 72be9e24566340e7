import { africastalking } from './africastalking.ts';
import { infobip } from './infobip.ts';
import { messagebird } from './messagebird.ts';
import { plivo } from './plivo.ts';
import { sinch } from './sinch.ts';
import { smpp } from './smpp.ts';
import { telnyx } from './telnyx.ts';
import { twilio } from './twilio.ts';
import { vonage } from './vonage.ts';
import type { HttpWire, Wire } from './wire.ts';

export const httpWires: readonly HttpWire[] = [
  twilio,
  vonage,
  infobip,
  sinch,
  plivo,
  telnyx,
  messagebird,
  africastalking,
];

export const wires: readonly Wire[] = [...httpWires, smpp];

/** The next provider of a chain. */
export function wireAfter(wire: Wire): Wire {
  return wires[(wires.indexOf(wire) + 1) % wires.length] ?? wire;
}
