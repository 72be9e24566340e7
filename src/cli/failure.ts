/** What a command ends with: 1 it failed, 2 it was called wrongly. */
export type ExitCode = 1 | 2;

/** The end of a command that did not do what it was asked, told to whoever typed it. */
export class Failure extends Error {
  override name = 'Failure';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A command that was called wrongly; says how to call it. */
export function misuse(message: string): Failure {
  return new Failure(message, 2);
}
