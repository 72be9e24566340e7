import { formatTime } from '../lib/clock.ts';
import { jsonAnswer } from './answer.ts';
import type { CallbackUrls } from './callback-urls.ts';
import type { FaultBoard, Faults } from './faults.ts';
import { type Fields, isBoolean, isHttpUrl, isWholeNumber, optionalString, parseFields } from './fields.ts';
import type { Journal, NumberedEntry } from './journal.ts';
import type { WireResponse } from './upstream.ts';

const LIST_LIMIT_DEFAULT = 100;
const LIST_LIMIT_MAX = 100_000;
const LATENCY_MS_MAX = 60_000;

const PROVIDERS_PATH = '/control/providers';

export type Control = {
  handle(request: { method: string; path: string; query: URLSearchParams; body: string }): WireResponse;
};

/** The simulator's own API, for tests, demos and benchmarks. */
export function createControl(options: {
  providers: readonly string[];
  journal: Journal;
  faults: FaultBoard;
  callbackUrls: CallbackUrls;
  reset: () => void;
}): Control {
  const { providers, journal, faults, callbackUrls, reset } = options;

  const describe = (id: string) => ({
    id,
    ...faults.get(id),
    ...(callbackUrls.has(id) && { callbackUrl: callbackUrls.get(id) ?? null }),
  });

  function change(id: string, body: string): WireResponse {
    if (!providers.includes(id)) return problem(404, `There is no provider ${id}; there are ${providers.join(', ')}.`);
    const settings = parseFields(body);
    if (settings === undefined) return problem(400, 'The body must be a JSON object.');
    const wrong = settingsProblem(
      settings,
      callbackUrls.has(id) ? { ...faultRules, callbackUrl: callbackUrlRule } : faultRules,
    );
    if (wrong !== undefined) return problem(400, wrong);

    const { callbackUrl, ...changedFaults } = settings;
    faults.set(id, changedFaults);
    if (callbackUrl !== undefined) callbackUrls.set(id, optionalString(callbackUrl));
    return jsonAnswer(200, describe(id));
  }

  return {
    handle({ method, path, query, body }) {
      if (method === 'GET' && path === '/control/messages') return listMessages(journal, query);
      if (method === 'GET' && path === PROVIDERS_PATH) return jsonAnswer(200, { providers: providers.map(describe) });
      if (method === 'POST' && path.startsWith(`${PROVIDERS_PATH}/`)) {
        return change(path.slice(PROVIDERS_PATH.length + 1), body);
      }
      if (method === 'POST' && path === '/control/reset') {
        reset();
        return jsonAnswer(200, { reset: true });
      }
      return problem(404, `There is no ${method} ${path}.`);
    },
  };
}

function listMessages(journal: Journal, query: URLSearchParams): WireResponse {
  const limit = Number(query.get('limit') ?? LIST_LIMIT_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_LIMIT_MAX) {
    return problem(400, `limit must be a whole number from 1 to ${LIST_LIMIT_MAX}.`);
  }
  // An unescaped `+` of a query is a space.
  const to = query.get('to')?.replace(/^ /, '+');
  const { entries, total } = journal.list({ to, limit });
  return jsonAnswer(200, { messages: entries.map(describeEntry), total });
}

function describeEntry({ sequence, entry }: NumberedEntry): object {
  const { provider, receivedAt, to, submission, outcome, message, request } = entry;
  return {
    sequence,
    provider,
    receivedAt: formatTime(receivedAt),
    to: to ?? null,
    from: submission?.from ?? null,
    text: submission?.text ?? null,
    reference: submission?.reference ?? null,
    callbackUrl: submission?.callbackUrl ?? null,
    outcome,
    providerMessageId: message?.id ?? null,
    receipts: (message?.receipts ?? []).map(({ at, ...receipt }) => ({ ...receipt, at: formatTime(at) })),
    request: request ?? null,
  };
}

type SettingRule = { holds: (value: unknown) => boolean; must: string };

const faultRules: Readonly<Record<keyof Faults, SettingRule>> = {
  outage: { holds: isBoolean, must: 'be true or false' },
  latencyMs: { holds: isWholeNumber(0, LATENCY_MS_MAX), must: `be a whole number from 0 to ${LATENCY_MS_MAX}` },
  errorRate: { holds: (value) => isBetween(value, 0, 1), must: 'be a number from 0 to 1' },
};

const callbackUrlRule: SettingRule = {
  holds: (value) => value === null || isHttpUrl(value),
  must: 'be an HTTP URL, or null for none',
};

/** What is wrong with the settings asked for. What is left out stays as it is. */
function settingsProblem(settings: Fields, rules: Readonly<Record<string, SettingRule>>): string | undefined {
  for (const [name, value] of Object.entries(settings)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) return `There is no setting ${name}; there are ${Object.keys(rules).join(', ')}.`;
    if (!rule.holds(value)) return `${name} must ${rule.must}.`;
  }
  return undefined;
}

function isBetween(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}

function problem(status: number, error: string): WireResponse {
  return jsonAnswer(status, { error });
}
