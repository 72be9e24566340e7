export type JournalledMessage = {
  sequence: number;
  provider: string;
  receivedAt: string;
  to: string | null;
  text: string | null;
  outcome: string;
  providerMessageId: string | null;
  receipts: { status: string; attempt: number; at: string; result: number | string }[];
  request: { method: string; path: string; headers: Record<string, string>; body: string } | null;
};

export type MessageList = { messages: JournalledMessage[]; total: number };

/** What the simulator was asked to send, as its control API tells. */
export async function listMessages(simulatorUrl: string, query: { to?: string; limit?: number }): Promise<MessageList> {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  const response = await fetch(`${simulatorUrl}/control/messages?${parameters.toString()}`);
  return (await response.json()) as MessageList;
}

export async function postControl(
  simulatorUrl: string,
  path: string,
  body: unknown = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${simulatorUrl}/control${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
