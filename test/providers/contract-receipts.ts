import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Provider, ReceiptRequest } from '../../src/providers/provider.ts';
import { messageWith, nowMs, type AdapterCases } from './cases.ts';
import { holdsNul, withOddities } from './oddities.ts';

/** Receipts: what each state means, and that nothing is believed that the upstream did not sign. */
export function describeReceipts(cases: AdapterCases): void {
  describe(`${cases.name}: receipts`, () => {
    let provider: Provider;
    const signs = cases.forgeries.length > 0;

    beforeAll(() => {
      provider = cases.create({ baseUrl: 'http://127.0.0.1:9', timeoutMs: 100, clock: { now: () => nowMs } });
    });

    afterAll(() => provider.close());

    function carry(content: Buffer): Pick<ReceiptRequest, 'method' | 'url' | 'rawBody'> {
      const { callbackUrl } = messageWith();
      return cases.carry?.({ callbackUrl, content }) ?? { method: 'POST', url: callbackUrl, rawBody: content };
    }

    function signed(content: string | Buffer, issuedAtMs = nowMs): ReceiptRequest {
      const carried = carry(Buffer.from(content));
      return { ...carried, headers: cases.sign({ url: carried.url, rawBody: carried.rawBody, issuedAtMs }) };
    }

    const someContent = () => Buffer.from(cases.receipts[0]?.content ?? '');
    const someReceipt = () => signed(someContent());

    function describeProof(): void {
      it.each(cases.forgeries)('refuses $title', (forgery) => {
        expect(provider.readReceipts(someReceipt())).toMatchObject({ ok: true });
        expect(provider.readReceipts(forgery.forge(someReceipt()))).toMatchObject({ ok: false, problem: 'forged' });
      });

      it('refuses a receipt without its signature', () => {
        expect(provider.readReceipts({ ...someReceipt(), headers: {} })).toMatchObject({
          ok: false,
          problem: 'forged',
        });
      });

      it('refuses a receipt of which one byte was changed', () => {
        const content = someContent();
        const { headers } = signed(content);
        fc.assert(
          fc.property(fc.nat(content.length - 1), (index) => {
            const forged = Buffer.from(content);
            forged.writeUInt8(content.readUInt8(index) === 0x78 ? 0x79 : 0x78, index);
            expect(provider.readReceipts({ ...carry(forged), headers })).toMatchObject({
              ok: false,
              problem: 'forged',
            });
          }),
        );
      });
    }

    /** Where nothing is signed, what makes a receipt believable is kept by the route: the ref in its URL. */
    function describeUnsigned(): void {
      it('is read whatever headers it comes under: its URL is the proof', () => {
        const reading = provider.readReceipts(someReceipt());
        expect(reading).toMatchObject({ ok: true });
        const anyHeaders = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.string())));
        fc.assert(
          fc.property(anyHeaders, (headers) => {
            expect(provider.readReceipts({ ...someReceipt(), headers })).toEqual(reading);
          }),
        );
      });
    }

    it.each(cases.receipts)('reads $title', ({ content, expected }) => {
      expect(provider.readReceipts(signed(content))).toEqual({ ok: true, receipts: expected });
    });

    it.each(cases.malformedReceipts)('calls $title malformed', ({ content }) => {
      expect(provider.readReceipts(signed(content))).toMatchObject({ ok: false, problem: 'malformed' });
    });

    if (signs) describeProof();
    else describeUnsigned();

    it('has a reading for any signed bytes whatever', () => {
      const anyContent = fc.oneof(
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        fc.json().map((text) => Buffer.from(text)),
        fc.webQueryParameters().map((text) => Buffer.from(text)),
      );
      fc.assert(
        fc.property(anyContent, (content) => {
          const reading = provider.readReceipts(signed(content));
          if (!reading.ok) expect(reading.problem).toBe('malformed');
        }),
      );
    });

    it.each(cases.receipts)('has a reading for odd values anywhere in $title', ({ content }) => {
      for (const oddity of withOddities(content)) {
        const reading = provider.readReceipts(signed(oddity));
        if (!reading.ok) expect(reading.problem).toBe('malformed');
        expect(holdsNul(reading)).toBe(false);
      }
    });

    it('has a reading for any request whatever', () => {
      const anyText = fc.string({ unit: 'binary' });
      const names = Object.keys(someReceipt().headers);
      const anyRequest = fc.record({
        method: anyText,
        url: fc.oneof(anyText, fc.webUrl()),
        headers: fc.dictionary(
          names.length > 0 ? fc.constantFrom(...names) : anyText,
          fc.oneof(
            anyText,
            fc.array(anyText),
            fc.constant(undefined),
            fc.tuple(anyText, anyText, anyText).map((parts) => `Bearer ${parts.map(base64Url).join('.')}`),
            fc.tuple(fc.json(), fc.json(), anyText).map((parts) => `Bearer ${parts.map(base64Url).join('.')}`),
          ),
        ),
        rawBody: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      });
      fc.assert(
        fc.property(anyRequest, (request) => {
          const reading = provider.readReceipts(request);
          if (signs) expect(reading).toMatchObject({ ok: false, problem: 'forged' });
        }),
      );
    });
  });
}

function base64Url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
