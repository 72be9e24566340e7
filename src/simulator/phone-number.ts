/** International form, with or without its plus, as most upstreams take it. */
const INTERNATIONAL = /^\+?[1-9]\d{6,14}$/;

export function isPhoneNumber(value: unknown): value is string {
  return typeof value === 'string' && INTERNATIONAL.test(value);
}

export function withPlus(number: string): string {
  return number.startsWith('+') ? number : `+${number}`;
}

export function withoutPlus(number: string): string {
  return number.startsWith('+') ? number.slice(1) : number;
}
