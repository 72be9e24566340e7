import { expect, test } from 'vitest';
import { senderTypesOf } from './sender-type.ts';

test.each([
  ['HELIO', ['alphanumeric']],
  ['24x7', ['alphanumeric']],
  ['1 800', ['alphanumeric']],
  ['+1 800', ['alphanumeric']],
  ['12', ['numeric']],
  ['123', ['short_code', 'long_code', 'numeric']],
  ['12345678', ['short_code', 'long_code', 'numeric']],
  ['+12345678', ['long_code', 'numeric']],
  ['123456789', ['long_code', 'numeric']],
  ['+15005550006', ['long_code', 'numeric']],
  ['123456789012345', ['long_code', 'numeric']],
  ['1234567890123456', ['numeric']],
])('%s may be declared as %j', (senderId, types) => {
  expect(senderTypesOf(senderId)).toEqual(types);
});
