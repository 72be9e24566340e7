/** Permission scopes of an API key (spec: Authentication). */
export const scopes = ['sms:send', 'sms:bulk', 'sms:read', 'balance:read', 'dlr:read'] as const;
export type Scope = (typeof scopes)[number];

/** Who makes the request: the key it carried and the account behind it. Routes see nothing else of authentication. */
export type Caller = {
  accountId: string;
  accountStatus: 'active' | 'suspended' | 'closed';
  currency: string;
  keyId: string;
  permissions: readonly Scope[];
  /** Requests per minute. */
  rateLimit: number;
  dailyLimit: number | null;
  monthlyLimit: number | null;
  allowedIps: readonly string[] | null;
  expiresAtMs: number | null;
  isActive: boolean;
};

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** The caller needs one of these; empty means that any valid key will do. */
    anyScopeOf?: readonly Scope[];
    /** A suspended account reads but does not send. */
    sends?: boolean;
  }
}
