import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { CliEnvironment } from './environment.ts';
import { Failure, misuse } from './failure.ts';

/** What every command takes. */
export type GlobalOptions = { url?: string; token?: string; key?: string; json?: boolean };

/** The service a command talks to, and what it shows there. */
export type Target = {
  /** Without a path. */
  url: string;
  token: string | undefined;
  key: string | undefined;
  /** The quickstart's approved sender. */
  sender: string | undefined;
};

const defaultUrl = 'http://127.0.0.1:8080';

type Quickstart = { base_url: string; api_key: string; operator_token: string; sender: string };

/**
 * Options win over the environment, and that over what the quickstart keeps in the data folder. The quickstart's token and key go to the
 * quickstart's own address only.
 */
export function resolveTarget(options: GlobalOptions, environment: CliEnvironment): Target {
  const quickstart = readQuickstart(path.join(environment.dataDir, 'quickstart.json'));
  const quickstartUrl = quickstart === undefined ? undefined : originOf(quickstart.base_url);
  const asked = options.url ?? environment.url;
  const url = asked === undefined ? (quickstartUrl ?? defaultUrl) : readUrl(asked);
  const own = url === quickstartUrl ? quickstart : undefined;
  return {
    url,
    token: options.token ?? environment.token ?? own?.operator_token,
    key: options.key ?? environment.key ?? own?.api_key,
    sender: own?.sender,
  };
}

/** One spelling of this machine's own address. */
function originOf(url: string): string {
  return new URL(url).origin.replace('//localhost', '//127.0.0.1');
}

function readUrl(text: string): string {
  const isUrl = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isUrl) throw misuse(`"${text}" is not the address of a service. Give one such as ${defaultUrl}.`);
  return originOf(text);
}

function readQuickstart(file: string): Quickstart | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as Quickstart;
  } catch {
    throw new Failure(`${file} is not what a quickstart writes. Delete it and start the quickstart again.`);
  }
}
