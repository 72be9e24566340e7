import process from 'node:process';

/** What the environment tells the CLI. Everything else of the program reads it in src/config.ts. */
export type CliEnvironment = {
  url: string | undefined;
  token: string | undefined;
  key: string | undefined;
  dataDir: string;
  databaseUrl: string | undefined;
};

function read(name: string): string | undefined {
  const value = process.env[name]?.trim();
  return value === '' ? undefined : value;
}

/** Reads the environment once. */
export function readEnvironment(): CliEnvironment {
  return {
    url: read('HELIOGRAPH_URL'),
    token: read('HELIOGRAPH_TOKEN'),
    key: read('HELIOGRAPH_KEY'),
    dataDir: read('DATA_DIR') ?? 'data',
    databaseUrl: read('DATABASE_URL'),
  };
}
