/** The resources of the specification, as the tests read them; what an answer really holds is checked against the OpenAPI document. */
export type Message = {
  id: string;
  object: string;
  to: string;
  from: string;
  body: string;
  status: string;
  cost: number;
  currency: string;
  provider: string | null;
  provider_message_id: string | null;
  attempts: number;
  error: { code: string; message: string } | null;
  created_at: string;
  sent_at: string | null;
  delivered_at: string | null;
  failed_at: string | null;
};

export type BulkResult = { object: string; total: number; sent: number; failed: number; messages: Message[] };

export type Sender = {
  id: string;
  object: string;
  sender_id: string;
  type: string;
  country_code: string | null;
  status: string;
  approved_at: string | null;
  created_at: string;
};

export type ApiKey = {
  id: string;
  object: string;
  name: string;
  key_hint: string;
  is_active: boolean;
  permissions: string[];
  rate_limit: number;
  last_used_at: string | null;
  expires_at: string | null;
  created_at: string;
};

export type CreatedApiKey = ApiKey & { plain_key: string; plain_key_notice: string };

export type WebhookEndpoint = {
  id: string;
  object: string;
  url: string;
  description: string | null;
  events: string[];
  is_active: boolean;
  failure_count: number;
  last_success_at: string | null;
  last_failure_at: string | null;
  disabled_at: string | null;
  created_at: string;
};

export type CreatedWebhookEndpoint = WebhookEndpoint & { signing_secret: string };

export type Event = {
  id: string;
  object: string;
  type: string;
  created_at: string;
  data: Message & { reference?: string };
};

export type Account = Record<'id' | 'object' | 'email' | 'name' | 'company_name' | 'country' | 'status', string> & {
  kyc_verified: boolean;
  balance: number;
  currency: string;
  created_at: string;
};

export type Balance = { object: string; balance: number; currency: string; as_of: string };

export type Usage = {
  object: string;
  period: string;
  starts_at: string;
  ends_at: string;
  currency: string;
  totals: { messages: number; cost: number };
  by_status: Record<string, number>;
};

export type Deleted = { id: string; object: string; deleted: boolean };

export type Wrapped<Item> = { object: string; data: Item[] };

export type Pagination = { page: number; limit: number; total: number; pages: number; has_more: boolean };

/** What each operation of the specification answers with when it succeeds. */
export type Operations = {
  'POST /messages/send': Message;
  'POST /messages/bulk': BulkResult;
  'GET /messages/{id}': Message;
  'GET /messages': Message[];
  'GET /account': Account;
  'GET /balance': Balance;
  'GET /usage': Usage;
  'GET /senders': Sender[];
  'POST /senders/create': Sender;
  'GET /senders/{id}': Sender;
  'GET /api-keys': Wrapped<ApiKey>;
  'POST /api-keys/create': CreatedApiKey;
  'DELETE /api-keys/{id}': Deleted;
  'GET /webhooks': Wrapped<WebhookEndpoint>;
  'POST /webhooks/create': CreatedWebhookEndpoint;
  'GET /webhooks/{id}': WebhookEndpoint;
  'DELETE /webhooks/{id}': Deleted;
  'GET /events': Event[];
};

export type Operation = keyof Operations;

/** Every operation there is, with the status of its success. */
export const operations = {
  'POST /messages/send': 201,
  'POST /messages/bulk': 201,
  'GET /messages/{id}': 200,
  'GET /messages': 200,
  'GET /account': 200,
  'GET /balance': 200,
  'GET /usage': 200,
  'GET /senders': 200,
  'POST /senders/create': 201,
  'GET /senders/{id}': 200,
  'GET /api-keys': 200,
  'POST /api-keys/create': 201,
  'DELETE /api-keys/{id}': 200,
  'GET /webhooks': 200,
  'POST /webhooks/create': 201,
  'GET /webhooks/{id}': 200,
  'DELETE /webhooks/{id}': 200,
  'GET /events': 200,
} as const satisfies Record<Operation, number>;
