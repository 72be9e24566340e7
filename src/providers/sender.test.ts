import { expect, it } from 'vitest';
import { senderWithoutPlus, senderWithPlus } from './sender.ts';

it.each([
  { from: 'HELIO', withPlus: 'HELIO', withoutPlus: 'HELIO' },
  { from: '4U 24', withPlus: '4U 24', withoutPlus: '4U 24' },
  { from: '+15005550006', withPlus: '+15005550006', withoutPlus: '15005550006' },
  { from: '15005550006', withPlus: '+15005550006', withoutPlus: '15005550006' },
  { from: '40404', withPlus: '40404', withoutPlus: '40404' },
  { from: '+40404', withPlus: '40404', withoutPlus: '40404' },
  { from: '12345678', withPlus: '12345678', withoutPlus: '12345678' },
  { from: '123456789', withPlus: '+123456789', withoutPlus: '123456789' },
])('writes $from as $withPlus or $withoutPlus', ({ from, withPlus, withoutPlus }) => {
  expect(senderWithPlus(from)).toBe(withPlus);
  expect(senderWithoutPlus(from)).toBe(withoutPlus);
});
