import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // What is waited for on a busy machine may take longer than the one second that is usual.
    expect: { poll: { timeout: 10_000 } },
    // Two cores: each worker holds a server, a simulator and a pool of its own.
    maxWorkers: 2,
    // Each starts what its tests share, and only when one of them is run.
    projects: [
      {
        extends: true,
        test: {
          name: 'program',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'test/contract/**'],
          globalSetup: ['test/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'contract', include: ['test/contract/**/*.test.ts'], globalSetup: ['test/contract/target.ts'] },
      },
    ],
  },
});
