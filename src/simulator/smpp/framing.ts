import { HEADER_OCTETS, type Pdu, PDU_OCTETS_MAX } from './pdu.ts';

/**
 * Cuts a stream of octets into PDUs. Returns false once a length is impossible: there is no way to find the next PDU
 * after that.
 */
export function createPduReader(onPdu: (pdu: Pdu) => void): (chunk: Buffer) => boolean {
  let pending: Buffer = Buffer.alloc(0);

  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    let at = 0;
    while (pending.length - at >= HEADER_OCTETS) {
      const octets = pending.readUInt32BE(at);
      if (octets < HEADER_OCTETS || octets > PDU_OCTETS_MAX) return false;
      if (pending.length - at < octets) break;
      onPdu({
        commandId: pending.readUInt32BE(at + 4),
        status: pending.readUInt32BE(at + 8),
        sequence: pending.readUInt32BE(at + 12),
        body: pending.subarray(at + HEADER_OCTETS, at + octets),
      });
      at += octets;
    }
    pending = pending.subarray(at);
    return true;
  };
}
