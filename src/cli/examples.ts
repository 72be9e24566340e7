import type { Command } from 'commander';

/** Puts examples under the help of a command, without the program's name before each. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ heliograph ${example}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
