import type { Quickstart } from '../../src/quickstart.ts';

/** Of as many characters as an alphanumeric sender may have to be sent from, and of one more. */
const [sender, tooLong] = ['HelioGrafik', 'HelioGraphik'] as const;

type Id = { id: string };

/**
 * Makes what the specification leaves to the operator of the service, through the operator's API: senders in each state on the
 * account of the quickstart, and an account that has a sender and no money.
 */
export async function seed(
  quickstart: Quickstart,
): Promise<{ sender: string; tooLongSender: string; pennilessKey: string }> {
  const { base_url: baseUrl, api_key: apiKey, operator_url: operatorUrl, operator_token: operatorToken } = quickstart;
  const asOperator = <Data>(path: string, json: object = {}) => post<Data>(operatorUrl + path, operatorToken, json);
  const apply = (key: string, senderId: string) =>
    post<Id>(`${baseUrl}/senders/create`, key, { sender_id: senderId, country_code: 'GB' });

  for (const senderId of [sender, tooLong]) {
    const { id } = await apply(apiKey, senderId);
    await asOperator(`/senders/${id}/approve`);
  }
  const rejected = await apply(apiKey, 'Rejected');
  await asOperator(`/senders/${rejected.id}/reject`);
  const suspended = await apply(apiKey, 'Suspended');
  await asOperator(`/senders/${suspended.id}/approve`);
  await asOperator(`/senders/${suspended.id}/suspend`);

  const account = await asOperator<Id>('/accounts', { email: 'penniless@example.com', name: 'Penniless' });
  const key = await asOperator<{ plain_key: string }>(`/accounts/${account.id}/api-keys`, { name: 'contract' });
  const own = await apply(key.plain_key, sender);
  await asOperator(`/senders/${own.id}/approve`);
  return { sender, tooLongSender: tooLong, pennilessKey: key.plain_key };
}

async function post<Data>(url: string, token: string, json: object): Promise<Data> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${new URL(url).pathname} was answered with ${response.status}: ${text}`);
  return (JSON.parse(text) as { data: Data }).data;
}
