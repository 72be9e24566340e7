import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkout } from './helpers/embedded.ts';

/** Every file that people write. */
const files = globSync(['*', '.ci/*', '{bench,console/src,docs,migrations,scripts,src,test}/**'], {
  cwd: checkout,
  withFileTypes: true,
})
  .filter((entry) => entry.isFile())
  .map((entry) => path.relative(checkout, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
  .toSorted();
const source = files.filter((file) => file.startsWith('src/') && file.endsWith('.ts') && !file.endsWith('.test.ts'));
const code = files.filter((file) => /^(src|test|bench|scripts|console\/src)\/.*\.(ts|tsx|mjs)$/.test(file));

function read(file: string): string {
  return readFileSync(path.join(checkout, file), 'utf8');
}

/** A folder imports folders of lower ranks only. What lies directly in `src` puts the parts together and may import them all. */
const ranks: Record<string, number> = {
  lib: 0,
  db: 1,
  http: 1,
  simulator: 1,
  events: 2,
  ledger: 2,
  senders: 2,
  accounts: 3,
  providers: 3,
  webhooks: 3,
  messages: 4,
  dispatch: 5,
  receipts: 6,
  retention: 7,
  operator: 8,
  cli: 9,
};

/** Statements that other folders run inside their own transactions, or for the service's owner. All others stay at home. */
const sharedStatements: Record<string, string[]> = {
  'src/accounts/usage-queries.ts': ['messages', 'dispatch'],
  'src/dispatch/receipt-queries.ts': ['receipts'],
  'src/receipts/queries.ts': ['retention', '.'],
  'src/senders/queries.ts': ['.'],
};

/** They reach into every corner on the owner's behalf. */
const mayUseStatementsOfAll = new Set(['.', 'operator', 'retention']);

type Import = { from: string; to: string; typeOnly: boolean };

const imports: Import[] = source.flatMap((from) =>
  [...read(from).matchAll(/^(?:import|export) (type )?[^;]*?from '(\.[^']+)'/gm)].map(([, type, target]) => ({
    from,
    to: path.posix.normalize(path.posix.join(path.posix.dirname(from), target ?? '')),
    typeOnly: type !== undefined,
  })),
);

/** `dispatch` of `src/dispatch/send.ts`; `.` of what lies directly in `src`. */
function folderOf(file: string): string {
  const [, folder = '', ...rest] = file.split('/');
  return rest.length === 0 ? '.' : folder;
}

describe('the source', () => {
  it('is found', () => {
    expect(source.length).toBeGreaterThan(100);
    expect(imports.length).toBeGreaterThan(300);
  });

  it('has no folder without a rank', () => {
    const folders = new Set(source.map(folderOf).filter((folder) => folder !== '.'));
    expect([...folders].toSorted()).toEqual(Object.keys(ranks).toSorted());
  });

  it('imports one way: from a folder only what has a lower rank', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [importer, imported] = [folderOf(from), folderOf(to)];
      // The command line starts the service; the version is everyone's.
      if (importer === '.' || importer === imported || to === 'src/version.ts' || to === 'package.json') return false;
      if (importer === 'cli' && to === 'src/main.ts') return false;
      return imported === '.' || (ranks[imported] ?? 0) >= (ranks[importer] ?? 0);
    });
    expect(wrong).toEqual([]);
  });

  it('keeps the simulated outside world outside: only quickstart knows it', () => {
    const knowers = imports.filter(({ from, to }) => folderOf(to) === 'simulator' && folderOf(from) !== 'simulator');
    expect([...new Set(knowers.map(({ from }) => from))]).toEqual(['src/quickstart.ts']);
  });

  it('keeps its statements private: another folder may know their types, and run those that are shared on purpose', () => {
    const wrong = imports.filter(({ from, to, typeOnly }) => {
      const [importer, home] = [folderOf(from), folderOf(to)];
      if (!to.endsWith('queries.ts') || importer === home || typeOnly) return false;
      if (sharedStatements[to]?.includes(importer)) return false;
      // A plain `queries.ts` is nobody else's; `…-queries.ts` says what it is about.
      return path.posix.basename(to) === 'queries.ts' || !mayUseStatementsOfAll.has(importer);
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ['the environment, which is read once', /\bprocess\.env\b/, /^src\/(config|main)\.ts$|^src\/cli\//],
    ['the clock, which is passed in', /\bDate\.now\(|\bnew Date\(\)/, /^src\/lib\/clock\.ts$/],
    ['chance that cannot be trusted', /\bMath\.random\b/, /^$/],
    ['the console, where there is a log', /\bconsole\./, /^src\/cli\//],
    ['work left undone', /\b(TODO|FIXME|HACK)\b/, /^$/],
    ['types that are not checked', /@ts-(ignore|expect-error|nocheck)/, /^$/],
  ])('has no %s', (_what, banned, allowed) => {
    expect(source.filter((file) => !allowed.test(file) && banned.test(read(file)))).toEqual([]);
  });

  it('is named in kebab-case, after what it is about', () => {
    const misnamed = source.filter((file) => {
      const parts = file.slice('src/'.length, -'.ts'.length).split('/');
      return parts.some(
        (part) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(part) || /^(utils?|helpers?|managers?|common)$/.test(part),
      );
    });
    expect(misnamed).toEqual([]);
  });
});

describe('the code', () => {
  it('has no file of more than 300 lines', () => {
    expect(code.filter((file) => read(file).trimEnd().split('\n').length > 300)).toEqual([]);
  });

  it('has no test that is switched off or runs alone', () => {
    const switches = /\b(it|test|describe)\.(only|skip|todo)\b/;
    expect(
      code.filter((file) => file.endsWith('.test.ts') && switches.test(read(file)) && file !== 'test/tidy.test.ts'),
    ).toEqual([]);
  });
});

describe('everything', () => {
  const texts = files.filter((file) => !/\.(png|ico|woff2?|svg)$/.test(file) && file !== 'package-lock.json');

  it('refers only to pages that are here', () => {
    const missing = texts.flatMap((file) =>
      [...read(file).matchAll(/(?<![\w./-])((?:[\w-]+\/)*[\w-]+\.md)\b/g)]
        .map(([, page = '']) => page)
        .filter(
          (page) =>
            ![page, path.join(path.dirname(file), page)].some((place) => existsSync(path.join(checkout, place))),
        )
        .map((page) => `${file}: ${page}`),
    );
    expect(missing).toEqual([]);
  });

  it('names no folder of the machine it was written on', () => {
    const place = /(?<![\w.$}-])\/(?:home|root|work|Users)\/[\w-]/;
    expect(texts.filter((file) => place.test(read(file)))).toEqual([]);
  });
});
