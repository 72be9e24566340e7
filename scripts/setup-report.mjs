/** A failure whose message tells what to do; anything else that is thrown is a fault of the set-up itself. */
export class SetupError extends Error {}

export function print(line) {
  console.log(`set-up: ${line}`);
}
