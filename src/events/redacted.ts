/** What stands in the place of a recipient, a body or a raw receipt that was redacted. No recipient has this form. */
export const redacted = '[redacted]';
