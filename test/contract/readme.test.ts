import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const folder = import.meta.dirname;

/** `[errors](errors.test.ts) › the status › 400 means an invalid request`: a file, and the names that lead to a test in it. */
type Reference = { file: string; names: string[] };
type Row = { fact: string; references: Reference[] };

const readme = await readFile(path.join(folder, 'README.md'), 'utf8');
const rows = readme
  .slice(readme.indexOf('\n## '))
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Fact |'))
  .map(readRow);

function readRow(line: string): Row {
  const [, fact = '', tests = ''] = line.split('|').map((cell) => cell.trim());
  return { fact, references: tests === '' ? [] : tests.split('<br>').map(readReference) };
}

function readReference(text: string): Reference {
  const [link = '', ...names] = text.split(' › ');
  const file = /^\[[^\]]+\]\(([^)]+)\)$/.exec(link)?.[1];
  if (file === undefined || names.length === 0) throw new Error(`this does not name a test: ${text}`);
  return { file, names };
}

/** What is in quotes as the first argument of a call, in the order of the file. */
function titlesOf(source: string): string[] {
  return [...source.matchAll(/\(\s*(['"])((?:\\.|(?!\1).)*)\1\s*,/g)].map(([, , title = '']) => unescaped(title));
}

function testsOf(source: string): string[] {
  const calls = source.matchAll(/(?:\b(?:test|onMagic|onPenniless)|\n *\]\))\(\s*(['"])((?:\\.|(?!\1).)*)\1\s*,/g);
  return [...calls].map(([, , title = '']) => unescaped(title));
}

function unescaped(title: string): string {
  return title.replace(/\\(.)/g, '$1');
}

describe('the table of facts', () => {
  test('has a test for every fact', () => {
    expect(rows.length).toBeGreaterThan(200);
    expect(rows.filter(({ fact, references }) => fact === '' || references.length === 0)).toEqual([]);
  });

  test('names only tests that there are', async () => {
    const missing: string[] = [];
    for (const { file, names } of rows.flatMap(({ references }) => references)) {
      const titles = titlesOf(await readFile(path.join(folder, file), 'utf8').catch(() => ''));
      let place = -1;
      const found = names.every((name) => {
        place = titles.indexOf(name, place + 1);
        return place !== -1;
      });
      if (!found) missing.push([file, ...names].join(' › '));
    }
    expect(missing).toEqual([]);
  });

  test('leaves out no test of this folder', async () => {
    const files = (await readdir(folder)).filter((file) => file.endsWith('.test.ts') && file !== 'readme.test.ts');
    const named = new Set(
      rows.flatMap(({ references }) => references.map(({ file, names }) => [file, ...names].join(' › '))),
    );
    for (const file of files) {
      const tests = testsOf(await readFile(path.join(folder, file), 'utf8'));
      expect(tests.length, file).toBeGreaterThan(0);
      for (const title of new Set(tests)) {
        const times = tests.filter((each) => each === title).length;
        const rowsOfIt = [...named].filter((name) => name.startsWith(`${file} › `) && name.endsWith(` › ${title}`));
        expect(rowsOfIt.length, `${file} › ${title}`).toBe(times);
      }
    }
  });
});
