import { Command } from 'commander';
import { version } from '../version.ts';
import { accountCommands } from './commands/account.ts';
import { keyCommands } from './commands/key.ts';
import { listenCommand } from './commands/listen.ts';
import { messageCommands } from './commands/message.ts';
import { redactCommand } from './commands/redact.ts';
import { sendCommand } from './commands/send.ts';
import { senderCommands } from './commands/sender.ts';
import { serviceCommands } from './commands/service.ts';
import { suppressionCommands } from './commands/suppression.ts';
import { upkeepCommands } from './commands/upkeep.ts';
import { webhookCommands } from './commands/webhook.ts';
import { Session, type Shell } from './session.ts';
import type { GlobalOptions } from './target.ts';

const help = `
In a checkout of Heliograph it is called as "npx heliograph".

Environment: HELIOGRAPH_URL, HELIOGRAPH_TOKEN and HELIOGRAPH_KEY stand for --url, --token and --key. What neither gives is taken from
quickstart.json in DATA_DIR (default: data), which "npm start" writes.

Exit codes: 0 done, 1 failed, 2 called wrongly.

A first message, from nothing:
  $ heliograph account create --name "Ana Silva" --email ana@example.com
  $ heliograph topup acc_01k… 20
  $ heliograph key create acc_01k… --name first
  $ heliograph sender create HELIO --key ds_live_…
  $ heliograph sender approve snd_01k…
  $ heliograph send +14155550123 "Hello" --from HELIO --key ds_live_…
  $ heliograph message show msg_01k…`;

/** Every command, in one list. Parsing throws a `CommanderError` instead of ending the process. */
export function createProgram(shell: Shell): Command {
  const program = new Command('heliograph')
    .description('Runs and looks after a Heliograph messaging service.')
    .version(version)
    .option('--url <url>', 'address of the service')
    .option('--token <token>', "the operator's token")
    .option('--key <key>', 'an API key, for what an account does itself')
    .option('--json', 'print JSON, for scripts')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(add --help for how it is called)')
    .addHelpText('after', help)
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => shell.stderr.write(text),
    })
    .exitOverride();
  const open = (): Session => new Session(shell, program.opts<GlobalOptions>());
  serviceCommands(program, open);
  sendCommand(program, open);
  listenCommand(program, open);
  accountCommands(program, open);
  keyCommands(program, open);
  senderCommands(program, open);
  messageCommands(program, open);
  webhookCommands(program, open);
  suppressionCommands(program, open);
  redactCommand(program, open);
  upkeepCommands(program, open);
  return program;
}
