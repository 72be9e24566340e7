import type { ProviderName } from '../providers/provider.ts';

/** One line of a message's dispatch story, kept on the message: an attempt, or a candidate that was passed over. */
export type AttemptRecord = {
  provider: ProviderName;
  at: string;
  result: 'accepted' | 'rejected' | 'retryable' | 'unknown' | 'skipped';
  /** The upstream's own code, or why the candidate was skipped. */
  code?: string;
  detail?: string;
  latency_ms?: number;
  provider_message_id?: string;
  /** Known only from a receipt that overtook the answer to the send; the attempt's own report takes its place. */
  early?: true;
  /** The upstream took a message that another attempt had already settled: the recipient may have it twice. */
  duplicate?: true;
};
