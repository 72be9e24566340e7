import type { Command } from 'commander';
import { withExamples } from '../examples.ts';
import { Failure, misuse } from '../failure.ts';
import type { OpenSession } from '../session.ts';

/** `serve` and `migrate`: the service itself, configured by the environment as with `npm start`. */
export function serviceCommands(program: Command, open: OpenSession): void {
  withExamples(program.command('serve').description('run the service in this process, as "npm start" does'), [
    'serve',
    'serve    # with PORT, DATA_DIR, DATABASE_URL, HELIOGRAPH_CONFIG … in the environment',
  ]).action(async () => {
    await import('../../main.ts');
  });

  withExamples(program.command('migrate').description('bring the database of DATABASE_URL to the newest schema'), [
    'migrate    # with DATABASE_URL=postgres://… in the environment',
  ])
    .addHelpText('after', '\nThe service does this by itself when it starts; the embedded database needs nothing else.')
    .action(async () => {
      const { output, shell } = open();
      const { databaseUrl } = shell.environment;
      if (databaseUrl === undefined) {
        throw misuse('DATABASE_URL is not set. The embedded database is migrated when the service starts.');
      }
      const { migrate } = await import('../../db/migrate.ts');
      const applied = await migrate(databaseUrl).catch((error: Error) => {
        throw new Failure(`The database could not be migrated: ${error.message}`);
      });
      output.result({ applied }, () =>
        applied.length === 0 ? 'The database was up to date.' : `Applied ${applied.join(', ')}.`,
      );
    });
}
