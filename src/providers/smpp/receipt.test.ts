import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readReceipt } from './receipt.ts';
import { tag } from './tlv.ts';

const none = new Map<number, Buffer>();

function read(text: string, tlvs: ReadonlyMap<number, Buffer> = none) {
  return readReceipt(text, tlvs, false);
}

describe('the text of a receipt', () => {
  it.each([
    [
      'as Appendix B has it',
      'id:0123456789 sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:DELIVRD err:000 text:hello',
      { messageId: '0123456789', state: 'delivered', errorCode: undefined },
    ],
    [
      'with seconds in its dates and no counters',
      'id:A1B2-C3 submit date:260101120000 done date:260101120100 stat:UNDELIV err:075 Text:-PROFILE',
      { messageId: 'A1B2-C3', state: 'failed', errorCode: '075' },
    ],
    [
      'without a text',
      'id:7 sub:000 dlvrd:000 submit date:2601011200 done date:2601011201 stat:EXPIRED err:001',
      { messageId: '7', state: 'undelivered', errorCode: '001' },
    ],
    [
      'with a text that has no key',
      'id:7 sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:DELIVRD err:000 hello',
      { messageId: '7', state: 'delivered' },
    ],
    [
      'with an empty text',
      'id:7 sub:000 dlvrd:000 submit date:2601011200 done date:2601011201 stat:REJECTD err:0x45 text:',
      { messageId: '7', state: 'failed', errorCode: '0x45' },
    ],
    ['with keys in capitals', 'ID:7 STAT:DELIVRD ERR:000 TEXT:x', { messageId: '7', state: 'delivered' }],
    ['with small letters', 'id:7 stat:delivrd err:000', { messageId: '7', state: 'delivered', stateName: 'DELIVRD' }],
    ['in another order', 'stat:FAILED err:dead id:77', { messageId: '77', state: 'failed', errorCode: 'dead' }],
    ['with nothing but a state', 'stat:DELIVRD', { messageId: '', state: 'delivered' }],
    ['without an id', 'sub:001 dlvrd:001 stat:DELIVRD err:000', { messageId: '', state: 'delivered' }],
    ['with an empty id', 'id: sub:001 stat:DELIVRD', { messageId: '', state: 'delivered' }],
    [
      'with blanks after its colons',
      'id: 55 stat: DELIVRD err: 12',
      { messageId: '55', state: 'delivered', errorCode: '12' },
    ],
    ['with an empty error', 'id:5 stat:UNDELIV err: text:x', { messageId: '5', state: 'failed', errorCode: undefined }],
    ['over several lines', 'id:5\nstat:DELIVRD\r\nerr:000', { messageId: '5', state: 'delivered' }],
    [
      'without blanks in its date keys',
      'id:0118Z-0122I-2309U-57DGB sub:000 dlvrd:000 submitdate:180122230957 donedate:000000000000 stat:REJECTED err:375 text:',
      { messageId: '0118Z-0122I-2309U-57DGB', state: 'failed', errorCode: '375' },
    ],
    [
      'quoting a message that looks like a receipt',
      'stat:UNDELIV err:001 text:id:9 stat:DELIVRD err:000',
      { messageId: '', state: 'failed', errorCode: '001' },
    ],
    [
      'quoting such a message without a key',
      'id:1 stat:UNDELIV err:001 id:9 stat:DELIVRD err:000',
      { messageId: '1', state: 'failed', errorCode: '001' },
    ],
    ['with a state nobody knows', 'id:5 stat:BOUNCED err:001', { messageId: '5', state: 'sent', stateName: 'BOUNCED' }],
    ['with nothing in it', '', { messageId: '', state: 'sent', stateName: '', errorCode: undefined }],
  ])('is read %s', (_title, text, expected) => {
    expect(read(text)).toMatchObject(expected);
  });

  it.each([
    ['ENROUTE', 'sent'],
    ['SCHEDULED', 'sent'],
    ['ACCEPTD', 'sent'],
    ['DELIVRD', 'delivered'],
    ['EXPIRED', 'undelivered'],
    ['UNKNOWN', 'undelivered'],
    ['SKIPPED', 'undelivered'],
    ['DELETED', 'failed'],
    ['UNDELIV', 'failed'],
    ['REJECTD', 'failed'],
    ['FAILED', 'failed'],
  ])('means by stat:%s that the message is %s', (stat, state) => {
    expect(read(`id:1 stat:${stat} err:000`).state).toBe(state);
  });

  it('has a reading whatever it is, in time that grows no faster than the text', () => {
    const pieces = fc.constantFrom('id:', 'stat:', 'err:', 'text:', ' ', '1', 'A', ':', '\n', 'DELIVRD');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces, { maxLength: 200 }).map((all) => all.join('')),
        ),
        (text) => {
          expect(['sent', 'delivered', 'undelivered', 'failed']).toContain(read(text).state);
        },
      ),
    );
    // Longer than any PDU: a pattern that goes back and forth over them would not end within the test's time.
    for (const unit of ['id: ', 'err:', 'stat:a', ' ', 'id:a:', 'text']) read(unit.repeat(100_000));
  });

  it('has an id of bounded length', () => {
    expect(read(`id:${'9'.repeat(10_000)} stat:DELIVRD`).messageId).toHaveLength(255);
  });
});

describe('the parameters of a receipt', () => {
  it.each([
    [0, 'sent'],
    [1, 'sent'],
    [2, 'delivered'],
    [3, 'undelivered'],
    [4, 'failed'],
    [5, 'failed'],
    [6, 'sent'],
    [7, 'undelivered'],
    [8, 'failed'],
    [9, 'undelivered'],
  ])('mean by message_state %d that the message is %s', (number, state) => {
    expect(read('', new Map([[tag.messageState, Buffer.of(number)]])).state).toBe(state);
  });

  it('win over the text', () => {
    const tlvs = new Map([
      [tag.receiptedMessageId, Buffer.from('ABC\0')],
      [tag.messageState, Buffer.of(5)],
      [tag.networkErrorCode, Buffer.of(3, 0x01, 0x02)],
    ]);
    expect(read('id:9 stat:DELIVRD err:017 text:x', tlvs)).toEqual({
      messageId: 'ABC',
      state: 'failed',
      stateName: 'UNDELIV',
      errorCode: 'gsm:258',
    });
  });

  it.each([
    ['an unknown state', new Map([[tag.messageState, Buffer.of(77)]])],
    ['a state without an octet', new Map([[tag.messageState, Buffer.alloc(0)]])],
    ['an empty id', new Map([[tag.receiptedMessageId, Buffer.from('\0')]])],
    ['a network error of a wrong length', new Map([[tag.networkErrorCode, Buffer.of(3, 1)]])],
    ['no network error', new Map([[tag.networkErrorCode, Buffer.of(3, 0, 0)]])],
  ])('leave the text its say where they hold %s', (_title, tlvs) => {
    expect(read('id:9 stat:EXPIRED err:017', tlvs)).toEqual({
      messageId: '9',
      state: 'undelivered',
      stateName: 'EXPIRED',
      errorCode: '017',
    });
  });

  it('may end without the NUL', () => {
    expect(read('', new Map([[tag.receiptedMessageId, Buffer.from('ABC')]])).messageId).toBe('ABC');
  });
});

describe('ACCEPTD', () => {
  it('is a success where the carrier has no other', () => {
    expect(readReceipt('id:1 stat:ACCEPTD', none, true).state).toBe('delivered');
    expect(readReceipt('', new Map([[tag.messageState, Buffer.of(6)]]), true).state).toBe('delivered');
    expect(readReceipt('id:1 stat:REJECTD', none, true).state).toBe('failed');
  });
});
