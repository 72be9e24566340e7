/** E.164 with the leading `+`, nothing else. Whether a numbering plan knows the number is not ours to say: plans grow, and have test ranges. */
export function isRecipient(text: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(text);
}
